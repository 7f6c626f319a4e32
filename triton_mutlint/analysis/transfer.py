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
    if lattice.strong(base):
        return base | offset & lattice.params
    return base | lattice.as_address(offset)


def addi(lattice: Lattice, operands: Sequence[int]) -> int:
    """Section 3.4: address + offset is that address, wherever the offset came from."""
    left, right = operands[0], operands[1]
    if _is_plain_param(lattice, left) and not right & lattice.params:
        return left | lattice.weaken(right)
    if _is_plain_param(lattice, right) and not left & lattice.params:
        return lattice.weaken(left) | right
    return left | right


def subi(lattice: Lattice, operands: Sequence[int]) -> int:
    """Sections 3.4 and 3.5: subtracting a base leaves what had been added to it."""
    left, right = operands[0], operands[1]
    if right & lattice.params:
        return left | right | lattice.weak(left)
    if _is_plain_param(lattice, left):
        return left | lattice.weaken(right)
    return left | right


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


def select(_: Lattice, operands: Sequence[int]) -> int:
    """Section 3.8: the condition is control, not provenance."""
    return operands[1] | operands[2]


def _is_plain_param(lattice: Lattice, value: int) -> bool:
    strong = lattice.strong(value)
    return bool(strong) and not strong & ~lattice.params
