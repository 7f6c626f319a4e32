"""Which values of a function may depend on which, through data and through control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from triton_mutlint.ttir.ir import Function, Op, Region

_COMBINES = ("tt.reduce", "tt.scan", "tt.map_elementwise")
_SELECTING = ("scf.if", "scf.index_switch")


@dataclass(frozen=True)
class Control:
    """A value on which the execution of an op depends; `when_true` if the op needs it to be true."""

    value: int
    when_true: bool = False


@dataclass(frozen=True)
class Site:
    """One op and everything that decides whether it is executed."""

    op: Op
    controls: tuple[Control, ...]


class Influence:
    """The dependence graph of one function without calls; unreachable blocks count as reachable.

    `sites` are its ops in text order, `jumps` the conditions of branches between blocks: on them
    depends, here, every op of the function. `waits` are those of `while` loops.
    """

    def __init__(self, function: Function) -> None:
        self.sites: list[Site] = []
        self.producers: dict[int, Op] = {}
        self.inductions: dict[int, int] = {}  # loop variable -> where it starts
        self.jumps: set[int] = set()
        self.waits: set[int] = set()
        self._edges: dict[int, list[int]] = {}
        self._region(function.body, (), ())

    def reached(self, starts: Iterable[int]) -> set[int]:
        """`starts` and every value that may depend on one of them."""
        found: set[int] = set()
        stack = list(starts)
        while stack:
            value = stack.pop()
            if value not in found:
                found.add(value)
                stack.extend(self._edges.get(value, ()))
        return found

    def _region(self, region: Region, controls: tuple[Control, ...], results: Sequence[int]) -> None:
        for block in region.blocks:
            for op in block.ops:
                self.sites.append(Site(op, controls))
                self._op(op, controls, region)
            if block.ops and not block.ops[-1].successors:
                returned = block.ops[-1].operands
                self._link(returned[1:] if block.ops[-1].name == "scf.condition" else returned, results)

    def _op(self, op: Op, controls: tuple[Control, ...], region: Region) -> None:
        for result in op.results:
            self.producers[result] = op
        if op.successors:
            self.jumps.update(op.operands[: len(op.successors) > 1])
            for successor in op.successors:
                self._link(successor.operands, region.blocks[successor.block].args)
        elif op.name == "scf.for":
            self._for(op, controls)
        elif op.name == "scf.while":
            self._while(op, controls)
        elif op.name in _SELECTING:
            self._all(op.operands, op.results)
            for index, inner in enumerate(op.regions):
                taken = Control(op.operands[0], op.name == "scf.if" and index == 0)
                self._region(inner, (*controls, taken), op.results)
        else:
            self._all(op.operands, op.results)
            for inner in op.regions:
                arguments = inner.blocks[0].args if inner.blocks else ()
                self._all(op.operands, arguments)
                self._region(inner, controls, op.results)
                if op.name in _COMBINES:
                    self._all(op.results, arguments)

    def _for(self, op: Op, controls: tuple[Control, ...]) -> None:
        bounds, initial = op.operands[:3], op.operands[3:]
        induction, *carried = op.regions[0].blocks[0].args
        self.inductions[induction] = bounds[0]
        self._all(bounds, (induction, *carried, *op.results))
        self._link(initial, carried)
        self._link(initial, op.results)
        self._link(op.results, carried)  # what an iteration yields is what the next one gets
        self._region(op.regions[0], (*controls, *map(Control, bounds)), op.results)

    def _while(self, op: Op, controls: tuple[Control, ...]) -> None:
        before, after = op.regions
        first, second = before.blocks[0].args, after.blocks[0].args
        conditions = [b.ops[-1].operands[0] for b in before.blocks if b.ops and b.ops[-1].name == "scf.condition"]
        inside = (*controls, *map(Control, conditions))
        self.waits.update(conditions)
        self._link(op.operands, first)
        self._all(conditions, (*first, *second, *op.results))
        self._link(op.results, second)
        self._region(before, inside, op.results)
        self._region(after, inside, first)

    def _all(self, sources: Iterable[int], targets: Sequence[int]) -> None:
        if targets:
            for source in sources:
                self._edges.setdefault(source, []).extend(targets)

    def _link(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """One by one; all to all where the counts differ."""
        if len(sources) != len(targets):
            self._all(sources, targets)
            return
        for source, target in zip_longest(sources, targets):
            self._edges.setdefault(source, []).append(target)
