"""One torch op of the text report: what its code writes against what it declares."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.report.accesses import where
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.style import DIM, MUTATION, PLACE, STRONG, Lines, clean, counted, flow, titled, words
from triton_mutlint.types import HostEffect, Mutation, OpMutation, OpReport

_STYLES = {
    OpMutation.WRITTEN: MUTATION[Mutation.WRITTEN],
    OpMutation.MAYBE: MUTATION[Mutation.UNKNOWN],
    OpMutation.UNKNOWN: MUTATION[Mutation.UNKNOWN],
}
_SHOWN = 3  # effects of one argument, and things that were not understood


def op_lines(op: OpReport, options: RenderOptions) -> Lines:
    """The op's headline, its declaration, and the places that the verdict rests on."""
    title = Text.assemble((f"{clean(op.location.file)}:{op.location.line}", PLACE), " ", ("op ", DIM),
                          (clean(op.name), STRONG))
    lines = [*titled(title, op_words(op), options.width), *flow(_declared(op), options.width, Text("  "), 2)]
    for argument in op.arguments:
        declared = op.declaration.names is not None and argument.name in op.declaration.names
        if argument.effects and (options.verbose or not declared):
            lines.append(Text.assemble("  ", (clean(argument.name), _STYLES[argument.mutation])))
            lines += _effects(argument.effects, options)
    shown = {effect for argument in op.arguments for effect in argument.effects}
    gaps = tuple(gap for gap in op.gaps if gap not in shown)
    if gaps:
        lines.append(Text("  not understood", MUTATION[Mutation.UNKNOWN]))
        lines += _effects(gaps, options)
    return lines


def op_words(op: OpReport, limit: int = 0) -> list[Text]:
    """The arguments that the op writes; no more than `limit` of each kind by name, if that is given."""
    clauses = (
        ("writes", "writes", OpMutation.WRITTEN),
        ("may write", "· may write", OpMutation.MAYBE),
        ("is not understood for", "· is not understood for", OpMutation.UNKNOWN),
    )
    pieces: list[Text] = []
    for alone, after, mutation in clauses:
        names = [a.name for a in op.arguments if a.mutation is mutation]
        if names:
            pieces += [*words(after if pieces else alone), *counted(names, _STYLES[mutation], limit)]
    return pieces or words("writes nothing" if op.complete else "is not understood")


def _declared(op: OpReport) -> list[Text]:
    declaration = op.declaration
    if declaration.any_may:
        text = "declares that it may write anything"
    elif declaration.names is None:
        text = f"declares what is not known ({declaration.reason})" if declaration.reason else "declares nothing known"
    elif declaration.names:
        text = f"declares {', '.join(declaration.names)}"
    else:
        text = "declares nothing"
    facts = [op.form, text]
    if op.kernels:
        facts.append(f"launches {', '.join(op.kernels)}")
    return words(" · ".join(clean(fact) for fact in facts), DIM)


def _effects(effects: tuple[HostEffect, ...], options: RenderOptions) -> Lines:
    shown = effects if options.verbose else effects[:_SHOWN]
    lines: Lines = []
    for effect in shown:
        lines += flow(words(clean(effect.text)), options.width,
                      Text.assemble("    ", (where(effect.location), PLACE), "  "), 6)
        lines += [
            Text(f"      called in {clean(frame.function)}, {clean(frame.file)}:{frame.line}", DIM)
            for frame in reversed(effect.path)
        ]
        if effect.access is not None:
            place = where(effect.access.location)
            lines.append(Text.assemble("      ", (f"{effect.access.op} at ", DIM), (place, PLACE)))
    if len(shown) < len(effects):
        lines.append(Text(f"    and {len(effects) - len(shown)} more (--verbose)", DIM))
    return lines
