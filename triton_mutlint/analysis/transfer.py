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
    strong = lattice.strong(base)
    if not strong:
        return base | offset | lattice.as_address(offset)
    kept = offset & (lattice.params | lattice.differences)
    return base | kept | _cancelled(lattice, strong, offset)


def addi(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.4: address + offset is that address, wherever the offset came from."""
    left, right = operands[0], operands[1]
    both = blend(lattice, operands)
    both |= _cancelled(lattice, lattice.strong(both), both)
    if _is_plain_param(lattice, left) and not right & lattice.params:
        return lattice.weaken(both)
    if _is_plain_param(lattice, right) and not left & lattice.params:
        return lattice.weaken(both)
    return both


def blend(lattice: Lattice, operands: Sequence[int]) -> int:
    """Sections 3.1 and 3.4: a sum or union of bits may be a choice, all of one operand or all of the other.

    So bits of an address, though none by themselves, are not hidden by an address beside them; a difference is.
    """
    left, right = operands[0], operands[1]
    if lattice.minus(left) or lattice.minus(right):
        return left | right
    return lattice.either(left, right)


def subi(lattice: Lattice, operands: Sequence[int], number: bool = False) -> int:
    """Section 3.5: what is subtracted is a difference's minus; what had been added to it remains.

    `number`: what is subtracted may be a number on some path, which leaves an address.
    """
    left, right = operands[0], operands[1]
    ours, theirs = left & lattice.params, right & lattice.params
    difference = lattice.difference(lattice.plus(left) | lattice.minus(right),
                                    lattice.minus(left) | lattice.plus(right))
    plain = (left | right) & ~lattice.differences
    if ours and theirs:
        others = plain & ~lattice.params | lattice.weak(left) | (ours if number else 0)
        return others | difference | lattice.difference(ours, theirs)
    if theirs:
        return plain | difference | lattice.weak(left)
    if ours & lattice.plus(right):
        plain |= lattice.minus(right)
    return (lattice.weaken(plain) if _is_plain_param(lattice, left) else plain) | difference


def muli(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.6: an address is not a product."""
    return lattice.weaken(join(lattice, operands))


def int_to_ptr(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.7: data that is cast to a pointer was an address."""
    value = operands[0]
    return value | lattice.as_address(value)


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


def _cancelled(lattice: Lattice, strong: int, offset: int) -> int:
    """a + (b - a) is b: the plus roots of `offset` if one of its minus roots is among `strong`."""
    return lattice.plus(offset) if strong & lattice.minus(offset) else 0


def _is_plain_param(lattice: Lattice, value: int) -> bool:
    strong = lattice.strong(value)
    return bool(strong) and not strong & ~lattice.params
