"""The fixpoint (docs/analysis.md, sections 3 to 5): which roots each SSA value may carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.contexts import Context, Contexts
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import OpaqueReader
from triton_mutlint.analysis.printed import constant_behind
from triton_mutlint.analysis.single import SingleOps
from triton_mutlint.analysis.transfer import PURE
from triton_mutlint.ttir.ir import Module, Op, Region
from triton_mutlint.ttir.ops import lookup

Handler = Callable[[Context, Op], None]


class Solver(SingleOps):
    """Runs passes over the entry function, and the functions it calls, until nothing changes."""

    def __init__(self, module: Module, lattice: Lattice, arguments: Sequence[int], opaque: OpaqueReader) -> None:
        super().__init__(module, lattice, opaque)
        self._contexts = Contexts(lattice)
        self._visited: set[int] = set()
        self._descriptors: dict[tuple[int, int], int] = {}  # by context and the value that says where it lies
        self.entry = self._contexts.get(module.entry(), tuple(arguments))
        self._handlers: dict[str, Handler] = {
            "scf.if": self._branches, "scf.execute_region": self._branches,
            "scf.for": self._for, "scf.while": self._while,
            "tt.reduce": self._combine, "tt.scan": self._combine, "tt.map_elementwise": self._map,
            "ttg.warp_specialize": self._partitions, "ttng.tensormap_create": self._tensormap,
            "ttng.reinterpret_tensor_descriptor": self._descriptor,
            "tt.call": self._call, "tt.split": self.split, "tt.addptr": self.displace,
            "tt.elementwise_inline_asm": self.inline_asm, "tt.extern_elementwise": self.extern,
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
        before = context.returns
        paths = [states for states in self.leaving(context, context.function.body) if states]
        context.returns = [self.lattice.choice(found, context.jumped) for found in zip(*paths, strict=True)]
        self.again |= context.read and context.returns != before

    def region(self, context: Context, region: Region, roots: int = 0) -> None:
        """The ops of a region that is entered as `roots` decide."""
        outside = context.inside
        context.inside |= roots
        for index in region.reachable:
            for op in region.blocks[index].ops:
                function = PURE.get(op.name)
                if function is not None:
                    self.pure(context, op, function)
                else:
                    self._special(context, region, index, op)
        context.inside = outside

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
        if len(op.successors) > 1:
            roots = context.jumped | self.looked_at(context, op.operands[:1])
            self.again |= roots != context.jumped
            context.jumped = roots
        for successor in op.successors:
            paths = [self.states(context, successor.operands)] * 2
            arguments = region.blocks[successor.block].args
            self.merge(context, arguments, paths, context.jumped, back=successor.block <= index)

    def leaving(self, context: Context, region: Region) -> list[list[int]]:
        return [self.states(context, op.operands) for op in region.exits]

    def _branches(self, context: Context, op: Op) -> None:
        roots = self.looked_at(context, op.operands[:1])
        for region in op.regions:
            self.region(context, region, roots)
        paths = [states for region in op.regions for states in self.leaving(context, region)]
        self.merge(context, op.results, paths, roots)

    def _for(self, context: Context, op: Op) -> None:
        body = op.regions[0]
        lower, _upper, step = self.states(context, op.operands[:3])
        roots = self.looked_at(context, op.operands[:3])
        initial = self.states(context, op.operands[3:])
        induction, *carried = body.args
        start = self.lattice.sum(lower, self.lattice.scaled(step))
        self.set(context, induction, self.lattice.choice([start] * 2, roots))
        self.set_all(context, carried, initial)
        self.region(context, body, roots)
        yielded = self.leaving(context, body)
        self.merge(context, carried, [initial, *yielded * 2], roots, back=True)
        skipped = [] if self._is_entered(context, op) else [initial]  # the zero-trip result
        self.merge(context, op.results, [*skipped, *yielded * 2], roots)

    def _is_entered(self, context: Context, op: Op) -> bool:
        """Whether a loop makes at least one trip, its bounds being constants (signed or not)."""
        lower, upper = (constant_behind(v, context.function.producers.get) for v in op.operands[:2])
        return lower is not None and upper is not None and 0 <= lower < upper

    def _while(self, context: Context, op: Op) -> None:
        before, after = op.regions
        carried = before.args
        initial = self.states(context, op.operands)
        self.set_all(context, carried, initial)
        roots = self.looked_at(context, [o.operands[0] for o in before.exits])
        self.region(context, before, roots)
        ended = self.looked_at(context, [o.operands[0] for o in before.exits])
        self.again |= ended != roots
        going = [states for _condition, *states in self.leaving(context, before)]
        self.merge(context, after.args, going * 2, ended)
        self.merge(context, op.results, going * 2, ended)
        self.region(context, after, ended)
        self.merge(context, carried, [initial, *self.leaving(context, after)], ended, back=True)

    def _combine(self, context: Context, op: Op) -> None:
        """A reduction or scan: its body sees operands and earlier results, in both argument halves."""
        states = self.states(context, op.operands)
        body = op.regions[0]
        arguments = body.args
        self.set_all(context, arguments, states * 2)
        self.set_all(context, op.results, states)  # one element is returned as it is
        self.region(context, body)
        for returned in self.leaving(context, body):
            self.set_all(context, op.results, returned)
            self.set_all(context, arguments, returned * 2, back=True)

    def _map(self, context: Context, op: Op) -> None:
        """Section 3.8: of each operand the body sees several elements side by side; so it returns them."""
        body = op.regions[0]
        arguments = body.args
        pack = len(arguments) // len(op.operands) if op.operands else 1
        self.set_all(context, arguments, [state for state in self.states(context, op.operands) for _ in range(pack)])
        self.region(context, body)
        elements = [[transfer.join(self.lattice, states[i : i + pack]) for i in range(0, len(states), pack)]
                    for states in self.leaving(context, body)]
        self.merge(context, op.results, elements, 0)

    def _call(self, context: Context, op: Op) -> None:
        callee = self.callee(op)
        if callee is None:
            self.unknown(context, op)
            return
        target = self._contexts.get(callee, tuple(self.states(context, op.operands)))
        context.calls[id(op), id(target)] = (op, target)
        if context.deciding & ~target.called:
            target.called |= context.deciding
            self.again = True
        if id(target) not in self._visited:
            self._visit(target)
        target.read = True
        self.set_all(context, op.results, target.returns or [0] * len(op.results))

    def _partitions(self, context: Context, op: Op) -> None:
        """Warps that run the first region, and others that run one of the rest with the op's operands."""
        for region in op.regions:
            if region.args:
                self.set_all(context, region.args, self.states(context, op.operands))
            self.region(context, region)
            for yielded in self.leaving(context, region):
                self.set_all(context, op.results, yielded)

    def _tensormap(self, context: Context, op: Op) -> None:
        """The memory of the first operand becomes a descriptor of the second."""
        place, base = op.operands[:2]
        self.put(context, context.values[place], context.values[base])
        key = id(context), place
        before = self._descriptors.get(key, 0)
        self._descriptors[key] = before | context.values[base]
        self.again |= before != self._descriptors[key]

    def _descriptor(self, context: Context, op: Op) -> None:
        """A descriptor that lies in memory: of what has been put there, or of the memory itself."""
        place = op.operands[0]
        self.set_results(context, op, context.values[place] | self._descriptors.get((id(context), place), 0))

    def unknown(self, context: Context, op: Op) -> None:
        """Section 6: an op without a table row may pass on or store any operand."""
        operands = self.states(context, op.operands)
        state = self.lattice.mixed(transfer.join(self.lattice, operands))
        for address in operands:
            self.memory.put(self.lattice.reaching(address), state, context.deciding)
        state |= self.lattice.address(self.lattice.unknown)
        for region in op.regions:
            for argument in region.args:
                self.set(context, argument, state)
            self.region(context, region)
            for returned in self.leaving(context, region):
                state |= transfer.join(self.lattice, returned)
        self.set_results(context, op, state)
