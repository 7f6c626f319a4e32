"""Transfer functions of ops without memory effects (docs/analysis.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.ttir.ops import Flow, OpInfo, rows

Transfer = Callable[[Lattice, Sequence[int]], int]
ByConstant = Callable[[Lattice, int, int], int]  # of a value, and of the constant beside it

SMALL_BITS = 12  # a value of so few bits is an index
_ADDRESS_BITS = 64


def join(_: Lattice, operands: Sequence[int]) -> int:
    """Section 3.1: a result may be any of the operands."""
    result = 0
    for operand in operands:
        result |= operand
    return result


def compute(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.5: a result is some function of the operands."""
    return lattice.mixed(join(lattice, operands))


def compare(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.2: a comparison decides, it does not carry."""
    return lattice.flag(join(lattice, operands))


def number(lattice: Lattice, _: Sequence[int]) -> int:
    """Section 3.1: what depends on no argument."""
    return lattice.number


def add(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.3."""
    return lattice.sum(operands[0], operands[1])


def subtract(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.3."""
    return lattice.sum(operands[0], lattice.negative(operands[1]))


def multiply(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.6: an address times a number is that address, nothing, or some multiple."""
    addresses = [operand for operand in operands if lattice.is_address(operand)]
    return lattice.product(compute(lattice, addresses if len(addresses) == 1 else operands))


def unite(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.4: bits of the one and of the other; those of one address may cancel or complete each other."""
    one, other = (lattice.scaled(operand) for operand in operands[:2])
    united = lattice.sum(one, other)
    return united | lattice.mixed(united) if one & other & lattice.params else united


def exclude(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.4: bits that differ; of two addresses that are no parameters', one may be subtracted."""
    united = unite(lattice, operands)
    one, other = (lattice.reaching(operand) & lattice.others for operand in operands[:2])
    if not one or not other or one == other == one & lattice.integers:  # an integer is one number, and cancels
        return united
    return united | lattice.sum(operands[0], lattice.negative(operands[1]))


def first(_: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: a descriptor or block pointer is its base."""
    return operands[0]


def gather(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: an element of the first operand, chosen by the second."""
    return lattice.choice([operands[0]] * 2, lattice.looked_at(operands[1]))


def select(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: the condition is control, not provenance."""
    condition, one, other = operands
    return lattice.choice([one, other], lattice.looked_at(condition))


# ---------------------------------------------------------------------- by a constant (sections 3.4 and 3.7)


def scale(lattice: Lattice, value: int, _: int) -> int:
    return lattice.scaled(value)


def shift_right(lattice: Lattice, value: int, by: int) -> int:
    return lattice.piece(value) if _ADDRESS_BITS - by <= SMALL_BITS else lattice.divided(value, 1 << by)


def mask(lattice: Lattice, value: int, bits: int) -> int:
    return lattice.piece(value) if 0 <= bits < 1 << SMALL_BITS else lattice.scaled(value)


def factor(lattice: Lattice, value: int, by: int) -> int:
    product = lattice.product(lattice.scaled(value), by_constant=True)
    return lattice.negative(product) if by < 0 else product


def flip(lattice: Lattice, value: int, bits: int) -> int:
    """As `~x`, which is -x - 1."""
    scaled = lattice.scaled(value)
    return scaled | lattice.negative(scaled) if bits < 0 else scaled


_MOVES = """
    tt.bitcast tt.broadcast tt.cat tt.expand_dims tt.fp_to_fp tt.int_to_ptr tt.join tt.ptr_to_int tt.reshape tt.splat
    tt.trans tt.unsplat arith.bitcast arith.convertf arith.extf arith.extsi arith.extui arith.fptosi
    arith.fptoui arith.index_cast arith.index_castui arith.maximumf arith.maxnumf arith.maxsi arith.maxui
    arith.minimumf arith.minnumf arith.minsi arith.minui arith.sitofp arith.truncf arith.trunci arith.uitofp
    builtin.unrealized_conversion_cast ttg.convert_layout gluon.set_auto_layout ttng.warp_group_dot_wait
    amdg.in_thread_transpose amdg.extract_slice amdg.concat
"""
_NUMBERS = """
    arith.constant tt.make_range tt.get_program_id tt.get_num_programs ub.poison ttg.warp_id ttng.clc_try_cancel_sync
    ttg.global_scratch_alloc
"""
BY_OP: dict[str, Transfer] = {
    **dict.fromkeys(_MOVES.split(), join),
    **dict.fromkeys(_NUMBERS.split(), number),
    "arith.ori": unite,
    "arith.xori": exclude,
    "arith.addi": add,
    "arith.subi": subtract,
    "arith.muli": multiply,
    "tt.gather": gather,
}
BY_FLOW: dict[Flow, Transfer] = {Flow.ALL: compute, Flow.NONE: compare, Flow.FIRST: first, Flow.SELECT: select}
SPLIT, ADDPTR = "tt.split", "tt.addptr"  # which need more than their operands' values


def function_of(info: OpInfo) -> Transfer | None:
    """What follows from the operands' values alone, for ops of which all does."""
    if info.touches_memory or info.name in (SPLIT, ADDPTR):
        return None
    return BY_OP.get(info.name) or BY_FLOW.get(info.flow)


PURE = {info.name: function for info in rows() if (function := function_of(info)) is not None}
# By the constant that is an op's second operand, or, of the ops that may exchange their operands, either.
EXCHANGEABLE = frozenset({"arith.muli", "arith.andi", "arith.ori", "arith.xori"})
BY_CONSTANT: dict[str, ByConstant] = {
    **dict.fromkeys(("arith.divsi", "arith.divui", "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"),
                    Lattice.divided),
    **dict.fromkeys(("arith.shli", "arith.ori"), scale),
    **dict.fromkeys(("arith.shrsi", "arith.shrui"), shift_right),
    **dict.fromkeys(("arith.andi",), mask),
    **dict.fromkeys(("arith.remsi", "arith.remui"), lambda lattice, value, by: mask(lattice, value, by - 1)),
    "arith.muli": factor,
    "arith.xori": flip,
}
