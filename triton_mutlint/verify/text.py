"""What `verify` found, for people: the look of the report of `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

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
from triton_mutlint.verify.model import Agreement, KernelOutcome, Outcome, ParameterOutcome, VerifyReport
from triton_mutlint.verify.ops.text import op_lines, summary_text
from triton_mutlint.verify.wire import STRAY

_PREDICTED = {Mutation.WRITTEN: "written", Mutation.UNWRITTEN: "not written", Mutation.UNKNOWN: "unknown"}
_DEVICES = {"cpu": "interpreter", "cuda": "GPU"}


def render(report: VerifyReport, options: RenderOptions) -> str:
    """The report as text of `options.width` cells; ends with a newline."""
    return paint(_blocks(report, options), options)


def _blocks(report: VerifyReport, options: RenderOptions) -> Iterator[Lines]:
    for kernel in report.kernels:
        if not options.quiet or kernel.outcome is Outcome.FAILED:
            yield _kernel(kernel, options)
    for op in report.ops:
        if not options.quiet or op.outcome is Outcome.FAILED:
            yield op_lines(op, options)
    for argument, failure in report.failures:
        yield [Text(clean(argument), PLACE), *failure_lines(failure, options)]
    if report.kernels or not report.ops:
        yield flow(_sentence(report), options.width)
    if report.ops:
        yield flow(flowing(summary_text(report.ops)), options.width)


def _sentence(report: VerifyReport) -> list[Text]:
    outcomes = Counter(kernel.outcome for kernel in report.kernels)
    agreements = Counter(p.agreement for kernel in report.kernels for p in kernel.parameters)
    parts = [f"{plural(len(report.kernels), 'kernel')}: {outcomes[Outcome.RAN] + outcomes[Outcome.FAILED]} ran"]
    parts += [f"{outcomes[o]} {o.value}" for o in (Outcome.NOT_RUN, Outcome.NO_VERDICT) if outcomes[o]]
    seen = agreements[Agreement.CONFIRMED]
    text = f"{', '.join(parts)} · {plural(seen, 'write')} confirmed, {agreements[Agreement.UNCONFIRMED]} unconfirmed"
    pieces = [Text(word) for word in text.split(" ")]
    missed = sum(kernel.outcome is Outcome.FAILED for kernel in report.kernels)
    if missed:
        pieces += flowing(f"· {plural(missed, 'soundness failure')}", FAILED)
    return pieces


def _kernel(kernel: KernelOutcome, options: RenderOptions) -> Lines:
    place = f"{clean(kernel.location.file)}:{kernel.location.line}"
    lines = titled(Text.assemble((place, PLACE), " ", (clean(kernel.name), STRONG)), _headline(kernel), options.width)
    if kernel.outcome is Outcome.NO_VERDICT and kernel.failure is not None:
        return lines + failure_lines(kernel.failure, options)
    lines += _circumstances(kernel, options.width)
    rows = [p for p in kernel.parameters if options.verbose or p.agreement is not Agreement.UNTOUCHED]
    untouched = [p.title for p in kernel.parameters if p not in rows]
    if kernel.parameters:
        lines += [Text(), *aligned([_row(row, kernel) for row in rows], options.width)]
    if untouched:
        first = Text.assemble("  ", ("not written, and not seen: ", DIM))
        lines += flow(joined(untouched, DIM), options.width, first, 4)
    return lines + [line for note in _notes(kernel) for line in noted("note", note, options.width, 2)]


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


def _circumstances(kernel: KernelOutcome, width: int) -> Lines:
    if kernel.refused and not kernel.compared:
        return flow(flowing(kernel.refused), width, Text("  "), 2)
    runs = f"{kernel.compared} of {plural(kernel.runs, 'run')}"
    lines = [Text.assemble("  ", (f"{_DEVICES[kernel.device]} · {runs}", DIM))]
    for _, message, count in kernel.problems:
        lines += flow(flowing(f"{plural(count, 'run')}: {message}"), width, Text("  "), 4)
    return lines


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
