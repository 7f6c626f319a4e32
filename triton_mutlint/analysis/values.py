"""Abstract values as bit masks (docs/analysis.md, section 2).

For an entry function with n arguments, a root set is a mask: `param i` is bit i, `loaded i` bit n + i, `integer i`
bit 2n + i, `unknown` bit 3n. More bits are no roots: `total` stands for the sum of all `param` roots, `bare` for
a value without any root, three for distances that count elements of 2, 4 and 8 bytes. A value is nine such sets side
by side, so that the join of two values is `|`. The value 0 is that of no path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Parts(NamedTuple):
    """The sets of a value (section 2)."""

    plus: int
    minus: int
    zero: int
    weak: int = 0
    seen: int = 0
    beside_plus: int = 0
    beside_minus: int = 0
    beside_weak: int = 0
    beside_seen: int = 0


class LatticeValues:
    """The values for one entry function with `n` arguments, of which `wide` are integers that can hold an address.

    `number` is a number that no root has a part in. The masks `params` and `others` hold the `param` roots, and
    the roots that are none; `integers` those of wide integers.
    """

    def __init__(self, n: int, wide: Iterable[int] = ()) -> None:
        self.n = n
        self.width = 3 * n + 6
        self.params = (1 << n) - 1
        self.indirect = ((1 << 3 * n) - 1) ^ self.params
        self.unknown, self.total, self.bare = (1 << 3 * n + i for i in range(3))
        self.others = self.indirect | self.unknown
        self.integers = sum(1 << 2 * n + index for index in wide)
        self.counting = {size: 1 << 3 * n + 3 + i for i, size in enumerate((2, 4, 8))}
        self.free_roots = self.others | sum(self.counting.values())
        self._parts: dict[int, Parts] = {}  # of the values met so far, of which there are few
        self._mask = (1 << self.width) - 1
        self.exact = self.params | self.total
        self.number = self.value(Parts(0, 0, self.exact | self.bare))
        self.free_value = self.value(Parts(0, 0, self.total))
        self.param_pieces = self.value(Parts(0, 0, 0, self.params))
        self.any_pieces = self.value(Parts(0, 0, 0, self.params | self.others))
        self.bare_value = self.value(Parts(0, 0, self.bare))

    def param(self, index: int) -> int:
        """The address of an argument's memory."""
        root = 1 << index
        return self.value(Parts(root | self.total, 0, self.params ^ root))

    def integer(self, index: int) -> int:
        """An integer argument that is wide enough for an address."""
        return self.address(1 << 2 * self.n + index)

    def address(self, roots: int) -> int:
        """An address with one of these roots, none of them a `param`."""
        return self.value(Parts(roots, 0, self.exact))

    def loaded_from(self, roots: int) -> int:
        """The roots of an address loaded through `roots`: `loaded p` for `param p`, others stay."""
        return (roots & self.params) << self.n | roots & self.others

    def parts(self, value: int) -> Parts:
        found = self._parts.get(value)
        if found is None:
            sets = [value >> self.width * i & self._mask for i in range(9)]
            found = self._parts[value] = Parts(*sets)
        return found

    def value(self, parts: Parts) -> int:
        value = 0
        for part in reversed(parts):
            value = value << self.width | part
        return value

    def looked_at(self, value: int) -> int:
        """The roots of whose integer value some of `value` tells: what depends on it may tell of them, too."""
        p = self.parts(value)
        strong = p.plus | p.minus | p.beside_plus | p.beside_minus
        parts = (strong | p.weak | p.beside_weak) & (self.params | self.integers)
        return parts | p.seen | p.beside_seen

    def seeing(self, value: int, roots: int) -> int:
        """`value`, which may tell of the integer value of `roots`."""
        return value | roots << 4 * self.width if value else 0

    def free(self, parts: Parts) -> tuple[int, int, int, int]:
        """What a value may hold where it holds no address of a parameter."""
        return parts.plus & self.free_roots, parts.minus & self.free_roots, parts.weak, parts.seen


def bits(mask: int) -> Iterator[int]:
    """Indices of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
