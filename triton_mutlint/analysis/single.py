"""What a solver knows so far, and what ops without regions put into their results and into memory.

The definition is docs/analysis.md, sections 3, 4 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.contexts import Context
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import OpaqueReader
from triton_mutlint.analysis.printed import Width, constant_behind, pointee_bits
from triton_mutlint.analysis.values import bits
from triton_mutlint.ttir.asm_steps import AsmAccess, AsmValue
from triton_mutlint.ttir.ir import Function, Module, Op
from triton_mutlint.ttir.ops import Flow, OpInfo

_BYTE = 8


class SingleOps:
    """The values of contexts and the contents of memory, and what single ops add to them.

    `again` says that a further pass is needed.
    """

    def __init__(self, module: Module, lattice: Lattice, opaque: OpaqueReader) -> None:
        self.lattice = lattice
        self.memory = Memory(lattice)
        self.opaque = opaque
        self.again = False
        self._fitted: dict[Width, dict[int, int]] = {Width.BIT: {}, Width.NARROW: {}}
        self._results: dict[tuple[transfer.Transfer, tuple[int, ...]], int] = {}
        self._functions = module.functions

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

    def callee(self, op: Op) -> Function | None:
        """The function with a body that a `tt.call` names."""
        found = self._functions.get(op.attrs.get("callee", "").lstrip("@"))
        return found if found is not None and found.body.blocks else None

    # ------------------------------------------------------------------ ops

    def unknown(self, context: Context, op: Op) -> None:
        """An op that is not understood; it may have regions."""
        raise NotImplementedError

    def pure(self, context: Context, op: Op, function: transfer.Transfer) -> None:
        """An op whose result follows from the values of its operands, and from a constant among them."""
        operands = tuple([context.values[v] for v in op.operands])
        by_constant = transfer.BY_CONSTANT.get(op.name)
        if by_constant is not None and (found := self._beside_constant(context, op)) is not None:
            index, number = found
            state = by_constant(self.lattice, operands[index], number)
        else:
            key = (function, operands)
            known = self._results.get(key)
            state = known if known is not None else self._results.setdefault(key, function(self.lattice, operands))
        for result in op.results:
            self.set(context, result, state)

    def _beside_constant(self, context: Context, op: Op) -> tuple[int, int] | None:
        """Which of two operands is no constant, and the other's number."""
        for index, other in ((0, 1), (1, 0))[: 2 if op.name in transfer.EXCHANGEABLE else 1]:
            if context.values[op.operands[other]] == self.lattice.number:
                number = constant_behind(op.operands[other], context.function.producers.get)
                if number is not None:
                    return index, number
        return None

    def displace(self, context: Context, op: Op) -> None:
        """Section 3.9: an offset that is a whole number of elements, or narrow, is no address."""
        base, offset = op.operands
        size = (pointee_bits(context.function.types[base]) or 0) // _BYTE
        narrow = context.widths[offset] is not Width.FULL
        state = self.lattice.displaced(context.values[base], context.values[offset], size=size, narrow=narrow)
        self.set_results(context, op, state)

    def memory_op(self, context: Context, op: Op, info: OpInfo) -> None:
        operands = self.states(context, op.operands)
        lattice, count = self.lattice, len(operands)
        for index in info.changes:
            if index < count:
                others = [v for i, v in enumerate(op.operands) if i != index]
                masks = [v for v in others if context.widths[v] is Width.BIT]
                stored = [v for v in others if v not in masks]
                narrow = all(context.widths[v] is not Width.FULL for v in stored)
                value = transfer.join(lattice, self.states(context, stored)) | (self.memory.parked if info.takes else 0)
                if op.attrs.get("rmw_op") in ("add", "xor"):
                    value = self._combined(op, value, self.memory.load(operands[index]))
                self.put(context, operands[index], value, self.looked_at(context, masks), narrow=narrow)
        parked = [operands[index] for index in info.parks if index < count]
        parked += [self.memory.load(operands[index]) for index in info.fetches] if info.flow is Flow.PARKED else []
        if parked:
            value = transfer.join(lattice, parked)
            value = lattice.mixed(value | self.memory.parked) if info.takes else value  # updated where it lies
            self.memory.park(lattice.seeing(value, context.deciding))
        if not op.results:
            return
        if info.flow is Flow.PARKED:
            self.set_results(context, op, lattice.number)
            return
        state = self.memory.parked | (lattice.mixed(transfer.join(lattice, operands)) if operands else 0) \
            if info.takes else 0 if info.fetches else lattice.number
        for index in info.fetches:
            if index < count:
                state |= self.memory.load(operands[index], narrow=context.widths[op.results[0]] is not Width.FULL)
        others = operands[2:] if info.flow is Flow.MASKED else []
        if others:
            state = lattice.choice([state, *others], self.looked_at(context, op.operands[1:]))
        self.set_results(context, op, state)

    def _combined(self, op: Op, value: int, before: int) -> int:
        """What arithmetic in memory leaves there."""
        if op.attrs["rmw_op"] == "add":
            return value | self.lattice.sum(before, value)
        return self.lattice.mixed(before | value)

    def split(self, context: Context, op: Op) -> None:
        """Section 3.8: the halves of a join are told apart again."""
        joined = context.function.producers.get(op.operands[0])
        source = joined if joined is not None and joined.name == "tt.join" else op
        self.set_all(context, op.results, self.states(context, source.operands))

    def inline_asm(self, context: Context, op: Op) -> None:
        reading = self.opaque.asm(op, context.function.types)
        if not reading.understood:
            self.unknown(context, op)
            return
        operands = self.states(context, op.operands)
        for access in reading.accesses:
            if access.kind != "reads":
                self.put(context, self.address_in_asm(context, op, access), self._in_asm(operands, access.stored))
        self.memory.park(self.lattice.seeing(self._in_asm(operands, reading.parked), context.deciding))
        results = [self._in_asm(operands, value) for value in reading.results]
        self.set_all(context, op.results, results)

    def _in_asm(self, operands: list[int], value: AsmValue) -> int:
        """What a register of inline asm may hold: some function of its origins."""
        found = self.memory.parked if value.shared else 0
        for index in sorted(value.loaded):
            found |= self.memory.load(operands[index])
        for index in sorted(value.words):
            found |= self.lattice.narrowed(self.memory.load(operands[index], narrow=True))
        moved = self.lattice.computed([operands[i] for i in sorted(value.operands)])
        if not found and self.lattice.is_constant(moved):
            roots = self.lattice.looked_at(transfer.join(self.lattice, operands))
            return self.lattice.seeing(self.lattice.number, roots)
        return moved | self.lattice.mixed(found)

    def address_in_asm(self, context: Context, op: Op, access: AsmAccess) -> int:
        """Where an instruction of inline asm accesses memory."""
        return self.lattice.computed([context.values[op.operands[i]] for i in sorted(access.operands)])

    def extern(self, context: Context, op: Op) -> None:
        if not self.opaque.is_pure(op):
            self.unknown(context, op)
            return
        self.set_results(context, op, self.lattice.computed(self.states(context, op.operands)))


class Memory:
    """One cell per parameter, one for all other memory, and one for the shared memory of inline asm."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._cells = [0] * (lattice.n + 1)
        self._deciding = [0] * (lattice.n + 1)  # by cell, the roots that decide about narrow numbers in it
        self.parked = 0
        self.version = 0  # grows with every change

    def put(self, roots: int, value: int, deciding: int, *, narrow: bool = False) -> None:
        """Store `value` through one of these roots, or where none leads, as `deciding` ones decide."""
        kept = self._lattice.kept(value if narrow else self._lattice.seeing(value, deciding), narrow=narrow)
        held = deciding & self._lattice.params if narrow else 0
        for cell in self._reached(roots):
            if kept & ~self._cells[cell] or held & ~self._deciding[cell]:
                self._cells[cell] |= kept
                self._deciding[cell] |= held
                self.version += 1

    def load(self, address: int, *, narrow: bool = False) -> int:
        """What a load from where `address` leads may yield."""
        lattice = self._lattice
        roots, anywhere = lattice.as_address(address), bool(lattice.made_of(address))
        found = self.held(roots, anywhere)
        for cell in self._readable(roots, anywhere) if narrow else ():
            found = lattice.seeing(found, self._deciding[cell])
        return lattice.seeing(found, lattice.places(address))

    def held(self, roots: int, anywhere: bool = False) -> int:
        """What may be where one of these roots leads, or where an address leads that may lead `anywhere`."""
        indirect = self._lattice.loaded_from(roots)
        found = self._lattice.address(indirect) if indirect else self._lattice.number
        for cell in self._readable(roots, anywhere):
            found |= self._cells[cell]
        return found

    def park(self, value: int) -> None:
        """Put `value` into shared memory."""
        if value & ~self.parked:
            self.parked |= value
            self.version += 1

    def _readable(self, roots: int, anywhere: bool) -> list[int]:
        """The cells that a load through one of these roots may read."""
        if anywhere or roots & self._lattice.unknown:
            return list(range(self._lattice.n + 1))
        return [*bits(roots & self._lattice.params), self._lattice.n]

    def _reached(self, roots: int) -> list[int]:
        """The cells that an address with one of these roots may lead to."""
        params = roots & self._lattice.params
        elsewhere = [self._lattice.n] if roots != params or not roots else []
        return [*bits(params), *elsewhere]
