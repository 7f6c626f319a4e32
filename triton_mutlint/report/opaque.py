"""Inline asm, extern calls, undecided ops and writes through addresses that are data."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.report import order
from triton_mutlint.report.accesses import indented, place_lines
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.snippet import quote
from triton_mutlint.report.style import DIM, MUTATION, Lines, clean, flow, joined, words
from triton_mutlint.types import IndirectWrite, KernelReport, Mutation, OpaqueOp, UnanalyzableOp

DETAIL_LINES = 4
_NAMES = {
    "tt.elementwise_inline_asm": "inline asm",
    "tt.extern_elementwise": "extern call",
}
_EFFECTS = {
    "none": "touches no memory",
    "reads": "only reads memory",
    "writes": "writes memory",
    "unanalyzable": "not understood",
}
_VIA = {
    "loaded": "an address loaded from",
    "integer": "the address in the integer",
}


def indirect_lines(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Stores whose target is an address that the kernel read or was given as a number."""
    lines: Lines = []
    for write in order.placed(kernel.indirect_writes):
        lines += [Text(), *_indirect(write, options)]
    return lines


def _indirect(write: IndirectWrite, options: RenderOptions) -> Lines:
    through = Text(clean(write.through), MUTATION[Mutation.UNKNOWN])
    how = words(f"indirect write through {_VIA.get(write.via, write.via)}")
    lines = flow([*how, through], options.width, Text("  "), 4)
    return lines + place_lines(write.location, (write.op,), options) + quote(write.location, options)


def unanalyzable_lines(kernel: KernelReport, options: RenderOptions) -> Lines:
    """What could not be decided: the op, its text, why, and the parameters that reach it."""
    lines: Lines = []
    for op in order.placed(kernel.unanalyzable_ops):
        lines += [Text(), *_unanalyzable(op, options)]
    return lines


def _unanalyzable(op: UnanalyzableOp, options: RenderOptions) -> Lines:
    what = "" if op.advice else f" what {name_of(op.op)} does"
    head = Text.assemble("  ", ("cannot tell", MUTATION[Mutation.UNKNOWN]), f"{what}:")
    lines = flow(words(op.reason), options.width, head.append(" "), 4)
    lines += place_lines(op.location, (op.op,), options) + quote(op.location, options) + _detail(op.detail, options)
    if op.parameters:
        reach = Text("    may be written through it: ", DIM)
        lines += flow(joined(op.parameters, MUTATION[Mutation.UNKNOWN]), options.width, reach, 8)
    return lines


def opaque_lines(kernel: KernelReport, options: RenderOptions) -> Lines:
    """How each inline asm and extern call was read, save those that stand among the undecided."""
    undecided = {(op.op, op.location) for op in kernel.unanalyzable_ops}
    ops = [op for op in order.placed(kernel.opaque_ops) if (op.op, op.location) not in undecided]
    harmless = [op for op in ops if _is_plain_call(op) and not options.verbose]
    told = [op for op in ops if op not in harmless]
    lines: Lines = []
    for op in told:
        lines += [Text(), *_opaque(op, options)]
    if harmless:
        lead = words("extern calls that touch no memory:")
        names = list(dict.fromkeys(op.detail or op.op for op in harmless))
        lines += [Text(), *flow([*lead, *joined(names, DIM)], options.width, Text("  "), 4)]
    return lines


def _is_plain_call(op: OpaqueOp) -> bool:
    """A pure math function of a device library: worth a name, not a paragraph."""
    return op.pure and op.effect == "none" and op.op == "tt.extern_elementwise"


def _opaque(op: OpaqueOp, options: RenderOptions) -> Lines:
    purity = "pure" if op.pure else "impure"
    effect = _EFFECTS.get(op.effect, op.effect)
    pieces = words(f"{name_of(op.op)}, {purity}: {effect}")
    if op.effect in ("reads", "writes") and op.parameters:
        pieces += [Text("of"), *joined(op.parameters)]
    lines = flow(pieces, options.width, Text("  "), 4)
    return lines + place_lines(op.location, (op.op,), options) + _detail(op.detail, options)


def _detail(detail: str, options: RenderOptions) -> Lines:
    shown = indented(detail, 9) if detail.strip() else []
    limit = len(shown) if options.verbose else DETAIL_LINES
    if len(shown) > limit:
        rest = f"{' ' * 9}… {len(shown) - limit} more lines (--verbose shows all)"
        return [*shown[:limit], Text(rest, DIM)]
    return shown


def name_of(op: str) -> str:
    """What people call the op."""
    return _NAMES.get(op, op)
