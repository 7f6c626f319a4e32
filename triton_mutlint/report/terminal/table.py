"""The parameter table: what a kernel does with each of its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.style import DIM, MUTATION, STRONG, Lines, cells, clean, flow, joined, words
from triton_mutlint.types import AccessKind, KernelReport, Mutation, Origin, ParameterKind, ParameterReport

INDENT = 2
_BEHIND = INDENT + 5  # where what follows the rwa column starts
NAME_LIMIT, TYPE_LIMIT = 24, 28  # cells; longer ones push the rest of their row aside


def parameter_table(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Pointers, descriptors and whatever is accessed or undecided get a row each.

    Plain values take part in no verdict: they share a line per type unless verbose.
    """
    rows = [p for p in kernel.parameters if options.verbose or not _is_plain(p)]
    names = max((cells(p.name) for p in rows if cells(p.name) <= NAME_LIMIT), default=0)
    types = max((cells(p.type) for p in rows if cells(p.type) <= TYPE_LIMIT), default=0)
    indent = min(_BEHIND + names + types + 4, options.width // 2)
    lines: Lines = []
    for p in rows:
        reason = f": {p.reason}" if options.verbose and p.reason else ""
        inferred = p.inferred and (options.verbose or kernel.origin is Origin.MIXED)
        pieces = [_cell(p.name, names, STRONG if p.mutation is not Mutation.UNWRITTEN else ""),
                  _cell(p.type, types, DIM), *words(verdict(p), MUTATION[p.mutation]),
                  *words(f"(type inferred{reason})" if inferred else "", DIM)]
        lines += flow(pieces, options.width, Text.assemble(" " * INDENT, _marks(p), "  "), indent)
    return lines + _plain_lines([p for p in kernel.parameters if p not in rows], options.width)


def _is_plain(parameter: ParameterReport) -> bool:
    addressed = parameter.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)
    touched = parameter.reads or parameter.writes or parameter.atomics
    return not addressed and not touched and parameter.mutation is Mutation.UNWRITTEN


def _cell(text: str, width: int, style: str) -> Text:
    """A piece of a row, with the spaces that bring the next one to its column."""
    return Text.assemble((clean(text), style), " " * (max(width - cells(text), 0) + 1))


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


def _plain_lines(plain: Sequence[ParameterReport], width: int) -> Lines:
    groups: dict[str, list[str]] = {}
    for parameter in plain:
        label, shown = _plain_entry(parameter)
        groups.setdefault(label, []).append(shown)
    return [line for label, names in groups.items() for line in flow(
        joined(names, DIM), width, Text.assemble(" " * _BEHIND, (f"{label}: ", DIM)), _BEHIND + 2)]


def _plain_entry(parameter: ParameterReport) -> tuple[str, str]:
    if parameter.kind is ParameterKind.CONSTEXPR:
        valued = parameter.type not in ("", "constexpr")
        return "constexpr", f"{parameter.name}={parameter.type}" if valued else parameter.name
    if parameter.kind is ParameterKind.NONE:
        return "None", parameter.name
    return parameter.type or "scalar", parameter.name
