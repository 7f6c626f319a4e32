"""The places at which parameters are written (and read), each once, with the way that leads there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.snippet import code, quote
from triton_mutlint.report.style import DIM, MUTATION, PLACE, STRONG, Lines, clean, flow, joined, words
from triton_mutlint.report.table import condition
from triton_mutlint.types import Access, AccessKind, Frame, KernelReport, Location, Mutation, ParameterReport

PLACES = 5  # per parameter
ROUTES = 3  # per place
_VERBS = {
    AccessKind.WRITE: "written",
    AccessKind.ATOMIC: "updated atomically",
    AccessKind.READ: "read",
}


@dataclass(frozen=True)
class Place:
    """One access of the source, whichever parameters it reaches by whichever calls."""

    kind: AccessKind
    location: Location
    parameters: tuple[str, ...]
    ops: tuple[str, ...]
    routes: tuple[tuple[Frame, ...], ...]


def access_lines(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Every write (with `verbose` every read too), under a heading per group of parameters."""
    kinds = list(_VERBS) if options.verbose else [AccessKind.WRITE, AccessKind.ATOMIC]
    kept, hidden = _limit(places(kernel, kinds), None if options.verbose else PLACES)
    lines: Lines = []
    heading: tuple[tuple[str, ...], AccessKind] | None = None
    for place in kept:
        if heading != (place.parameters, place.kind):
            heading = (place.parameters, place.kind)
            lines += [Text(), *_heading(kernel, place, options.width)]
        lines += _place_lines(place, options)
    if hidden:
        count = f"{hidden} more {'place' if hidden == 1 else 'places'}"
        lines.append(Text(f"    … {count} (--verbose shows all)", DIM))
    return lines


def places(kernel: KernelReport, kinds: Sequence[AccessKind]) -> list[Place]:
    """The accesses of `kinds`, merged by place; writes first, then in signature and source order."""
    found: dict[tuple[AccessKind, Location], list[tuple[str, Access]]] = {}
    for parameter in kernel.parameters:
        for access in order.accesses(parameter.accesses):
            if access.kind in kinds:
                found.setdefault((access.kind, access.location), []).append((parameter.name, access))
    merged = [
        Place(
            kind,
            location,
            tuple(dict.fromkeys(name for name, _ in hits)),
            tuple(dict.fromkeys(access.op for _, access in hits)),
            tuple(dict.fromkeys(access.path for _, access in hits)),
        )
        for (kind, location), hits in found.items()
    ]
    rank = {p.name: i for i, p in enumerate(kernel.parameters)}

    def reading_order(place: Place) -> tuple[bool, list[int], str, Location]:
        owners = [rank[name] for name in place.parameters]
        return place.kind is AccessKind.READ, owners, place.kind.value, place.location

    return sorted(merged, key=reading_order)


def _limit(found: list[Place], limit: int | None) -> tuple[list[Place], int]:
    if limit is None:
        return found, 0
    shown: Counter[str] = Counter()
    kept = []
    for place in found:
        if any(shown[name] < limit for name in place.parameters):
            kept.append(place)
            shown.update(place.parameters)
    return kept, len(found) - len(kept)


def _heading(kernel: KernelReport, place: Place, width: int) -> Lines:
    named = [p for p in kernel.parameters if p.name in place.parameters]
    verb, when = "is" if len(named) == 1 else "are", ""
    mutations = {parameter.mutation for parameter in named}
    if place.kind is not AccessKind.READ and Mutation.WRITTEN not in mutations:
        if mutations == {Mutation.CONDITIONAL} and len(named) == 1:
            when = f" when {condition(named[0])}"
        else:
            verb = "may be"
    style = "" if place.kind is AccessKind.READ else _strongest(named)
    pieces = [*joined(place.parameters, style), *words(f"{verb} {_VERBS[place.kind]}{when}")]
    return flow(pieces, width, Text("  "), 4)


def _strongest(parameters: Sequence[ParameterReport]) -> str:
    ranking = (Mutation.WRITTEN, Mutation.CONDITIONAL, Mutation.UNKNOWN, Mutation.UNWRITTEN)
    return MUTATION[min((p.mutation for p in parameters), key=ranking.index)]


def _place_lines(place: Place, options: RenderOptions) -> Lines:
    lines = place_lines(place.location, place.ops, options)
    lines += quote(place.location, options)
    routes = [route for route in place.routes if len(route) > 1]
    limit = len(routes) if options.verbose else ROUTES
    for route in routes[:limit]:
        lines += _route_lines(route, place.location.file, options)
    if len(routes) > limit:
        lines.append(Text(f"{' ' * 11}… and {len(routes) - limit} more calls", DIM))
    return lines


def _route_lines(route: Sequence[Frame], here: str, options: RenderOptions) -> Lines:
    """`in helper, called from …`: the innermost function first, one line per call; `here` is the file above."""
    lines: Lines = []
    callee = route[-1].function
    for depth, frame in enumerate(reversed(route[:-1])):
        lead = f"{' ' * 11}{'  ' * depth}"
        place = f"line {frame.line}" if frame.file == here else f"{clean(frame.file)}:{frame.line}"
        pieces = [Text.assemble(("in ", DIM), (clean(callee), STRONG), (",", DIM)),
                  Text.assemble(("called from ", DIM), (place, PLACE))]
        *before, line = flow(pieces, options.width, Text(lead), len(lead) + 2)
        source = code(frame.file, frame.line, options, options.width - line.cell_len - 2)
        lines += [*before, line.append(": ", DIM).append(source) if source else line]
        callee, here = frame.function, frame.file
    return lines


def where(location: Location) -> str:
    """`file:line:column`, as terminals and editors link it."""
    return f"{clean(location.file)}:{location.line}:{location.column}"


def stands(location: Location, options: RenderOptions) -> str:
    """As `where`: a line alone where the column is that of its indentation, a file alone where there is none."""
    first = options.sources.line(location.file, 1)
    raw = options.sources.line(location.file, location.line) or ""
    if first is None and (location.line, location.column) == (1, 1):
        return clean(location.file)
    indented = raw.strip() and location.column <= len(raw) - len(raw.lstrip())
    return f"{clean(location.file)}:{location.line}" if indented else where(location)


def place_lines(location: Location, ops: Sequence[str], options: RenderOptions) -> Lines:
    """Where ops stand in the source, and which they are."""
    pieces = [Text(where(location), PLACE), Text.assemble(" ", (", ".join(ops), DIM))]
    return flow(pieces, options.width, Text("    "), 5)


def indented(text: str, indent: int, style: str = "") -> Lines:
    """Text as it stands, behind a bar: messages whose own layout (a caret) must survive."""
    bar = " " * indent + "| "
    lines = (clean(line).rstrip() for line in text.strip("\n").splitlines())
    return [Text.assemble((bar, DIM), (line, style)) for line in lines]
