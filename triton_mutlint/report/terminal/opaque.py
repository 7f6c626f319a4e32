"""Writes through addresses that are data, undecided ops, and how inline asm and extern calls were read."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.source import indented, place_lines, quote
from triton_mutlint.report.terminal.style import DIM, MUTATION, Lines, flow, joined, prose, words
from triton_mutlint.types import IndirectWrite, KernelReport, Mutation, OpaqueOp, UnanalyzableOp

DETAIL_LINES = 4
_UNKNOWN = MUTATION[Mutation.UNKNOWN]
_NAMES = {"tt.elementwise_inline_asm": "inline asm", "tt.extern_elementwise": "extern call"}
_EFFECTS = {
    "none": "touches no memory",
    "reads": "only reads memory",
    "shares": "writes shared memory",
    "writes": "writes memory",
    "unanalyzable": "not understood",
}
_VIA = {"loaded": "an address loaded from", "integer": "the address in the integer"}


def opaque_lines(kernel: KernelReport, options: RenderOptions) -> Lines:
    """A paragraph on each; a name is enough for a pure function of a device library."""
    undecided = {(op.op, op.location) for op in kernel.unanalyzable_ops}
    ops = [op for op in order.placed(kernel.opaque_ops) if (op.op, op.location) not in undecided]
    harmless = [op for op in ops if not options.verbose and op.pure and op.effect == "none"
                and op.op == "tt.extern_elementwise"]
    paragraphs = [_indirect(write, options) for write in order.placed(kernel.indirect_writes)]
    paragraphs += [_unanalyzable(op, options) for op in order.placed(kernel.unanalyzable_ops)]
    paragraphs += [_opaque(op, options) for op in ops if op not in harmless]
    if harmless:
        names = list(dict.fromkeys(op.detail or op.op for op in harmless))
        lead = words("extern calls that touch no memory:")
        paragraphs.append(iter(flow([*lead, *joined(names, DIM)], options.width, Text("  "), 4)))
    return [line for paragraph in paragraphs for line in (Text(), *paragraph)]


def _indirect(write: IndirectWrite, options: RenderOptions) -> Iterator[Text]:
    how = words(f"indirect write through {_VIA.get(write.via, write.via)}")
    yield from flow([*how, *joined([write.through], _UNKNOWN)], options.width, Text("  "), 4)
    yield from place_lines(write.location, (write.op,), options)
    yield from quote(write.location, options)


def _unanalyzable(op: UnanalyzableOp, options: RenderOptions) -> Iterator[Text]:
    what = "" if op.advice else f" what {_NAMES.get(op.op, op.op)} does"
    head = Text.assemble("  ", ("cannot tell", _UNKNOWN), f"{what}: ")
    yield from prose(op.reason, options.width, head, 4)
    yield from place_lines(op.location, (op.op,), options)
    yield from quote(op.location, options)
    yield from _detail(op.detail, options)
    if op.parameters:
        yield from flow(joined(op.parameters, _UNKNOWN), options.width, Text("    may be written through it: ", DIM), 8)


def _opaque(op: OpaqueOp, options: RenderOptions) -> Iterator[Text]:
    purity, effect = "pure" if op.pure else "impure", _EFFECTS.get(op.effect, op.effect)
    pieces = words(f"{_NAMES.get(op.op, op.op)}, {purity}: {effect}")
    if op.effect in ("reads", "writes") and op.parameters:
        pieces += [Text("of"), *joined(op.parameters)]
    yield from flow(pieces, options.width, Text("  "), 4)
    yield from place_lines(op.location, (op.op,), options)
    yield from _detail(op.detail, options)


def _detail(detail: str, options: RenderOptions) -> Iterator[Text]:
    lines = indented(detail, 9) if detail.strip() else []
    shown = lines if options.verbose else lines[:DETAIL_LINES]
    yield from shown
    if len(lines) > len(shown):
        yield Text(f"{' ' * 9}… {len(lines) - len(shown)} more lines (--verbose shows all)", DIM)
