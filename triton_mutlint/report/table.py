"""The parameter table: what a kernel does with each of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.style import DIM, MUTATION, STRONG, Lines, cells, clean, flow, joined, words
from triton_mutlint.types import (
    AccessKind,
    KernelReport,
    Mutation,
    Origin,
    ParameterKind,
    ParameterReport,
)

INDENT = 2
MARKS = 3  # width of the rwa column
NAME_LIMIT, TYPE_LIMIT = 24, 28  # cells; longer ones push the rest of their row to the next line


def parameter_table(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Pointers, descriptors and whatever is accessed or undecided get a row each.

    Plain values take part in no verdict: they share a line per type unless verbose.
    """
    rows = [p for p in kernel.parameters if options.verbose or not _is_plain(p)]
    plain = [p for p in kernel.parameters if _is_plain(p) and not options.verbose]
    mixed = kernel.origin is Origin.MIXED
    table = _Table.fitting(rows, options.width)
    lines = [line for p in rows for line in table.row(p, mixed, options.verbose)]
    return lines + _plain_lines(plain, options.width)


def _is_plain(parameter: ParameterReport) -> bool:
    addressed = parameter.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)
    touched = parameter.reads or parameter.writes or parameter.atomics
    return not addressed and not touched and parameter.mutation is Mutation.UNWRITTEN


@dataclass(frozen=True)
class _Table:
    name_width: int
    type_width: int
    width: int

    @staticmethod
    def fitting(rows: Sequence[ParameterReport], width: int) -> _Table:
        names = [cells(p.name) for p in rows if cells(p.name) <= NAME_LIMIT]
        types = [cells(p.type) for p in rows if cells(p.type) <= TYPE_LIMIT]
        return _Table(max(names, default=0), max(types, default=0), width)

    def row(self, parameter: ParameterReport, mixed: bool, verbose: bool) -> Lines:
        style = MUTATION[parameter.mutation]
        lead = Text(" " * INDENT).append_text(_marks(parameter)).append("  ")
        name = Text(clean(parameter.name), STRONG if parameter.mutation is not Mutation.UNWRITTEN else "")
        lines = _cell([lead], name, self.name_width)
        lines = _cell(lines, Text(clean(parameter.type), DIM), self.type_width)
        pieces = [*words(verdict(parameter), style), *_inference(parameter, mixed, verbose)]
        last = lines.pop()
        if last.cell_len + pieces[0].cell_len > self.width:  # a narrow terminal
            last.rstrip()
            lines.append(last)
            last = Text(" " * (INDENT + MARKS + 2))
        return lines + flow(pieces, self.width, last, min(last.cell_len, self.width // 2))


def _cell(lines: Lines, cell: Text, width: int) -> Lines:
    """`cell` at the end of the last line, padded; too wide a cell moves what follows down."""
    *done, last = lines
    start = last.cell_len
    last = last.append_text(cell)
    if cell.cell_len <= width:
        return [*done, last.append(" " * (width - cell.cell_len + 2))]
    return [*done, last, Text(" " * (start + width + 2))]


def _marks(parameter: ParameterReport) -> Text:
    """`rwa` after the manner of file modes: read, written, atomically updated."""
    flags = (
        ("r", parameter.reads, ""),
        ("w", parameter.writes, MUTATION[Mutation.WRITTEN]),
        ("a", parameter.atomics, MUTATION[Mutation.WRITTEN]),
    )
    return Text.assemble(*((mark, style) if on else ("-", DIM) for mark, on, style in flags))


def verdict(parameter: ParameterReport) -> str:
    """The verdict in words."""
    if parameter.mutation is Mutation.UNKNOWN:
        return "unknown: may be written"
    if parameter.mutation is Mutation.WRITTEN:
        only_atomic = {a.kind for a in parameter.accesses} <= {AccessKind.ATOMIC, AccessKind.READ}
        return "written by atomics" if parameter.atomics and only_atomic else "written"
    if parameter.mutation is Mutation.CONDITIONAL:
        return f"written when {condition(parameter)}"
    if parameter.reads:
        return "read"
    if parameter.may_read and parameter.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR):
        return "unwritten; may be read under values that were not analysed"
    return {
        ParameterKind.CONSTEXPR: "constexpr",
        ParameterKind.NONE: "absent",
        ParameterKind.SCALAR: "value",
    }.get(parameter.kind, "untouched")


def condition(parameter: ParameterReport) -> str:
    """When a conditional parameter is written: any one of its `when` suffices."""
    if not parameter.when:
        return "some variants are chosen"
    return " or ".join(parameter.when).replace(" or and ", " and ")  # the last may be `and 9 more`


def _inference(parameter: ParameterReport, mixed: bool, verbose: bool) -> list[Text]:
    if not parameter.inferred or not (mixed or verbose):
        return []
    reason = f": {parameter.reason}" if verbose and parameter.reason else ""
    return words(f"(type inferred{reason})", DIM)


def _plain_lines(plain: Sequence[ParameterReport], width: int) -> Lines:
    indent = INDENT + MARKS + 2
    groups: dict[str, list[str]] = {}
    for parameter in plain:
        label, shown = _plain_entry(parameter)
        groups.setdefault(label, []).append(shown)
    lines: Lines = []
    for label, names in groups.items():
        first = Text.assemble(" " * indent, (f"{label}: ", DIM))
        lines += flow(joined(names, DIM), width, first, indent + 2)
    return lines


def _plain_entry(parameter: ParameterReport) -> tuple[str, str]:
    if parameter.kind is ParameterKind.CONSTEXPR:
        valued = parameter.type not in ("", "constexpr")
        return "constexpr", f"{parameter.name}={parameter.type}" if valued else parameter.name
    if parameter.kind is ParameterKind.NONE:
        return "None", parameter.name
    return parameter.type or "scalar", parameter.name
