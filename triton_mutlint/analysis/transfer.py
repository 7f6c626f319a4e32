"""Transfer functions of ops without memory effects (docs/analysis.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_mutlint.analysis.lattice import Lattice

Transfer = Callable[[Lattice, Sequence[int]], int]


def join(_: Lattice, operands: Sequence[int]) -> int:
    """Section 3.1: a result may be any of the operands."""
    result = 0
    for operand in operands:
        result |= operand
    return result


def nothing(_: Lattice, __: Sequence[int]) -> int:
    """Section 3.2: a comparison decides, it does not carry."""
    return 0


def addptr(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.3: the base decides; an offset counts only if it was made from a parameter's address."""
    base, offset = operands[0], operands[1]
    if not base & lattice.strong_mask:
        return base | offset | lattice.as_address(offset)
    both = base | offset & lattice.addresses
    if shared := base & offset & lattice.params:
        both |= lattice.difference(0, shared)  # a + a is a multiple of a
    if not both & lattice.differences:
        return both
    if base & lattice.minus(both):
        both |= lattice.plus(both)
    if _vanishes(lattice, base, both):
        both |= lattice.strong(offset)
        both |= 0 if offset & lattice.params else lattice.weak(offset)
    return both


def addi(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.4: address + offset is that address, wherever the offset came from."""
    left, right = operands[0], operands[1]
    both = left | right
    if not both & lattice.addresses:
        return both
    both = blend(lattice, operands)
    for base, offset in ((left, right), (right, left)):
        if _is_plain_param(lattice, base) and not offset & lattice.params:
            return both if _vanishes(lattice, base, both) else lattice.weaken(both)
    return both


def blend(lattice: Lattice, operands: Sequence[int]) -> int:
    """Sections 3.1 and 3.4: a sum or union of bits may be a choice, all of one operand or all of the other.

    So bits of an address, though none by themselves, are not hidden by an address beside them; a difference is.
    """
    left, right = operands[0], operands[1]
    both = left | right
    if shared := left & right & lattice.params:
        both |= lattice.difference(0, shared)
    if not both & lattice.differences:
        return both
    plus = lattice.plus(both)
    for one, other in ((left, right), (right, left)):
        if one & lattice.minus(other):  # a + (b - a) is b
            both |= plus
        if lattice.strong(one) and not lattice.strong(other):
            both |= lattice.lone(other)
        if _vanishes(lattice, one, both) and not other & lattice.params:
            both |= lattice.weak(other)
    return lattice.revealed(both)


def subi(lattice: Lattice, operands: Sequence[int], number: bool = False) -> int:
    """Section 3.5: what is subtracted is a difference's minus; what had been added to it remains.

    `number`: what is subtracted may be a number on some path, which leaves an address.
    """
    left, right = operands[0], operands[1]
    others = (left | right) & ~lattice.addresses
    if others == left | right:
        return others
    ours, theirs, negative = left & lattice.params, right & lattice.params, lattice.minus(right)
    gone = ours & (theirs | lattice.plus(right))
    if gone and not negative & ~gone:
        others |= lattice.weak(right)  # a - (a - n) is n
    elif not theirs and _is_plain_param(lattice, left):
        others = lattice.weaken(others)
    kept = ours
    plus, minus = lattice.plus(left) | negative, lattice.minus(left) | lattice.plus(right)
    if theirs:
        others |= lattice.weak(left)
        if not ours or ours & lattice.minus(left):
            kept |= theirs
        elif not number:
            kept = 0
        plus, minus = plus | ours, minus | theirs
    if gone:
        kept |= negative  # a - (a - b) is b
    elif lattice.strong(right):
        kept |= negative & ~lattice.plus(right)
    return lattice.revealed(others | kept | lattice.difference(plus, minus))


def muli(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.6: an address is not a product, though a choice of addresses times 0 or 1 is."""
    one, other = operands[0], operands[1]
    one = one if one & lattice.params else lattice.weaken(one)
    return one | (other if other & lattice.params else lattice.weaken(other))


def int_to_ptr(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.7: data that is cast to a pointer was an address."""
    value = operands[0]
    if lattice.strong(value):
        return value
    return value & ~lattice.difference(lattice.params, 0) | lattice.as_address(value)


def first(_: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: a descriptor or block pointer is its base; a gather yields its source."""
    return operands[0]


def select(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: the condition is control, not provenance."""
    return lattice.either(operands[1], operands[2])


def either(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: one of the operands, in each element."""
    result = 0
    for operand in operands:
        result = lattice.either(result, operand)
    return result


def low_bits(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.6: a few bits of an address are an index, though many such pieces may make an address."""
    value = lattice.weaken(join(lattice, operands))
    params = value & lattice.params
    return value ^ params | lattice.difference(params, 0)


def _vanishes(lattice: Lattice, base: int, total: int) -> bool:
    """Whether the address `base` may come to nothing in a sum, which is then the rest: n in a + (n - a)."""
    return bool(base & lattice.minus(total)) and not lattice.plus(total)


def _is_plain_param(lattice: Lattice, value: int) -> bool:
    strong = lattice.strong(value)
    return bool(strong) and not strong & ~lattice.params
