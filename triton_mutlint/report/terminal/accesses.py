"""The places that a verdict rests on, each with the way that leads there, and ops that are not understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

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
    code,
    flow,
    indented,
    joined,
    place_lines,
    prose,
    quote,
    words,
)
from triton_mutlint.types import (
    Access,
    AccessKind,
    Frame,
    KernelReport,
    Location,
    Mutation,
    OpaqueOp,
    UnanalyzableOp,
)

PLACES = 5  # of the same parameters
ROUTES = 3  # per place
SOME = "some variants are chosen"  # where no compile-time values tell which
_VERBS = {AccessKind.WRITE: "written", AccessKind.ATOMIC: "updated atomically", AccessKind.READ: "read"}


@dataclass(frozen=True)
class ShownPlace:
    """One access of the source, whichever parameters it reaches by whichever calls."""

    kind: AccessKind
    location: Location
    parameters: tuple[str, ...]
    accesses: tuple[Access, ...]


def access_lines(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Every write (with `verbose` every read too), under a heading per group of parameters."""
    kinds = list(_VERBS) if options.verbose else [AccessKind.WRITE, AccessKind.ATOMIC]
    lines: Lines = []
    for _, group in groupby(places(kernel, kinds), lambda place: (place.parameters, place.kind)):
        found = list(group)
        shown = found if options.verbose else found[:PLACES]
        lines += [Text(), *_heading(kernel, found[0], options.width)]
        lines += [line for place in shown for line in _place_lines(place, options)]
        if len(found) > len(shown):
            lines.append(Text(f"    … {plural(len(found) - len(shown), 'more place')} (--verbose shows all)", DIM))
    return lines


def places(kernel: KernelReport, kinds: Sequence[AccessKind]) -> list[ShownPlace]:
    """The accesses of `kinds`, merged by place; writes first, then in signature and source order."""
    found: dict[tuple[AccessKind, Location], dict[str, list[Access]]] = {}
    for parameter in kernel.parameters:
        for access in parameter.accesses:
            if access.kind in kinds:
                hits = found.setdefault((access.kind, access.location), {})
                hits.setdefault(parameter.name, []).append(access)
    rank = {p.name: i for i, p in enumerate(kernel.parameters)}

    def reading_order(place: ShownPlace) -> tuple[bool, list[int], str, Location]:
        owners = [rank[name] for name in place.parameters]
        return place.kind is AccessKind.READ, owners, place.kind.value, place.location

    return sorted((ShownPlace(*key, tuple(hits), tuple(access for own in hits.values() for access in own))
                   for key, hits in found.items()), key=reading_order)


def _heading(kernel: KernelReport, place: ShownPlace, width: int) -> Lines:
    named = [p for p in kernel.parameters if p.name in place.parameters]
    verb, when = "is" if len(named) == 1 else "are", ""
    mutations = {parameter.mutation for parameter in named}
    if place.kind is not AccessKind.READ and Mutation.WRITTEN not in mutations:
        if mutations == {Mutation.CONDITIONAL} and len({parameter.condition for parameter in named}) == 1:
            when = f" when {named[0].condition or SOME}"
        else:
            verb = "may be"
    ranking = (Mutation.WRITTEN, Mutation.CONDITIONAL, Mutation.UNKNOWN, Mutation.UNWRITTEN)
    style = "" if place.kind is AccessKind.READ else MUTATION[min(mutations, key=ranking.index)]
    return flow([*joined(place.parameters, style), *words(f"{verb} {_VERBS[place.kind]}{when}")], width, Text("  "), 4)


def _place_lines(place: ShownPlace, options: RenderOptions) -> Iterator[Text]:
    yield from place_lines(place.location, [*dict.fromkeys(access.op for access in place.accesses)], options)
    yield from quote(place.location, options)
    routes = [route for route in dict.fromkeys(access.path for access in place.accesses) if len(route) > 1]
    shown = routes if options.verbose else routes[:ROUTES]
    for route in shown:
        yield from _route_lines(route, place.location.file, options)
    if len(routes) > len(shown):
        yield Text(f"{' ' * 11}… and {len(routes) - len(shown)} more calls", DIM)


def _route_lines(route: Sequence[Frame], here: str, options: RenderOptions) -> Iterator[Text]:
    """`in helper, called from …`: the innermost function first, one line per call; `here` is the file above."""
    callee = route[-1].function
    for depth, frame in enumerate(reversed(route[:-1])):
        lead = f"{' ' * 11}{'  ' * depth}"
        place = f"line {frame.line}" if frame.file == here else f"{clean(frame.file)}:{frame.line}"
        pieces = [Text.assemble(("in ", DIM), (clean(callee), STRONG), (",", DIM)),
                  Text.assemble(("called from ", DIM), (place, PLACE))]
        *before, line = flow(pieces, options.width, Text(lead), len(lead) + 2)
        source = code(frame.file, frame.line, options, options.width - line.cell_len - 2)
        yield from [*before, line.append(": ", DIM).append(source) if source else line]
        callee, here = frame.function, frame.file


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
    ops = [op for op in kernel.opaque_ops if (op.op, op.location) not in undecided]
    harmless = [op for op in ops if not options.verbose and op.pure and op.effect == "none"
                and op.op == "tt.extern_elementwise"]
    paragraphs = [_paragraph(flow([*words(f"indirect write through {_VIA.get(write.via, write.via)}"),
                                   *joined([write.through], _UNKNOWN)], options.width, Text("  "), 4),
                             write.location, write.op, options) for write in kernel.indirect_writes]
    paragraphs += [_unanalyzable(op, options) for op in kernel.unanalyzable_ops]
    paragraphs += [_opaque(op, options) for op in ops if op not in harmless]
    if harmless:
        names = list(dict.fromkeys(op.detail or op.op for op in harmless))
        lead = words("extern calls that touch no memory:")
        paragraphs.append(iter(flow([*lead, *joined(names, DIM)], options.width, Text("  "), 4)))
    return [line for paragraph in paragraphs for line in (Text(), *paragraph)]


def _unanalyzable(op: UnanalyzableOp, options: RenderOptions) -> Iterator[Text]:
    what = "" if op.advice else f" what {_NAMES.get(op.op, op.op)} does"
    head = Text.assemble("  ", ("cannot tell", _UNKNOWN), f"{what}: ")
    yield from _paragraph(prose(op.reason, options.width, head, 4), op.location, op.op, options, op.detail)
    if op.parameters:
        yield from flow(joined(op.parameters, _UNKNOWN), options.width, Text("    may be written through it: ", DIM), 8)


def _opaque(op: OpaqueOp, options: RenderOptions) -> Iterator[Text]:
    purity, effect = "pure" if op.pure else "impure", _EFFECTS.get(op.effect, op.effect)
    pieces = words(f"{_NAMES.get(op.op, op.op)}, {purity}: {effect}")
    if op.effect in ("reads", "writes") and op.parameters:
        pieces += [Text("of"), *joined(op.parameters)]
    yield from _paragraph(flow(pieces, options.width, Text("  "), 4), op.location, op.op, options, op.detail, False)


def _paragraph(head: Lines, location: Location, op: str, options: RenderOptions, detail: str = "",
               is_quoted: bool = True) -> Iterator[Text]:
    yield from head
    yield from place_lines(location, (op,), options)
    yield from quote(location, options) if is_quoted else ()
    lines = indented(detail, 9) if detail.strip() else []
    shown = lines if options.verbose else lines[:DETAIL_LINES]
    yield from shown
    if len(lines) > len(shown):
        yield Text(f"{' ' * 9}… {len(lines) - len(shown)} more lines (--verbose shows all)", DIM)
