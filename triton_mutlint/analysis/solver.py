"""The fixpoint (docs/analysis.md, sections 3 to 5): which roots each SSA value may carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.constants import constant_behind
from triton_mutlint.analysis.contexts import Context, Contexts
from triton_mutlint.analysis.control import entry_block
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import OpaqueReader
from triton_mutlint.analysis.single import MIXING, PURE, REMAINDERS, SPLIT, SUBTRACT, SingleOps
from triton_mutlint.ttir.ir import Module, Op, Region
from triton_mutlint.ttir.ops import lookup

Handler = Callable[[Context, Op], None]


class Solver(SingleOps):
    """Runs passes over the entry function, and the functions it calls, until nothing changes."""

    def __init__(self, module: Module, lattice: Lattice, arguments: Sequence[int], opaque: OpaqueReader) -> None:
        super().__init__(module, lattice, opaque)
        self._contexts = Contexts(lattice)
        self._visited: set[int] = set()
        self.entry = self._contexts.get(module.entry(), tuple(arguments))
        self._handlers: dict[str, Handler] = {
            "scf.if": self._branches, "scf.index_switch": self._branches, "scf.execute_region": self._branches,
            "scf.for": self._for, "scf.while": self._while,
            "tt.reduce": self._combine, "tt.scan": self._combine, "tt.map_elementwise": self._map,
            "tt.call": self._call, "tt.return": self._return, SPLIT: self.split, SUBTRACT: self.subtract,
            "tt.elementwise_inline_asm": self.inline_asm, "tt.extern_elementwise": self.extern,
            **dict.fromkeys(REMAINDERS, self.remainder),
        }

    def solve(self) -> Context:
        """The entry context, with every context that it reaches at its fixpoint."""
        self.again = True
        while self.again:
            self.again = False
            self._visited.clear()
            version = self.memory.version
            self._visit(self.entry)
            self.again |= version != self.memory.version
        return self.entry

    def _visit(self, context: Context) -> None:
        self._visited.add(id(context))
        self.region(context, context.function.body)

    def region(self, context: Context, region: Region) -> None:
        values, addresses = context.values, self.lattice.addresses
        for index in self.flow.blocks(region):
            for op in region.blocks[index].ops:
                function = PURE.get(op.name)
                if function is None:
                    self._special(context, region, index, op)
                    continue
                operands = [values[v] for v in op.operands]
                if any(operands) and (state := function(self.lattice, operands)):  # of nothing comes nothing
                    if state & addresses and op.name in MIXING and not self.keeps_sign(context, op):
                        state = self.lattice.mixed(state)
                    for result in op.results:
                        self.set(context, result, state)

    def _special(self, context: Context, region: Region, index: int, op: Op) -> None:
        """An op whose results do not follow from its operands' values alone."""
        handler = self._handlers.get(op.name)
        if handler is not None:
            handler(context, op)
        elif op.successors:
            self._branch(context, region, index, op)
        else:
            info = lookup(op.name)
            if info is None:
                self.unknown(context, op)
            elif info.touches_memory:
                self.memory_op(context, op, info)

    def _branch(self, context: Context, region: Region, index: int, op: Op) -> None:
        for successor in op.successors:
            arguments = region.blocks[successor.block].args
            states = self.states(context, successor.operands)
            self.set_all(context, arguments, states, back=successor.block <= index)

    def leaving(self, context: Context, region: Region) -> list[list[int]]:
        return [self.states(context, op.operands) for op in self.flow.terminators(region)]

    def _branches(self, context: Context, op: Op) -> None:
        for region in op.regions:
            self.region(context, region)
            for states in self.leaving(context, region):
                self.set_all(context, op.results, states)

    def _for(self, context: Context, op: Op) -> None:
        body = op.regions[0]
        lower, _upper, step = self.states(context, op.operands[:3])
        initial = self.states(context, op.operands[3:])
        induction, *carried = body.blocks[0].args
        self.set(context, induction, lower | step)
        self.set_all(context, carried, initial)
        if not self._is_entered(context, op):
            self.set_all(context, op.results, initial)  # the zero-trip result
        self.region(context, body)
        for states in self.leaving(context, body):
            self.set_all(context, carried, states, back=True)
            self.set_all(context, op.results, states)

    def _is_entered(self, context: Context, op: Op) -> bool:
        """Whether a loop makes at least one trip, its bounds being constants (signed or not)."""
        lower, upper = (constant_behind(v, lambda v: self.producer(context, v)) for v in op.operands[:2])
        return lower is not None and upper is not None and 0 <= lower < upper

    def _while(self, context: Context, op: Op) -> None:
        before, after = op.regions
        carried = before.blocks[0].args
        self.set_all(context, carried, self.states(context, op.operands))
        self.region(context, before)
        for _condition, *states in self.leaving(context, before):
            self.set_all(context, after.blocks[0].args, states)
            self.set_all(context, op.results, states)
        self.region(context, after)
        for states in self.leaving(context, after):
            self.set_all(context, carried, states, back=True)

    def _combine(self, context: Context, op: Op) -> None:
        """A reduction or scan: its body sees operands and earlier results, in both argument halves."""
        states = self.states(context, op.operands)
        body = op.regions[0]
        arguments = body.blocks[0].args
        self.set_all(context, arguments, states * 2)
        self.set_all(context, op.results, states)  # one element is returned as it is
        self.region(context, body)
        for returned in self.leaving(context, body):
            self.set_all(context, op.results, returned)
            self.set_all(context, arguments, returned * 2, back=True)

    def _map(self, context: Context, op: Op) -> None:
        body = op.regions[0]
        self.set_all(context, body.blocks[0].args, self.states(context, op.operands))
        self.region(context, body)
        for returned in self.leaving(context, body):
            self.set_all(context, op.results, returned)

    def _call(self, context: Context, op: Op) -> None:
        callee = self.callee(op)
        if callee is None:
            self.unknown(context, op)
            return
        target = self._contexts.get(callee, tuple(self.states(context, op.operands)))
        context.calls[id(op), id(target)] = (op, target)
        if id(target) not in self._visited:
            self._visit(target)
        target.read = True
        self.set_all(context, op.results, target.returns or [0] * len(op.results))

    def _return(self, context: Context, op: Op) -> None:
        states = self.states(context, op.operands)
        before = list(context.returns)
        context.returns = [
            self.lattice.either(a, b) if a else b for a, b in zip(before or [0] * len(states), states, strict=True)]
        self.again |= context.read and context.returns != before

    def unknown(self, context: Context, op: Op) -> None:
        """Section 6: an op without a table row may pass on or store any operand."""
        state = self.lattice.mixed(transfer.join(self.lattice, self.states(context, op.operands)))
        for address in self.states(context, op.operands):
            if roots := self.lattice.reaching(address):
                self.memory.store(roots, state)
        state |= self.lattice.unknown
        for region in op.regions:
            block = entry_block(region)
            for argument in block.args if block else ():
                self.set(context, argument, state)
            self.region(context, region)
            for returned in self.leaving(context, region):
                state |= transfer.join(self.lattice, returned)
        self.set_results(context, op, state)
