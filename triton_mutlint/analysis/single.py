"""Ops without regions (docs/analysis.md, sections 3, 4 and 6): what they put into their results and into memory."""

from __future__ import annotations

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.constants import SAME_VALUE, constant_behind
from triton_mutlint.analysis.contexts import Context
from triton_mutlint.analysis.state import State
from triton_mutlint.ttir.ir import Op
from triton_mutlint.ttir.ops import Flow, OpInfo, rows

REMAINDERS = ("arith.andi", "arith.remui", "arith.remsi")
INDEX_LIMIT = 4096
MAX_STEPS = 32  # back from a value to what makes it
SPLIT = "tt.split"
SUBTRACT = "arith.subi"
_SAME_ADDRESS = (*SAME_VALUE, "tt.unsplat")
# What keeps the sign of an address or a difference: by a constant factor, the second operand or any, or always.
_BY_SECOND = ("arith.divsi", "arith.divui", "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi", "arith.shli",
              "arith.shrsi", "arith.shrui")
_BY_ANY = ("arith.muli", "arith.xori")
_ALWAYS = """
    tt.bitcast tt.broadcast tt.cat tt.expand_dims tt.fp_to_fp tt.int_to_ptr tt.join tt.ptr_to_int tt.reshape tt.splat
    tt.trans tt.unsplat arith.addf arith.addi arith.bitcast arith.convertf arith.extf arith.extsi arith.extui
    arith.fptosi arith.fptoui arith.index_cast arith.index_castui arith.maximumf arith.maxnumf arith.maxsi arith.maxui
    arith.minimumf arith.minnumf arith.minsi arith.minui arith.ori arith.sitofp arith.truncf arith.trunci arith.uitofp
    builtin.unrealized_conversion_cast
"""
BY_OP: dict[str, transfer.Transfer] = {
    **dict.fromkeys(("arith.addi", "arith.addf"), transfer.addi),
    **dict.fromkeys(("arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui", "tt.join", "tt.cat"), transfer.either),
    "arith.muli": transfer.muli,
    "arith.ori": transfer.blend,
    "arith.xori": transfer.blend,
    "tt.int_to_ptr": transfer.int_to_ptr,
}
BY_FLOW: dict[Flow, transfer.Transfer] = {
    Flow.ALL: transfer.join,
    Flow.NONE: transfer.nothing,
    Flow.FIRST: transfer.first,
    Flow.POINTER_BASE: transfer.addptr,
    Flow.SELECT: transfer.select,
}


def _pure(info: OpInfo) -> transfer.Transfer | None:
    """The transfer function of an op that needs nothing but its operands' values."""
    if info.touches_memory or info.name in (*REMAINDERS, SPLIT, SUBTRACT):
        return None
    return BY_OP.get(info.name) or BY_FLOW.get(info.flow)


PURE = {info.name: function for info in rows() if (function := _pure(info)) is not None}
MIXING = frozenset(i.name for i in rows() if i.name in PURE and i.flow is Flow.ALL) - frozenset(_ALWAYS.split())


class SingleOps(State):
    """The ops that need more than a transfer function of their operands' values."""

    def unknown(self, context: Context, op: Op) -> None:
        """An op that is not understood; it may have regions."""
        raise NotImplementedError

    def remainder(self, context: Context, op: Op) -> None:
        operands = self.states(context, op.operands)
        state = transfer.join(self.lattice, operands)
        if state & self.lattice.addresses:
            limit = self._constant(context, op.operands[1])
            if limit is None:
                state = self.lattice.mixed(state)
            elif operands[0] & self.lattice.params and 0 <= limit < INDEX_LIMIT:
                state = transfer.low_bits(self.lattice, operands)
        self.set_results(context, op, state)

    def keeps_sign(self, context: Context, op: Op) -> bool:
        """Section 3.1: whether one of the `MIXING` ops leaves an address or a difference what it is, sign and all."""
        factors = op.operands if op.name in _BY_ANY else op.operands[1:] if op.name in _BY_SECOND else ()
        constants = [self._constant(context, v) for v in factors]
        return any(c is not None and c >= 0 for c in constants)

    def _constant(self, context: Context, value: int) -> int | None:
        return constant_behind(value, lambda v: self.producer(context, v))

    def subtract(self, context: Context, op: Op) -> None:
        operands = self.states(context, op.operands)
        number = bool(operands[1] & self.lattice.params) and not self._is_address(context, op.operands[1], MAX_STEPS)
        self.set_results(context, op, transfer.subi(self.lattice, operands, number))

    def _is_address(self, context: Context, value: int, steps: int) -> bool:
        """Whether a value is an address on every path, for what the ops that make it say."""
        made = self.producer(context, value)
        if made is None or not steps:
            return False
        if made.name == "tt.ptr_to_int":
            return True
        if made.name in _SAME_ADDRESS:
            return self._is_address(context, made.operands[0], steps - 1)
        if made.name == "arith.select":
            return all(self._is_address(context, v, steps - 1) for v in made.operands[1:])
        if made.name in ("arith.addi", "arith.subi"):
            one, other = made.operands
            plain = not context.values[other] & self.lattice.params
            return plain and self._is_address(context, one, steps - 1)
        return False

    def memory_op(self, context: Context, op: Op, info: OpInfo) -> None:
        operands = self.states(context, op.operands)
        lattice, count = self.lattice, len(operands)
        for index in info.changes:
            if index < count:
                value = transfer.join(lattice, operands[:index] + operands[index + 1 :])
                address = lattice.as_address(operands[index])
                if op.attrs.get("rmw_op") in ("add", "xor"):
                    value = self._combined(op, value, self.memory.load(address))
                self.memory.store(address, value)
        state = 0
        if op.results:
            for index in info.fetches:
                if index < count:
                    state |= self.memory.load(lattice.as_address(operands[index]))
            if op.name == "tt.load" and count > 2:
                state = lattice.either(state, operands[2])  # `other`: what masked lanes yield
        self.set_results(context, op, state)

    def _combined(self, op: Op, value: int, before: int) -> int:
        """What arithmetic in memory leaves there."""
        if op.attrs["rmw_op"] == "add":
            return transfer.addi(self.lattice, (before, value))
        return self.lattice.mixed(before | value)

    def split(self, context: Context, op: Op) -> None:
        """Section 3.8: the halves of a join are told apart again."""
        joined = self.producer(context, op.operands[0])
        if joined is not None and joined.name == "tt.join":
            self.set_all(context, op.results, self.states(context, joined.operands))
        else:
            self.set_all(context, op.results, self.states(context, op.operands))

    def inline_asm(self, context: Context, op: Op) -> None:
        reading = self.opaque.asm(op, context.function.types)
        operands = self.states(context, op.operands)
        if not reading.understood:
            self.unknown(context, op)
            return
        everything = self.lattice.mixed(transfer.join(self.lattice, operands))
        for index in reading.writes | reading.atomics:
            self.memory.store(self.lattice.as_address(operands[index]), everything)
        state = transfer.either(self.lattice, [operands[i] for i in reading.result_flows])
        for index in reading.reads | reading.atomics:
            state = self.lattice.either(state, self.memory.load(self.lattice.as_address(operands[index])))
        self.set_results(context, op, self.lattice.mixed(state))

    def extern(self, context: Context, op: Op) -> None:
        if not self.opaque.is_pure(op):
            self.unknown(context, op)
            return
        state = transfer.either(self.lattice, self.states(context, op.operands))
        self.set_results(context, op, self.lattice.mixed(state))
