"""One torch op of the text report: what its code writes against what it declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.style import (
    DIM,
    MUTATION,
    PLACE,
    STRONG,
    Lines,
    clauses,
    clean,
    flow,
    joined,
    prose,
    titled,
    where,
    words,
)
from triton_mutlint.types import HostEffect, Mutation, OpMutation, OpReport

_UNKNOWN = MUTATION[Mutation.UNKNOWN]
_STYLES = {OpMutation.WRITTEN: MUTATION[Mutation.WRITTEN], OpMutation.MAYBE: _UNKNOWN, OpMutation.UNKNOWN: _UNKNOWN}
_VERBS = {
    OpMutation.WRITTEN: "writes",
    OpMutation.MAYBE: "may write",
    OpMutation.UNKNOWN: "is not understood for",
}
_REASONS = 10  # in the summary of a run
_SHOWN = 3  # effects of one argument, and things that were not understood


def op_headline(op: OpReport, options: RenderOptions) -> Lines:
    """Where it is, and the arguments that it writes."""
    title = Text.assemble((f"{clean(op.location.file)}:{op.location.line}", PLACE), " ", ("op ", DIM),
                          (clean(op.name), STRONG))
    found = ((verb, verb if mutation is OpMutation.WRITTEN else f"· {verb}",
              [a.name for a in op.arguments if a.mutation is mutation], _STYLES[mutation])
             for mutation, verb in _VERBS.items())
    otherwise = "writes nothing" if op.complete else "is not understood"
    return titled(title, clauses(found) or words(otherwise), options.width)


def op_lines(op: OpReport, options: RenderOptions) -> Lines:
    """The op's headline, its declaration, and the places that the verdict rests on."""
    launched = f" · launches {', '.join(op.kernels)}" if op.kernels else ""
    lines = op_headline(op, options)
    lines += prose(f"{op.form} · {_declared(op)}{launched}", options.width, style=DIM)
    told = [argument for argument in op.arguments if argument.effects
            and (options.verbose or argument.name not in (op.declaration.names or ()))]
    alike: dict[tuple[OpMutation, tuple[HostEffect, ...]], list[str]] = {}
    for argument in told:
        alike.setdefault((argument.mutation, argument.effects), []).append(argument.name)
    for (mutation, effects), names in alike.items():
        lines += flow(joined(names, _STYLES[mutation]), options.width, Text("  "), 2)
        lines += _effects(effects, options)
    shown = {effect for argument in told for effect in argument.effects}
    gaps = tuple(gap for gap in op.gaps if gap not in shown)
    return [*lines, Text("  not understood", _UNKNOWN), *_effects(gaps, options)] if gaps else lines


def stopped(ops: Iterable[OpReport], options: RenderOptions) -> Lines:
    """What was not understood in the ops of a run: each reason with the number of ops, the most common first."""
    incomplete = [op for op in ops if not op.complete]
    reasons = Counter(reason for op in incomplete for reason in dict.fromkeys(gap.text for gap in op.gaps))
    shown = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    lines = prose(f"{plural(len(incomplete), 'op')} not completely understood:", options.width) if incomplete else []
    for reason, count in shown if options.verbose else shown[:_REASONS]:
        lines += prose(reason, options.width, Text(f"  {count:>4}  ", DIM), 8)
    left = 0 if options.verbose else len(shown[_REASONS:])
    return [*lines, Text(f"        and {left} other reasons (--verbose)", DIM)] if left else lines


def _declared(op: OpReport) -> str:
    declaration = op.declaration
    if declaration.any_may:
        return "declares that it may write anything"
    if declaration.names is None:
        return f"declares what is not known ({declaration.reason})" if declaration.reason else "declares nothing known"
    return f"declares {', '.join(declaration.names) or 'nothing'}"


def _effects(effects: tuple[HostEffect, ...], options: RenderOptions) -> Lines:
    shown = effects if options.verbose else effects[:_SHOWN]
    lines: Lines = []
    for effect in shown:
        lead = Text.assemble("    ", (where(effect.location), PLACE), "  ")
        lines += prose(effect.text, options.width, lead, 6)
        lines += [Text(f"      called in {clean(frame.function)}, {clean(frame.file)}:{frame.line}", DIM)
                  for frame in reversed(effect.path)]
        if effect.access is not None:
            place = where(effect.access.location)
            lines.append(Text.assemble("      ", (f"{effect.access.op} at ", DIM), (place, PLACE)))
    if len(shown) < len(effects):
        lines.append(Text(f"    and {len(effects) - len(shown)} more (--verbose)", DIM))
    return lines
