"""What `verify` found, for people: the look of the report of `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.kernel_text import failure_lines
from triton_mutlint.report.terminal.style import (
    DIM,
    FAILED,
    MUTATION,
    PLACE,
    STRONG,
    Lines,
    aligned,
    clean,
    flow,
    joined,
    noted,
    titled,
)
from triton_mutlint.report.terminal.style import words as flowing
from triton_mutlint.report.terminal.text import paint
from triton_mutlint.types import Mutation
from triton_mutlint.verify.model import Agreement, KernelOutcome, OpOutcome, Outcome, ParameterOutcome, VerifyReport
from triton_mutlint.verify.ops import text as ops_text
from triton_mutlint.verify.wire import STRAY

_PREDICTED = {Mutation.WRITTEN: "written", Mutation.UNWRITTEN: "not written", Mutation.UNKNOWN: "unknown"}
_DEVICES = {"cpu": "interpreter", "cuda": "GPU"}


def render(report: VerifyReport, options: RenderOptions) -> str:
    """The report as text of `options.width` cells; ends with a newline."""
    return paint(_blocks(report, options), options)


def _blocks(report: VerifyReport, options: RenderOptions) -> Iterator[Lines]:
    for one in report.outcomes:
        if not options.quiet or one.outcome is Outcome.FAILED:
            yield _block(one, options)
    for argument, failure in report.failures:
        yield [Text(clean(argument), PLACE), *failure_lines(failure, options)]
    if report.kernels or not report.ops:
        missed = sum(kernel.outcome is Outcome.FAILED for kernel in report.kernels)
        told = flowing(f"· {plural(missed, 'soundness failure')}", FAILED) if missed else []
        agreements = Counter(p.agreement for kernel in report.kernels for p in kernel.parameters)
        yield flow([*flowing(_sentence("kernel", report.kernels, agreements)), *told], options.width)
    if report.ops:
        failed, rules = sum(op.outcome is Outcome.FAILED for op in report.ops), ops_text.disagreements(report.ops)
        agreements = Counter(a.agreement for op in report.ops for a in op.arguments)
        told = flowing(f"· {failed} with disagreements: {rules}" if rules else "")
        yield flow([*flowing(_sentence("op", report.ops, agreements)), *told], options.width)


def _sentence(noun: str, ones: Sequence[KernelOutcome | OpOutcome], agreements: Mapping[Agreement, int]) -> str:
    outcomes = Counter(one.outcome for one in ones)
    parts = [f"{plural(len(ones), noun)}: {outcomes[Outcome.RAN] + outcomes[Outcome.FAILED]} ran"]
    parts += [f"{outcomes[o]} {o.value}" for o in (Outcome.NOT_RUN, Outcome.NO_VERDICT) if outcomes[o]]
    seen = plural(agreements[Agreement.CONFIRMED], "write")
    return f"{', '.join(parts)} · {seen} confirmed, {agreements[Agreement.UNCONFIRMED]} unconfirmed"


def _block(one: KernelOutcome | OpOutcome, options: RenderOptions) -> Lines:
    """The report on one kernel, op or model."""
    is_kernel, width = isinstance(one, KernelOutcome), options.width
    place = f"{clean(one.location.file)}:{one.location.line}"
    headline = _headline(one) if isinstance(one, KernelOutcome) else ops_text.headline(one)
    lines = titled(Text.assemble((place, PLACE), " ", (clean(one.name), STRONG)), headline, width)
    if isinstance(one, KernelOutcome) and one.outcome is Outcome.NO_VERDICT and one.failure is not None:
        return lines + failure_lines(one.failure, options)
    if one.refused and not one.compared:
        return lines + flow(flowing(one.refused), width, Text("  "), 2)
    if isinstance(one, KernelOutcome) or not one.is_model:
        runs = f"{one.compared} of {plural(one.runs, 'run')}"
        lines.append(Text.assemble("  ", (f"{_DEVICES[one.device]} · {runs}", DIM)))
    for _, message, count in one.problems if is_kernel else one.problems[:3]:
        lines += flow(flowing(f"{plural(count, 'run')}: {message}"), width, Text("  "), 4)
    if isinstance(one, KernelOutcome):
        shown = [p for p in one.parameters if options.verbose or p.agreement is not Agreement.UNTOUCHED]
        lines += [Text(), *aligned([_row(row, one) for row in shown], width)] if one.parameters else []
        if untouched := [p.title for p in one.parameters if p not in shown]:
            first = Text.assemble("  ", ("not written, and not seen: ", DIM))
            lines += flow(joined(untouched, DIM), width, first, 4)
    else:
        rows = ops_text.rows(one, options)
        lines += [Text(), *aligned(rows, width)] if rows else []
        for name, text in ops_text.paths(one):
            lines += flow(flowing(text), width, Text.assemble("  ", (f"{name}: ", STRONG)), 4)
    notes = _notes(one) if isinstance(one, KernelOutcome) else ops_text.notes(one)
    return lines + [line for note in notes for line in noted("note", note, width, 2)]


def _headline(kernel: KernelOutcome) -> list[Text]:
    if kernel.outcome is Outcome.FAILED:
        missed = [p for p in kernel.parameters if p.agreement is Agreement.MISSED]
        direct = dict.fromkeys((*(p.name for p in missed if not p.through), *kernel.leaked))
        places = [", ".join(direct), *(f"through addresses from {p.name}" for p in missed if p.through)]
        return flowing(f"SOUNDNESS FAILURE: writes {' and '.join(filter(None, places))}, which was not predicted",
                       FAILED)
    if kernel.outcome is Outcome.NO_VERDICT:
        return flowing("could not be analysed", FAILED)
    if kernel.outcome is Outcome.NOT_RUN:
        return flowing("was not run", MUTATION[Mutation.UNKNOWN])
    if kernel.unconfirmed:
        return [*flowing("as predicted; never seen written:"), *joined(kernel.unconfirmed, MUTATION[Mutation.UNKNOWN])]
    return flowing("as predicted")


def _row(row: ParameterOutcome, kernel: KernelOutcome) -> tuple[list[tuple[str, str]], list[Text]]:
    """Name, type, predicted, observed."""
    style = FAILED if row.agreement is Agreement.MISSED else MUTATION[row.predicted]
    return ([(clean(row.title), STRONG), (row.type, DIM), (_predicted(row), style)],
            flowing(_observed(row, kernel), style if row.seen else ""))


def _predicted(row: ParameterOutcome) -> str:
    if row.through:
        return "written through" if row.predicted is Mutation.WRITTEN else "not written through"
    if row.predicted is Mutation.CONDITIONAL:
        return "sometimes written"
    return _PREDICTED[row.predicted]


def _observed(row: ParameterOutcome, kernel: KernelOutcome) -> str:
    if not row.seen:
        return "never seen" if row.agreement is Agreement.UNCONFIRMED else "not seen"
    text = f"seen in {row.seen} of {plural(kernel.compared, 'run')}"
    return f"{text}, first with {row.first}" if row.agreement is Agreement.MISSED else text


def _notes(kernel: KernelOutcome) -> Iterator[str]:
    for name, count in kernel.outside:
        if name == STRAY:
            yield f"{plural(count, 'write')} to addresses of no tensor"
        else:
            yield f"{plural(count, 'write')} out of bounds, next to {name}: not counted as a write of it"
    if kernel.read_outside:
        yield f"{plural(kernel.read_outside, 'read')} out of bounds, which gave zeros"
    for apart in kernel.differences:
        yield (f"{apart.parameter} differs between a run in place and one on clones: by {apart.largest:g} at element "
               f"{apart.index}, {plural(apart.count, 'element')} in all")
    if kernel.leaked:
        yield f"passed only clones of what may be written, it changed {', '.join(kernel.leaked)} itself"
    if kernel.outcome is Outcome.FAILED:
        yield f"this is a defect of triton-mutlint: please report it, with {kernel.reproducer}"
