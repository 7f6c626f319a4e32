"""What `verify --ops` found, for people: the look of the report on kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.style import DIM, FAILED, PLACE, STRONG, Lines, aligned, clean, flow, noted, titled
from triton_mutlint.report.terminal.style import words as flowing
from triton_mutlint.types import OpMutation
from triton_mutlint.verify.model import Agreement, OpArgumentOutcome, OpOutcome, Outcome

_PREDICTED = {OpMutation.WRITTEN: "written", OpMutation.MAYBE: "written unless copied",
              OpMutation.UNWRITTEN: "not written", OpMutation.UNKNOWN: "unknown"}
_DECLARED = {True: "declared", False: "not declared", None: "declared?"}
_ENTRY = "give a call that it takes in the spec, under `ops:`, `{name}:`, `args:`"


def op_lines(op: OpOutcome, options: RenderOptions) -> Lines:
    """The report on one op."""
    place = f"{clean(op.location.file)}:{op.location.line}"
    lines = titled(Text.assemble((place, PLACE), " ", (clean(op.name), STRONG)), _headline(op), options.width)
    if op.refused and not op.compared:
        return lines + flow(flowing(op.refused), options.width, Text("  "), 2)
    where = "GPU" if op.device == "cuda" else "interpreter"
    if not op.is_model:
        lines.append(Text.assemble("  ", (f"{where} · {op.compared} of {plural(op.runs, 'run')}", DIM)))
    for _, message, count in op.problems[:3]:
        lines += flow(flowing(f"{plural(count, 'run')}: {message}"), options.width, Text("  "), 4)
    shown = [a for a in op.arguments if options.verbose or a.seen or a.declared or a.predicted is not
             OpMutation.UNWRITTEN]
    if shown:
        lines += [Text(), *aligned([_row(a, op) for a in shown], options.width)]
    for name, text in _paths(op):
        lines += flow(flowing(text), options.width, Text.assemble("  ", (f"{name}: ", STRONG)), 4)
    return lines + [line for note in _notes(op) for line in noted("note", note, options.width, 2)]


def summary_text(ops: tuple[OpOutcome, ...]) -> str:
    """What the ops came to, in a sentence."""
    outcomes = Counter(op.outcome for op in ops)
    agreements = Counter(a.agreement for op in ops for a in op.arguments)
    rules = Counter(d.rule or "other" for op in ops for d in op.disagreements)
    parts = [f"{plural(len(ops), 'op')}: {outcomes[Outcome.RAN] + outcomes[Outcome.FAILED]} ran"]
    parts += [f"{outcomes[Outcome.NOT_RUN]} not run"] if outcomes[Outcome.NOT_RUN] else []
    text = (f"{', '.join(parts)} · {plural(agreements[Agreement.CONFIRMED], 'write')} confirmed, "
            f"{agreements[Agreement.UNCONFIRMED]} unconfirmed")
    told = ", ".join(f"{count} {rule}" for rule, count in sorted(rules.items()))
    return text + (f" · {outcomes[Outcome.FAILED]} with disagreements: {told}" if told else "")


def call_text(given: Mapping[str, str] | None) -> str:
    """A call as its arguments."""
    return ", ".join(f"{name}={text}" for name, text in (given or {}).items())


def _headline(op: OpOutcome) -> list[Text]:
    if op.disagreements:
        told = "; ".join(f"{d.message}{f' ({d.rule})' if d.rule else ''}" for d in op.disagreements)
        return flowing(f"DISAGREES: {told}", FAILED)
    if op.is_model and op.outcome is Outcome.RAN:
        return flowing("every path that ran gives what eager gives")
    if op.outcome is Outcome.NOT_RUN:
        return flowing("was not run")
    if failing := {p.rule: p.message for p in op.paths if p.rule}:
        told = "; ".join(f"{message} ({rule})" for rule, message in failing.items())
        return flowing(f"as declared, but cannot be compiled: {told}", FAILED)
    unseen = [a.name for a in op.arguments if a.agreement is Agreement.UNCONFIRMED]
    held = "as predicted" if op.arguments and all(a.declared is None for a in op.arguments) else "as declared"
    return flowing(f"{held}; never seen written: {', '.join(unseen)}" if unseen else held)


def _row(a: OpArgumentOutcome, op: OpOutcome) -> tuple[list[tuple[str, str]], list[Text]]:
    """Name, what is predicted, what is declared, what was seen."""
    bad = a.seen and (a.declared is False or a.agreement is Agreement.MISSED)
    return ([(clean(a.name), STRONG), (_PREDICTED[a.predicted], ""), (_DECLARED[a.declared], DIM)],
            flowing(_observed(a, op), FAILED if bad else ""))


def _observed(a: OpArgumentOutcome, op: OpOutcome) -> str:
    if a.seen:
        same = ", with the values that it held" if a.is_same else ""
        first = f", first with {call_text(a.first)}" if a.declared is False or a.agreement is Agreement.MISSED else ""
        where = ", in `backward`" if a.in_backward else ""
        return f"seen in {a.seen} of {plural(op.compared, 'run')}{where}{same}{first}"
    if a.not_reached:
        return f"never seen in {plural(op.compared, 'run')}: none was seen to come to {', '.join(a.not_reached)}"
    return f"never seen in {plural(op.compared, 'run')}" if a.declared or a.agreement is Agreement.UNCONFIRMED else \
        "not seen"


def _paths(op: OpOutcome) -> Iterator[tuple[str, str]]:
    """The paths that gave the same together, then each of the others."""
    same = dict.fromkeys(p.name for p in op.paths if p.status == "ok")
    bad = [p for p in op.paths if p.status != "ok"]
    if good := [name for name in same if not any(p.name == name for p in bad)]:
        yield ", ".join(good), "as the op itself"
    told: dict[str, list[str]] = {}
    for p in bad:
        said = f"fails, as said above ({p.rule})" if p.rule else p.message
        text = "something else, as said above" if p.status == "differs" else said
        told.setdefault(text, []).append(p.name)
    for text, names in told.items():
        yield ", ".join(dict.fromkeys(names)), text


def _notes(op: OpOutcome) -> Iterator[str]:
    if op.runs and not op.compared:
        yield _ENTRY.format(name=op.name)
    for name, count in op.outside:
        yield f"{plural(count, 'byte')} beside {name} were overwritten"
    for d in op.disagreements:
        if d.help:
            yield d.help
    if op.reproducer:
        yield f"{op.reproducer} shows it again"
