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


class State:
    """The values of contexts and the contents of memory; `again` says that a further pass is needed."""

    def __init__(self, module: Module, lattice: Lattice, opaque: OpaqueReader) -> None:
        self.lattice = lattice
        self.memory = Memory(lattice)
        self.flow = ControlFlow()
        self.opaque = opaque
        self.again = False
        self._functions = module.functions
        self._producers: dict[int, dict[int, Op]] = {}

    def set(self, context: Context, value: int, state: int, back: bool = False) -> None:
        """Add `state` to what is known of an op's result; `back` when an earlier op has read it already."""
        width = context.widths[value]
        if width is not Width.FULL:
            state = 0 if width is Width.BIT else self.lattice.weaken(state)
        before = context.values[value]
        if state | before != before:
            context.values[value] = before | state
            self.again |= back

    def set_results(self, context: Context, op: Op, state: int) -> None:
        for result in op.results:
            self.set(context, result, state)

    def set_all(self, context: Context, targets: Sequence[int], states: Sequence[int], back: bool = False) -> None:
        """Join states into the values where paths meet, one by one, or all into each when the counts differ."""
        if len(targets) != len(states):
            states = [transfer.either(self.lattice, states)] * len(targets)
        for target, state in zip(targets, states, strict=True):
            before = context.values[target]
            self.set(context, target, self.lattice.either(before, state) if before else state, back)

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
