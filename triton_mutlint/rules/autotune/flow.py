"""One function of TTIR without calls: in which order its ops run, and which values depend on which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from triton_mutlint.ttir.ir import Function, Op, Region

_COMBINES = ("tt.reduce", "tt.scan", "tt.map_elementwise")
_SELECTING = ("scf.if",)
Guard = tuple[int, "int | None"]  # a value that decides whether an op runs, and the branch of it; None for a loop


def _anywhere(source: int, target: int) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class StoreSite:
    """An op, what decides whether it runs, and its place: region, block and position, from the outermost inwards."""

    op: Op
    guards: tuple[Guard, ...]
    place: tuple[tuple[Region, int, int], ...]

    def precedes(self, other: StoreSite) -> bool:
        """Whether this op ran before `other` in every run that reaches `other`; loops count as executed."""
        for (region, block, at), (other_region, other_block, other_at) in zip(self.place, other.place, strict=False):
            if region is not other_region:
                return False
            if (block, at) != (other_block, other_at):
                is_first = at < other_at if block == other_block else not _is_avoided(region, block, other_block)
                return is_first and {g for g in self.guards if g[1] is not None} <= set(other.guards)
        return False


class Stores:
    """The ops of one function in text order, and the dependence of its values through data and control.

    `jumps` are the conditions of branches between blocks: on them depends, here, every op of the function. `waits`
    maps the condition of each `while` loop to the values that may differ between its iterations.
    """

    def __init__(self, function: Function) -> None:
        self.sites: list[StoreSite] = []
        self.producers: dict[int, Op] = {}
        self.starts: dict[int, int] = {}  # loop variable -> where it starts
        self.jumps: set[int] = set()
        self.waits: dict[int, frozenset[int]] = {}
        self.used: set[int] = set()
        self._arguments: list[int] = []  # of blocks
        self._edges: dict[int, list[int]] = {}
        self._region(function.body, (), (), ())

    def reached(self, starts: Iterable[int], along: Callable[[int, int], bool] = _anywhere) -> set[int]:
        """`starts` and every value that may depend on one of them, each step from value to value being `along`."""
        found: set[int] = set()
        stack = list(starts)
        while stack:
            value = stack.pop()
            if value not in found:
                found.add(value)
                stack.extend(target for target in self._edges.get(value, ()) if along(value, target))
        return found

    def _region(self, region: Region, guards: tuple[Guard, ...], place: tuple[tuple[Region, int, int], ...],
                results: Sequence[int]) -> None:
        for number, block in enumerate(region.blocks):
            self._arguments += block.args
            for index, op in enumerate(block.ops):
                site = StoreSite(op, guards, (*place, (region, number, index)))
                self.sites.append(site)
                self.producers.update(dict.fromkeys(op.results, op))
                self.used.update(op.operands)
                self._op(site, region)
            if block.ops and not block.ops[-1].successors:
                returned = block.ops[-1].operands
                self._link(returned[1:] if block.ops[-1].name == "scf.condition" else returned, results)

    def _op(self, site: StoreSite, region: Region) -> None:
        op, guards = site.op, site.guards
        if op.successors:
            self.jumps.update(op.operands[: len(op.successors) > 1])
            for successor in op.successors:
                self._link(successor.operands, region.blocks[successor.block].args)
        elif op.name == "scf.for":
            self._for(op, guards, site)
        elif op.name == "scf.while":
            self._while(op, guards, site)
        else:
            self._all(op.operands, op.results)
            for branch, inner in enumerate(op.regions):
                if op.name in _SELECTING:
                    self._region(inner, (*guards, (op.operands[0], branch)), site.place, op.results)
                    continue
                arguments = inner.blocks[0].args if inner.blocks else ()
                self._all((*op.operands, *op.results) if op.name in _COMBINES else op.operands, arguments)
                self._region(inner, guards, site.place, op.results)

    def _for(self, op: Op, guards: tuple[Guard, ...], site: StoreSite) -> None:
        bounds, initial = op.operands[:3], op.operands[3:]
        induction, *carried = arguments = op.regions[0].blocks[0].args
        self.starts[induction] = bounds[0]
        self._all(bounds, (*arguments, *op.results))
        self._link(initial, carried)
        self._link(initial, op.results)
        self._link(op.results, carried)  # what an iteration yields is what the next one gets
        self._region(op.regions[0], (*guards, *((b, None) for b in bounds)), site.place, op.results)

    def _while(self, op: Op, guards: tuple[Guard, ...], site: StoreSite) -> None:
        before, after = op.regions
        first, second = before.blocks[0].args, after.blocks[0].args
        conditions = [b.ops[-1].operands[0] for b in before.blocks if b.ops and b.ops[-1].name == "scf.condition"]
        inside = (*guards, *((c, None) for c in conditions))
        seen = len(self._arguments)
        self._link(op.operands, first)
        self._all(conditions, (*first, *second, *op.results))
        self._link(op.results, second)
        self._region(before, inside, site.place, op.results)
        self._region(after, inside, site.place, first)
        self.waits.update(dict.fromkeys(conditions, frozenset(self._arguments[seen:])))

    def _all(self, sources: Iterable[int], targets: Sequence[int]) -> None:
        for source in sources:
            self._edges.setdefault(source, []).extend(targets)

    def _link(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """One by one; all to all where the counts differ."""
        if len(sources) != len(targets):
            self._all(sources, targets)
            return
        for source, target in zip_longest(sources, targets):
            self._edges.setdefault(source, []).append(target)


def _is_avoided(region: Region, avoided: int, wanted: int) -> bool:
    """Whether some path from a region's first block to the block `wanted` does not pass `avoided`."""
    found, stack = {avoided}, [0]
    while stack:
        block = stack.pop()
        if block not in found:
            found.add(block)
            last = region.blocks[block].ops[-1:]
            stack.extend(s.block for op in last for s in op.successors)
    return wanted in found
