"""What a solver knows so far, and how it is added to."""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.contexts import Context
from triton_mutlint.analysis.control import ControlFlow
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.memory import Memory
from triton_mutlint.analysis.opaque import OpaqueReader
from triton_mutlint.analysis.widths import Width
from triton_mutlint.ttir.ir import Function, Module, Op, Region


class AnalysisState:
    """The values of contexts and the contents of memory; `again` says that a further pass is needed."""

    def __init__(self, module: Module, lattice: Lattice, opaque: OpaqueReader) -> None:
        self.lattice = lattice
        self.memory = Memory(lattice)
        self.flow = ControlFlow()
        self.opaque = opaque
        self.again = False
        self._fitted: dict[Width, dict[int, int]] = {Width.BIT: {}, Width.NARROW: {}}
        self._results: dict[tuple[transfer.Transfer, tuple[int, ...]], int] = {}
        self._functions = module.functions
        self._producers: dict[int, dict[int, Op]] = {}

    def set(self, context: Context, value: int, state: int, back: bool = False) -> None:
        """Add `state` to what is known of an op's result; `back` when an earlier op has read it already."""
        width = context.widths[value]
        if width is not Width.FULL:
            known = self._fitted[width].get(state)
            state = known if known is not None else self._fit(width, state)
        before = context.values[value]
        if state | before != before:
            context.values[value] = before | state
            self.again |= back

    def _fit(self, width: Width, state: int) -> int:
        """Section 3.2: what is left of a value in fewer bits."""
        fitted = self.lattice.flag(state) if width is Width.BIT else self.lattice.narrowed(state)
        return self._fitted[width].setdefault(state, fitted)

    def set_results(self, context: Context, op: Op, state: int) -> None:
        for result in op.results:
            self.set(context, result, state)

    def set_all(self, context: Context, targets: Sequence[int], states: Sequence[int], back: bool = False) -> None:
        """Set values one by one, or each to all of the states when the counts differ."""
        if len(targets) != len(states):
            states = [transfer.join(self.lattice, states)] * len(targets)
        for target, state in zip(targets, states, strict=True):
            self.set(context, target, state, back)

    def merge(self, context: Context, targets: Sequence[int], paths: Sequence[Sequence[int]], roots: int,
              back: bool = False) -> None:
        """Set the values where paths meet, each of which gives one state per value; `roots` decide which is taken."""
        if any(len(path) != len(targets) for path in paths):
            paths = [[transfer.join(self.lattice, path)] * len(targets) for path in paths]
        self.set_all(context, targets, [self.lattice.choice(found, roots) for found in zip(*paths, strict=True)], back)

    def put(self, context: Context, address: int, value: int, roots: int = 0, *, narrow: bool = False) -> None:
        """Store `value`; `roots` decide whether, beside what decides that the store is reached, and where it goes."""
        deciding = roots | context.deciding | self.lattice.places(address)
        self.memory.put(self.lattice.as_address(address), value, deciding, narrow=narrow)

    def looked_at(self, context: Context, values: Sequence[int]) -> int:
        """The roots of whose integer value some of `values` tell."""
        return self.lattice.looked_at(transfer.join(self.lattice, self.states(context, values)))

    @staticmethod
    def states(context: Context, values: Sequence[int]) -> list[int]:
        return [context.values[v] for v in values]

    def producer(self, context: Context, value: int) -> Op | None:
        """The op that yields `value`, None for arguments."""
        table = self._producers.get(id(context.function))
        if table is None:
            table = self._producers[id(context.function)] = {}
            _index(context.function.body, table)
        return table.get(value)

    def callee(self, op: Op) -> Function | None:
        """The function with a body that a `tt.call` names."""
        found = self._functions.get(op.attrs.get("callee", "").lstrip("@"))
        return found if found is not None and found.body.blocks else None


def _index(region: Region, table: dict[int, Op]) -> None:
    for block in region.blocks:
        for op in block.ops:
            for result in op.results:
                table[result] = op
            for inner in op.regions:
                _index(inner, table)
