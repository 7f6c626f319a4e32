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
from triton_mutlint.types import Mutation, OpMutation
from triton_mutlint.verify.model import Agreement, Outcome, ParameterOutcome, Verified, VerifyReport, tally
from triton_mutlint.verify.wire import STRAY

_PREDICTED = {"written": "written", "unwritten": "not written", "unknown": "unknown", "maybe": "written unless copied",
              "conditional": "sometimes written"}
_DECLARED = {True: "declared", False: "not declared", None: ""}
_MOST = 4  # kinds of failed runs that are shown
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
    for what, listed in (("kernel", report.kernels), ("op", report.ops)):
        if listed:
            yield flow(_sentence(what, listed), options.width)
    if not report.outcomes:
        yield flow(flowing("nothing to run"), options.width)


def _sentence(what: str, listed: Sequence[Verified]) -> list[Text]:
    """What the kernels or ops came to."""
    counts = tally(listed)
    parts = [f"{plural(len(listed), what)}: {counts[Outcome.RAN] + counts[Outcome.FAILED]} ran"]
    parts += [f"{counts[o]} {o.value}" for o in (Outcome.NOT_RUN, Outcome.NO_VERDICT) if counts[o]]
    seen = plural(counts[Agreement.CONFIRMED], "write")
    pieces = flowing(f"{', '.join(parts)} · {seen} confirmed, {counts[Agreement.UNCONFIRMED]} unconfirmed")
    rules = Counter(d.rule or "other" for one in listed for d in one.disagreements)
    told = ", ".join(f"{count} {rule}" for rule, count in sorted(rules.items()))
    if failed := counts[Outcome.FAILED]:
        pieces += flowing(f"· {failed} with disagreements: {told}" if told else
                          f"· {plural(failed, 'soundness failure')}", FAILED)
    return pieces


def call_text(given: Mapping[str, str] | None) -> str:
    """A call as its arguments."""
    return ", ".join(f"{name}={text}" for name, text in (given or {}).items())


def _block(one: Verified, options: RenderOptions) -> Lines:
    place = f"{clean(one.location.file)}:{one.location.line}"
    lines = titled(Text.assemble((place, PLACE), " ", (clean(one.name), STRONG)), _headline(one), options.width)
    if one.failure is not None:
        return lines + failure_lines(one.failure, options)
    lines += _circumstances(one, options.width)
    rows = [p for p in one.parameters if options.verbose or p.agreement is not Agreement.UNTOUCHED or p.declared]
    untouched = [p.title for p in one.parameters if p not in rows]
    if one.parameters:
        lines += [Text(), *aligned([_row(row, one) for row in rows], options.width)]
    if untouched:
        first = Text.assemble("  ", ("not written, and not seen: ", DIM))
        lines += flow(joined(untouched, DIM), options.width, first, 4)
    for name, text in _paths(one):
        lines += flow(flowing(text), options.width, Text.assemble("  ", (f"{name}: ", STRONG)), 4)
    notes = _kernel_notes(one) if one.kind == "kernel" else _op_notes(one)
    return lines + [line for note in notes for line in noted("note", note, options.width, 2)]


def _headline(one: Verified) -> list[Text]:
    if one.outcome is Outcome.FAILED:
        return flowing(_failure(one), FAILED)
    if one.outcome is Outcome.NO_VERDICT:
        return flowing("could not be analysed", FAILED)
    if one.outcome is Outcome.NOT_RUN:
        return flowing("was not run", MUTATION[Mutation.UNKNOWN])
    if one.kind == "model":
        return flowing("every path that ran gives what eager gives")
    failing = {p.rule: p.message for p in one.paths if p.rule}
    if failing:
        told = "; ".join(f"{message} ({rule})" for rule, message in failing.items())
        return flowing(f"as declared, but cannot be compiled: {told}", FAILED)
    undeclared = one.parameters and all(p.declared is None for p in one.parameters)
    held = "as predicted" if one.kind == "kernel" or undeclared else "as declared"
    if one.unconfirmed:
        return [*flowing(f"{held}; never seen written:"), *joined(one.unconfirmed, MUTATION[Mutation.UNKNOWN])]
    return flowing(held)


def _failure(one: Verified) -> str:
    """What was seen that should not be."""
    if one.disagreements:
        told = "; ".join(f"{d.message}{f' ({d.rule})' if d.rule else ''}" for d in one.disagreements)
        return f"DISAGREES: {told}"
    missed = [p for p in one.parameters if p.agreement is Agreement.MISSED]
    direct = dict.fromkeys((*(p.name for p in missed if not p.through), *one.leaked))
    places = [", ".join(direct), *(f"through addresses from {p.name}" for p in missed if p.through)]
    return f"SOUNDNESS FAILURE: writes {' and '.join(filter(None, places))}, which was not predicted"


def _circumstances(one: Verified, width: int) -> Lines:
    if one.refused and not one.compared:
        return flow(flowing(one.refused), width, Text("  "), 2)
    runs = f"{one.compared} of {plural(one.runs, 'run')}"
    lines = [Text.assemble("  ", (f"{_DEVICES[one.device]} · {runs}", DIM))] if one.runs else []
    for _, message, count in one.problems[:_MOST]:
        lines += flow(flowing(f"{plural(count, 'run')}: {message}"), width, Text("  "), 4)
    return lines


def _row(row: ParameterOutcome, one: Verified) -> tuple[list[Text], list[Text]]:
    """Name, type or declaration, predicted, observed."""
    bad = row.agreement is Agreement.MISSED or (row.seen and row.declared is False)
    verdict = Mutation.WRITTEN if row.predicted is OpMutation.MAYBE else Mutation(row.predicted.value)
    style = FAILED if bad else MUTATION[verdict]
    predicted = f"{_PREDICTED[row.predicted.value]}{' through' if row.through else ''}"
    return ([Text(clean(row.title), STRONG), Text(row.type or _DECLARED[row.declared], DIM), Text(predicted, style)],
            flowing(_observed(row, one, bool(bad)), style if row.seen else ""))


def _observed(row: ParameterOutcome, one: Verified, bad: bool) -> str:
    if not row.seen:
        text = "never seen" if row.agreement is Agreement.UNCONFIRMED else "not seen"
        return f"{text}: no run was seen to come to {', '.join(row.not_reached)}" if row.not_reached else text
    text = f"seen in {row.seen} of {plural(one.compared, 'run')}{', in `backward`' if row.in_backward else ''}"
    text += ", with the values that it held" if row.is_same else ""
    first = call_text(row.first) if isinstance(row.first, Mapping) else row.first
    return f"{text}, first with {first}" if bad else text


def _kernel_notes(kernel: Verified) -> Iterator[str]:
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


def _paths(op: Verified) -> Iterator[tuple[str, str]]:
    """The paths that gave the same together, then each of the others."""
    same = dict.fromkeys(p.name for p in op.paths if p.status == "ok")
    bad = [p for p in op.paths if p.status != "ok"]
    if good := [name for name in same if not any(p.name == name for p in bad)]:
        yield ", ".join(good), "as the op itself"
    told: dict[str, list[str]] = {}
    for p in bad:
        said = f"fails ({p.rule}, above)" if p.rule else p.message
        text = "something else than the op itself" if p.status == "differs" else said
        told.setdefault(text, []).append(p.name)
    for text, names in told.items():
        yield ", ".join(dict.fromkeys(names)), text


def _op_notes(op: Verified) -> Iterator[str]:
    if op.runs and not op.compared:
        yield f"give a call that it takes in the spec, under `ops:`, `{op.name}:`, `args:`"
    for name, count in op.outside:
        yield f"{plural(count, 'byte')} beside {name} were overwritten"
    for d in op.disagreements:
        if d.help:
            yield d.help
    if op.reproducer:
        yield f"{op.reproducer} shows it again"
