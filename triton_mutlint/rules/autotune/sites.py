"""One function of TTIR without calls: in which order its ops run, and of what its values are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from triton_mutlint.ttir.ir import Function, Op, Region
from triton_mutlint.ttir.ops import computes

Place = tuple[int, ...]  # the values that make an address, each the first that is computed in its way


@dataclass(frozen=True, eq=False)
class OpSite:
    """An op and where it stands.

    `path` gives region, block and position from the outermost inwards; `branches` the conditions that decide whether it
    runs, each with the branch.
    """

    op: Op
    path: tuple[tuple[Region, int, int], ...]
    branches: frozenset[tuple[int, int]]

    def precedes(self, other: OpSite) -> bool:
        """Whether this op ran before `other` in every run that reaches `other`; loops count as executed."""
        for (region, block, at), (other_region, other_block, other_at) in zip(self.path, other.path, strict=False):
            if region is not other_region:
                return False
            if (block, at) != (other_block, other_at):
                return block == other_block and at < other_at and self.branches <= other.branches
        return False


class OpSites:
    """The ops of a function in text order; `sources` are the values that a value is computed from or passed on from."""

    def __init__(self, function: Function) -> None:
        self.all: list[OpSite] = []
        self.producers = function.producers
        self.sources: dict[int, list[int]] = {}
        self._used: set[int] = set()
        self._types = function.types
        self._alike: dict[int, int] = {}
        self._first: dict[Hashable, int] = {}
        self._region(function.body, (), frozenset())

    def is_used(self, op: Op) -> bool:
        """Whether anything uses what the op gives."""
        return not self._used.isdisjoint(op.results)

    def alike(self, value: int) -> int:
        """The first value that the same ops compute from the same values; of loops with equal bounds, one counter."""
        return self._alike.get(value, value)

    def reached(self, value: int, parts: Callable[[int], Iterable[int]]) -> set[int]:
        """`value`, its parts, their parts and so on."""
        found: set[int] = set()
        pending = [value]
        while pending:
            value = pending.pop()
            if value not in found:
                found.add(value)
                pending.extend(parts(value))
        return found

    def is_swept(self, site: OpSite, place: Place, other: OpSite) -> bool:
        """Whether the place at which an op works moves with a loop around it that is not around `other` too."""
        around = {id(region) for region, _, _ in other.path}
        counters = {arg for region, _, _ in site.path if id(region) not in around
                    for block in region.blocks for arg in block.args}
        return any(not self.reached(value, self._parts).isdisjoint(counters) for value in place)

    def _parts(self, value: int) -> Sequence[int]:
        return self.sources.get(value, ())

    def _region(self, region: Region, path: tuple[tuple[Region, int, int], ...],
                branches: frozenset[tuple[int, int]]) -> None:
        for number, block in enumerate(region.blocks):
            for index, op in enumerate(block.ops):
                site = OpSite(op, (*path, (region, number, index)), branches)
                self.all.append(site)
                self._used.update(op.operands)
                for successor in op.successors:
                    self._link(successor.operands, region.blocks[successor.block].args)
                self._carry(op)
                self._number(op)
                if op.name == "scf.for":
                    bounds = ("scf.for", *map(self.alike, op.operands[:3]))
                    counter = op.regions[0].args[0]
                    self._alike[counter] = self._first.setdefault(bounds, counter)
                for branch, inner in enumerate(op.regions):
                    chosen = {(op.operands[0], branch)} if op.name == "scf.if" else set()
                    self._region(inner, site.path, branches | chosen)

    def _number(self, op: Op) -> None:
        if len(op.results) == 1 and computes(op.name):
            key = (op.name, *map(self.alike, op.operands), *sorted(op.attrs.items()), self._types[op.results[0]])
            self._alike[op.results[0]] = self._first.setdefault(key, op.results[0])

    def _carry(self, op: Op) -> None:
        """What an op computes its results from; with regions, what goes into them, around and out of them."""
        blocks = [block for region in op.regions for block in region.blocks]
        given = {"scf.for": op.operands[3:], "scf.while": op.operands, "scf.if": ()}.get(op.name, op.operands)
        passed = [given]
        for end in (end for block in blocks for end in block.ops[-1:] if not end.successors):
            passed.append(end.operands[1:] if end.name == "scf.condition" else end.operands)
        for values in passed:
            self._link(values, op.results)
            for block in blocks:
                self._link(values, block.args[1:] if op.name == "scf.for" else block.args)

    def _link(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """One by one; all to all where the counts differ."""
        for index, target in enumerate(targets):
            own = (sources[index],) if len(sources) == len(targets) else sources
            self.sources.setdefault(target, []).extend(own)
