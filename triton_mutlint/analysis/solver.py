"""The fixpoint (docs/analysis.md, sections 3 to 5): which roots each SSA value may carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.constants import SAME_VALUE, integer_constant
from triton_mutlint.analysis.contexts import Context, Contexts
from triton_mutlint.analysis.control import ControlFlow, entry_block
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.memory import Memory
from triton_mutlint.analysis.opaque import OpaqueReader
from triton_mutlint.analysis.widths import Width
from triton_mutlint.ttir.ir import Function, Module, Op, Region
from triton_mutlint.ttir.ops import Flow, OpInfo, lookup

Handler = Callable[[Context, Op], None]

REMAINDERS = ("arith.andi", "arith.remui", "arith.remsi")
INDEX_LIMIT = 4096
BY_OP: dict[str, transfer.Transfer] = {
    "arith.addi": transfer.addi,
    "arith.subi": transfer.subi,
    "arith.muli": transfer.muli,
    "tt.int_to_ptr": transfer.int_to_ptr,
}
BY_FLOW: dict[Flow, transfer.Transfer] = {
    Flow.ALL: transfer.join,
    Flow.NONE: transfer.nothing,
    Flow.FIRST: transfer.first,
    Flow.POINTER_BASE: transfer.addptr,
    Flow.SELECT: transfer.select,
}


class Solver:
    """Runs passes over the entry function, and the functions it calls, until nothing changes."""

    def __init__(self, module: Module, lattice: Lattice, arguments: Sequence[int], opaque: OpaqueReader) -> None:
        self.lattice = lattice
        self.memory = Memory(lattice)
        self.flow = ControlFlow()
        self._opaque = opaque
        self._functions = module.functions
        self._contexts = Contexts()
        self._producers: dict[int, dict[int, Op]] = {}
        self._visited: set[int] = set()
        self._again = False
        self.entry = self._contexts.get(module.entry(), tuple(arguments))
        self._handlers: dict[str, Handler] = {
            "scf.if": self._branches, "scf.index_switch": self._branches, "scf.execute_region": self._branches,
            "scf.for": self._for, "scf.while": self._while,
            "tt.reduce": self._combine, "tt.scan": self._combine, "tt.map_elementwise": self._map,
            "tt.call": self._call, "tt.return": self._return, "tt.split": self._split,
            "tt.elementwise_inline_asm": self._inline_asm, "tt.extern_elementwise": self._extern,
        }

    def solve(self) -> Context:
        """The entry context, with every context that it reaches at its fixpoint."""
        self._again = True
        while self._again:
            self._again = False
            self._visited.clear()
            version = self.memory.version
            self._visit(self.entry)
            self._again |= version != self.memory.version
        return self.entry

    # ------------------------------------------------------------------ state

    def _visit(self, context: Context) -> None:
        self._visited.add(id(context))
        self._region(context, context.function.body)

    def _set(self, context: Context, value: int, state: int, back: bool = False) -> None:
        """Join `state` into a value; `back` when an earlier op has read the value already."""
        width = context.widths[value]
        if width is not Width.FULL:
            state = 0 if width is Width.BIT else self.lattice.weaken(state)
        before = context.values[value]
        if state | before != before:
            context.values[value] = before | state
            self._again |= back

    def _set_all(self, context: Context, targets: Sequence[int], states: Sequence[int], back: bool = False) -> None:
        """Join states into targets one by one, or all into each when the counts differ."""
        if len(targets) != len(states):
            states = [transfer.join(self.lattice, states)] * len(targets)
        for target, state in zip(targets, states, strict=True):
            self._set(context, target, state, back)

    @staticmethod
    def states(context: Context, values: Sequence[int]) -> list[int]:
        return [context.values[v] for v in values]

    # ------------------------------------------------------------------ structure

    def _region(self, context: Context, region: Region) -> None:
        for index in self.flow.blocks(region):
            for op in region.blocks[index].ops:
                handler = self._handlers.get(op.name)
                if handler is not None:
                    handler(context, op)
                elif op.successors:
                    self._branch(context, region, index, op)
                else:
                    self._plain(context, op)

    def _branch(self, context: Context, region: Region, index: int, op: Op) -> None:
        for successor in op.successors:
            arguments = region.blocks[successor.block].args
            states = self.states(context, successor.operands)
            self._set_all(context, arguments, states, back=successor.block <= index)

    def _leaving(self, context: Context, region: Region) -> list[list[int]]:
        return [self.states(context, op.operands) for op in self.flow.terminators(region)]

    def _branches(self, context: Context, op: Op) -> None:
        for region in op.regions:
            self._region(context, region)
            for states in self._leaving(context, region):
                self._set_all(context, op.results, states)

    def _for(self, context: Context, op: Op) -> None:
        body = op.regions[0]
        lower, _upper, step = self.states(context, op.operands[:3])
        initial = self.states(context, op.operands[3:])
        induction, *carried = body.blocks[0].args
        self._set(context, induction, lower | step)
        self._set_all(context, carried, initial)
        self._set_all(context, op.results, initial)  # the zero-trip result
        self._region(context, body)
        for states in self._leaving(context, body):
            self._set_all(context, carried, states, back=True)
            self._set_all(context, op.results, states)

    def _while(self, context: Context, op: Op) -> None:
        before, after = op.regions
        carried = before.blocks[0].args
        self._set_all(context, carried, self.states(context, op.operands))
        self._region(context, before)
        for _condition, *states in self._leaving(context, before):
            self._set_all(context, after.blocks[0].args, states)
            self._set_all(context, op.results, states)
        self._region(context, after)
        for states in self._leaving(context, after):
            self._set_all(context, carried, states, back=True)

    def _combine(self, context: Context, op: Op) -> None:
        """A reduction or scan: its body sees operands and earlier results, in both argument halves."""
        states = self.states(context, op.operands)
        body = op.regions[0]
        arguments = body.blocks[0].args
        self._set_all(context, arguments, states * 2)
        self._set_all(context, op.results, states)  # one element is returned as it is
        self._region(context, body)
        for returned in self._leaving(context, body):
            self._set_all(context, op.results, returned)
            self._set_all(context, arguments, returned * 2, back=True)

    def _map(self, context: Context, op: Op) -> None:
        body = op.regions[0]
        self._set_all(context, body.blocks[0].args, self.states(context, op.operands))
        self._region(context, body)
        for returned in self._leaving(context, body):
            self._set_all(context, op.results, returned)

    def callee(self, op: Op) -> Function | None:
        """The function with a body that a `tt.call` names."""
        found = self._functions.get(op.attrs.get("callee", "").lstrip("@"))
        return found if found is not None and found.body.blocks else None

    def _call(self, context: Context, op: Op) -> None:
        callee = self.callee(op)
        if callee is None:
            self._unknown(context, op)
            return
        target = self._contexts.get(callee, tuple(self.states(context, op.operands)))
        context.calls[id(op), id(target)] = (op, target)
        if id(target) not in self._visited:
            self._visit(target)
        target.read = True
        self._set_all(context, op.results, target.returns or [0] * len(op.results))

    def _return(self, context: Context, op: Op) -> None:
        states = self.states(context, op.operands)
        before = list(context.returns)
        context.returns = [a | b for a, b in zip(before or [0] * len(states), states, strict=True)]
        self._again |= context.read and context.returns != before

    # ------------------------------------------------------------------ single ops

    def _plain(self, context: Context, op: Op) -> None:
        info = lookup(op.name)
        if info is None:
            self._unknown(context, op)
        elif info.touches_memory:
            self._memory_op(context, op, info)
        elif op.results:
            function = BY_OP.get(op.name) or BY_FLOW[info.flow]
            if op.name in REMAINDERS and context.values[op.operands[0]] & self.lattice.params and \
                    self._is_index(context, op):
                function = transfer.low_bits
            state = function(self.lattice, self.states(context, op.operands))
            for result in op.results:
                self._set(context, result, state)

    def _is_index(self, context: Context, op: Op) -> bool:
        """Whether a constant bounds the result of a remainder or mask by a page."""
        made = self.producer(context, op.operands[1])
        while made is not None and made.name in SAME_VALUE:
            made = self.producer(context, made.operands[0])
        value = integer_constant(made) if made is not None else None
        return value is not None and 0 <= value < INDEX_LIMIT

    def _memory_op(self, context: Context, op: Op, info: OpInfo) -> None:
        operands = self.states(context, op.operands)
        changed = {*info.writes, *info.atomics}
        for index in changed & set(range(len(operands))):
            value = transfer.join(self.lattice, [v for i, v in enumerate(operands) if i != index])
            self.memory.store(self.lattice.as_address(operands[index]), value)
        if not op.results:
            return
        state = 0
        for index in {*info.reads, *info.atomics} & set(range(len(operands))):
            state |= self.memory.load(self.lattice.as_address(operands[index]))
        if op.name == "tt.load" and len(operands) > 2:
            state |= operands[2]  # `other`: what masked lanes yield
        for result in op.results:
            self._set(context, result, state)

    def _unknown(self, context: Context, op: Op) -> None:
        """Section 6: an op without a table row may pass on or store any operand."""
        state = transfer.join(self.lattice, self.states(context, op.operands))
        for address in self.states(context, op.operands):
            if roots := self.lattice.reaching(address):
                self.memory.store(roots, state)
        state |= self.lattice.unknown
        for region in op.regions:
            block = entry_block(region)
            for argument in block.args if block else ():
                self._set(context, argument, state)
            self._region(context, region)
            for returned in self._leaving(context, region):
                state |= transfer.join(self.lattice, returned)
        for result in op.results:
            self._set(context, result, state)

    def _split(self, context: Context, op: Op) -> None:
        """Section 3.8: the halves of a join are told apart again."""
        joined = self.producer(context, op.operands[0])
        if joined is not None and joined.name == "tt.join":
            self._set_all(context, op.results, self.states(context, joined.operands))
        else:
            self._set_all(context, op.results, self.states(context, op.operands))

    def producer(self, context: Context, value: int) -> Op | None:
        """The op that yields `value`, None for arguments."""
        table = self._producers.get(id(context.function))
        if table is None:
            table = self._producers[id(context.function)] = {}
            _index(context.function.body, table)
        return table.get(value)

    def _inline_asm(self, context: Context, op: Op) -> None:
        reading = self._opaque.asm(op, context.function.types)
        operands = self.states(context, op.operands)
        if not reading.understood:
            self._unknown(context, op)
            return
        everything = transfer.join(self.lattice, operands)
        for index in reading.writes | reading.atomics:
            self.memory.store(self.lattice.as_address(operands[index]), everything)
        state = transfer.join(self.lattice, [operands[i] for i in reading.result_flows])
        for index in reading.reads | reading.atomics:
            state |= self.memory.load(self.lattice.as_address(operands[index]))
        for result in op.results:
            self._set(context, result, state)

    def _extern(self, context: Context, op: Op) -> None:
        if not self._opaque.is_pure(op):
            self._unknown(context, op)
            return
        state = transfer.join(self.lattice, self.states(context, op.operands))
        for result in op.results:
            self._set(context, result, state)


def _index(region: Region, table: dict[int, Op]) -> None:
    for block in region.blocks:
        for op in block.ops:
            for result in op.results:
                table[result] = op
            for inner in op.regions:
                _index(inner, table)
