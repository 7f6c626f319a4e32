"""The places that a verdict rests on, each with the way that leads there, and ops that are not understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.style import (
    DIM,
    MUTATION,
    PLACE,
    STRONG,
    Lines,
    clean,
    flow,
    indented,
    joined,
    place_lines,
    words,
)
from triton_mutlint.types import (
    Access,
    AccessKind,
    Frame,
    KernelReport,
    Location,
    Mutation,
    ParameterKind,
    ParameterReport,
)

Item = TypeVar("Item")
PLACES = 5  # of one parameter
ROUTES = 3  # per place
SOME = "some variants are chosen"  # where no compile-time values tell which
_UNKNOWN = MUTATION[Mutation.UNKNOWN]
_DETAIL_LINES = 4
_NAMES = {"tt.elementwise_inline_asm": "inline asm", "tt.extern_elementwise": "extern call"}
_EFFECTS = {
    "none": "touches no memory",
    "reads": "only reads memory",
    "shares": "writes shared memory",
    "writes": "writes memory",
    "unanalyzable": "not understood",
}
_VIA = {"loaded": "an address loaded from", "integer": "the address in the integer"}


def verdict(parameter: ParameterReport) -> str:
    """The verdict in words."""
    if parameter.mutation is Mutation.UNKNOWN:
        return "unknown: may be written"
    if parameter.mutation is Mutation.WRITTEN:
        only_atomic = {a.kind for a in parameter.accesses} <= {AccessKind.ATOMIC, AccessKind.READ}
        return "written by atomics" if parameter.atomics and only_atomic else "written"
    if parameter.mutation is Mutation.CONDITIONAL:
        return f"written when {parameter.condition or SOME}"
    if parameter.reads:
        return "read"
    if parameter.may_read and parameter.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR):
        return "unwritten; may be read under values that were not analysed"
    return {
        ParameterKind.CONSTEXPR: "constexpr",
        ParameterKind.NONE: "absent",
        ParameterKind.SCALAR: "value",
    }.get(parameter.kind, "untouched")


def access_lines(kernel: KernelReport, options: RenderOptions, quoted: set[Location]) -> Lines:
    """Every write of each parameter, with `verbose` every read too."""
    lines: Lines = []
    for parameter in kernel.parameters:
        places: dict[Location, list[Access]] = {}
        for access in sorted(parameter.accesses, key=lambda access: access.kind is AccessKind.READ):
            if options.verbose or access.kind is not AccessKind.READ:
                places.setdefault(access.location, []).append(access)
        if places:
            name = Text(clean(parameter.name), MUTATION[parameter.mutation])
            lines += [Text(), *flow([name, *words(f"is {verdict(parameter)}")], options.width, Text("  "), 4)]
        for location, accesses in _some(list(places.items()), PLACES, options):
            ops = ", ".join(dict.fromkeys(access.op for access in accesses))
            lines += place_lines(location, options, ops, quoted)
            lines += _routes([*dict.fromkeys(a.path for a in accesses if len(a.path) > 1)], options)
        lines += _more(len(places) - PLACES, "place", 4, options)
    return lines


def _routes(routes: Sequence[Sequence[Frame]], options: RenderOptions) -> Iterator[Text]:
    """The calls that lead to a place, the innermost first."""
    for route in _some(routes, ROUTES, options):
        for depth, (frame, callee) in enumerate(zip(route[-2::-1], route[:0:-1], strict=True)):
            lead = f"{' ' * 11}{'  ' * depth}"
            pieces = [Text.assemble(("in ", DIM), (clean(callee.function), STRONG), (",", DIM)),
                      Text.assemble(("called from ", DIM), (f"{clean(frame.file)}:{frame.line}", PLACE))]
            yield from flow(pieces, options.width, Text(lead), len(lead) + 2)
    yield from _more(len(routes) - ROUTES, "call", 11, options)


def _some(items: Sequence[Item], limit: int, options: RenderOptions) -> Sequence[Item]:
    return items if options.verbose else items[:limit]


def _more(count: int, noun: str, indent: int, options: RenderOptions) -> Lines:
    """What is said of more than is shown."""
    told = f"{' ' * indent}… {plural(count, f'more {noun}')} (--verbose shows all)"
    return [Text(told, DIM)] if count > 0 and not options.verbose else []


def opaque_lines(kernel: KernelReport, options: RenderOptions, quoted: set[Location]) -> Lines:
    """A paragraph on each write through an address from elsewhere, and on each op whose effect is in no table."""
    lines: Lines = []

    def tell(head: Sequence[Text], location: Location, op: str, detail: str = "") -> None:
        text = indented(detail, 9) if detail.strip() else []
        lines.extend([Text(), *flow(head, options.width, Text("  "), 4)])
        lines.extend([*place_lines(location, options, op, quoted), *_some(text, _DETAIL_LINES, options)])
        lines.extend(_more(len(text) - _DETAIL_LINES, "line", 9, options))

    for write in kernel.indirect_writes:
        through = joined([write.through], _UNKNOWN)
        tell([*words(f"indirect write through {_VIA.get(write.via, write.via)}"), *through], write.location, write.op)
    for unknown in kernel.unanalyzable_ops:
        what = "" if unknown.advice else f" what {_NAMES.get(unknown.op, unknown.op)} does"
        head = [*words(f"cannot tell{what}:", _UNKNOWN), *words(unknown.reason)]
        may = [*words("· may write"), *joined(unknown.parameters, _UNKNOWN)] if unknown.parameters else []
        tell([*head, *may], unknown.location, unknown.op, unknown.detail)
    undecided = {(op.op, op.location) for op in kernel.unanalyzable_ops}
    for op in kernel.opaque_ops:
        is_plain = op.pure and op.effect == "none" and op.op == "tt.extern_elementwise"  # of a device library
        if (op.op, op.location) not in undecided and (options.verbose or not is_plain):
            purity, effect = "pure" if op.pure else "impure", _EFFECTS.get(op.effect, op.effect)
            of = [Text("of"), *joined(op.parameters)] if op.effect in ("reads", "writes") and op.parameters else []
            tell([*words(f"{_NAMES.get(op.op, op.op)}, {purity}: {effect}"), *of], op.location, op.op, op.detail)
    return lines
