"""Abstract values as bit masks (docs/analysis.md, section 2).

For an entry function with n arguments, a root set is a mask of W = 3n + 1 bits: `param i` at i,
`loaded i` at n + i, `integer i` at 2n + i, `unknown` at 3n. A value is its strong set, its weak set
shifted left by W, its plus set by 2W and its minus set by 3W. Join is `|`.
"""

from __future__ import annotations

from collections.abc import Iterator


class Lattice:
    """The masks for one entry function with `n` arguments.

    `params` holds every `param` root, `indirect` every `loaded` and `integer` root, `differences` every
    plus and minus, `addresses` all that tells of a parameter's address.
    """

    __slots__ = ("_weakened", "addresses", "differences", "indirect", "n", "params", "strong_mask", "unknown", "width")

    def __init__(self, n: int) -> None:
        self.n = n
        self.width = 3 * n + 1
        self.params = (1 << n) - 1
        self.indirect = ((1 << 3 * n) - 1) ^ self.params
        self.unknown = 1 << 3 * n
        self.strong_mask = (1 << self.width) - 1
        self.differences = self.difference(self.params, self.params)
        self.addresses = self.params | self.differences
        self._weakened = self.indirect | self.unknown

    def param(self, index: int) -> int:
        return 1 << index

    def integer(self, index: int) -> int:
        return 1 << (2 * self.n + index)

    def loaded_from(self, strong: int) -> int:
        """The roots of an address loaded through `strong`: `loaded p` for `param p`, others stay."""
        return (strong & self.params) << self.n | strong & ~self.params

    def weaken(self, value: int) -> int:
        """`value` with all but its `param` roots moved from strong to weak."""
        moving = value & self._weakened
        return value ^ moving | moving << self.width

    def strong(self, value: int) -> int:
        return value & self.strong_mask

    def weak(self, value: int) -> int:
        return value >> self.width & self.strong_mask

    def plus(self, value: int) -> int:
        return value >> 2 * self.width & self.params

    def minus(self, value: int) -> int:
        return value >> 3 * self.width & self.params

    def difference(self, plus: int, minus: int) -> int:
        """A value that is a difference of addresses and no address itself."""
        return plus << 2 * self.width | minus << 3 * self.width

    def lone(self, value: int) -> int:
        """The roots of a difference that may be all there is: nothing is subtracted, or what is cancels out."""
        plus, minus = self.plus(value), self.minus(value)
        return plus ^ minus if plus & minus else 0 if minus else plus

    def revealed(self, value: int) -> int:
        """`value` with its lone roots strong where something strong would speak for them (`as_address`)."""
        return value | self.lone(value) if value & self.differences and self.strong(value) else value

    def either(self, one: int, other: int) -> int:
        """A value that is one or the other: what only one of them could be taken for, it still can be.

        Joined as they are, an address in one would speak for both (`as_address`).
        """
        joined = one | other
        if one and other and joined & self.differences:
            if not self.strong(one):
                joined |= self.plus(one) if self.strong(other) else 0
            elif not self.strong(other):
                joined |= self.plus(other)
        return joined

    def mixed(self, value: int) -> int:
        """A multiple of `value`, or some bits of it: perhaps negative, perhaps nothing (section 3.1)."""
        plus, minus = self.plus(value), self.minus(value)
        roots = value & self.params | plus | minus
        if plus and minus and not self.strong(value) and (plus == minus or not plus & minus):
            return value | self.difference(roots, roots)
        return value & ~self.differences | roots | self.difference(0, roots)

    def as_address(self, value: int) -> int:
        """The strong set of `value` once it is used as an address (section 3.7)."""
        return self.strong(value) or self.plus(value) or self.weak(value)

    def reaching(self, value: int) -> int:
        """Every root from which an address may be made of `value` and others, weak ones aside."""
        return self.strong(value) | self.plus(value) | self.minus(value)

    def kept(self, value: int) -> int:
        """What memory keeps of `value`: beside other contents, its plus is strong (section 4)."""
        return self.strong(value) | self.plus(value) | value & self.differences


def bits(mask: int) -> Iterator[int]:
    """Indices of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
