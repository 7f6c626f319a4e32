"""Abstract values as bit masks (docs/analysis.md, section 2).

For an entry function with n arguments, a root set is a mask: `param i` is bit i, `loaded i` bit n + i, `integer i`
bit 2n + i, `unknown` bit 3n. More bits are no roots: `total` stands for the sum of all `param` roots, `bare` for
a value without any root, three for distances that count elements of 2, 4 and 8 bytes. A value is nine such sets side
by side, so that the join of two values is `|`. The value 0 is that of no path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


class Lattice:
    """The values for one entry function with `n` arguments.

    `number` is a number that no root has a part in. The masks `params` and `others` hold the `param` roots, and
    the roots that are none.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.width = 3 * n + 6
        self.params = (1 << n) - 1
        self.indirect = ((1 << 3 * n) - 1) ^ self.params
        self.unknown, self.total, self.bare = (1 << 3 * n + i for i in range(3))
        self.others = self.indirect | self.unknown
        self._integers = self.params << 2 * n
        self._counting = {size: 1 << 3 * n + 3 + i for i, size in enumerate((2, 4, 8))}
        self._free_roots = self.others | sum(self._counting.values())
        self._mask = (1 << self.width) - 1
        self._exact = self.params | self.total
        self.number = self.value(Parts(0, 0, self._exact | self.bare))
        self._bare = self.value(Parts(0, 0, self.bare))

    def param(self, index: int) -> int:
        """The address of an argument's memory."""
        root = 1 << index
        return self.value(Parts(root | self.total, 0, self.params ^ root))

    def integer(self, index: int) -> int:
        """An integer argument that is wide enough for an address."""
        return self.address(1 << 2 * self.n + index)

    def address(self, roots: int) -> int:
        """An address with one of these roots, none of them a `param`."""
        return self.value(Parts(roots, 0, self._exact))

    def loaded_from(self, roots: int) -> int:
        """The roots of an address loaded through `roots`: `loaded p` for `param p`, others stay."""
        return (roots & self.params) << self.n | roots & self.others

    def parts(self, value: int) -> Parts:
        mask, width = self._mask, self.width
        return Parts(*(value >> width * i & mask for i in range(9)))

    def value(self, parts: Parts) -> int:
        value = 0
        for part in reversed(parts):
            value = value << self.width | part
        return value

    def looked_at(self, value: int) -> int:
        """The roots of whose integer value some of `value` tells: what depends on it may tell of them, too."""
        p = self.parts(value)
        strong = p.plus | p.minus | p.beside_plus | p.beside_minus
        return (strong | p.weak | p.beside_weak) & self.params | strong & self._integers | p.seen | p.beside_seen

    def seeing(self, value: int, roots: int) -> int:
        """`value`, which may tell of the integer value of `roots`."""
        return value | roots << 4 * self.width if value else 0

    # ------------------------------------------------------------------ arithmetic (section 3)

    def sum(self, one: int, other: int) -> int:
        """Section 3.3: the factors add up; what is added to an address stands beside it."""
        if not one or not other:
            return 0
        a, b = self.parts(one), self.parts(other)
        cancelled = (a.plus & b.minus | a.minus & b.plus) & self._exact
        twice = (a.plus & b.plus | a.minus & b.minus) & self._exact
        plus = (a.plus & b.zero | a.zero & b.plus) & self._exact | twice
        minus = (a.minus & b.zero | a.zero & b.minus) & self._exact | twice
        zero = a.zero & b.zero | cancelled | twice
        one_free, other_free = self._free(a), self._free(b)
        beside = _union(a[5:], b[5:])
        if (a.plus | a.minus) & self.total:
            beside = _union(beside, other_free)
        if (b.plus | b.minus) & self.total:
            beside = _union(beside, one_free)
        free = _union(one_free, other_free) if a.zero & b.zero & self.total else (0, 0, 0, 0)
        if cancelled & self.total:
            free = _union(free, beside)
        if cancelled & self.total or (a.plus & b.minus | a.minus & b.plus) & self.others:
            zero |= self.bare if zero & self.total else 0
        return self.value(Parts(plus | free[0], minus | free[1], zero, *free[2:], *beside))

    def negative(self, value: int) -> int:
        p = self.parts(value)
        return self.value(p._replace(plus=p.minus, minus=p.plus, beside_plus=p.beside_minus,
                                     beside_minus=p.beside_plus))

    def scaled(self, value: int) -> int:
        """Section 3.4: a multiple of a value, or its upper bits: each factor may have become any other."""
        roots = (value | value >> self.width) & self.params
        return value | self.value(Parts(roots, roots, roots))

    def divided(self, value: int, by: int) -> int:
        """Section 3.4: a distance between two addresses becomes a number of elements of `by` bytes."""
        p, counting = self.parts(value), self._counting.get(by, 0)
        return self.scaled(self.value(p._replace(
            minus=p.minus | (counting if p.minus & self.others else 0),
            beside_minus=p.beside_minus | (counting if p.beside_minus & self.others else 0))))

    def mixed(self, value: int) -> int:
        """Section 3.5: any function of a value, perhaps nothing."""
        if not value:
            return 0
        p = self.parts(value)
        roots = p.plus | p.minus | p.beside_plus | p.beside_minus
        exact, others = roots & self._exact, roots & self._free_roots
        zero = p.zero | exact | (self.bare | self.total if roots else 0)
        return self.value(Parts(roots, roots, zero, p.weak | p.beside_weak, p.seen | p.beside_seen, others, others,
                                p.beside_weak, p.beside_seen))

    def narrowed(self, value: int) -> int:
        """Section 3.2: half of an address is none, but what is subtracted from one still is."""
        return self.scaled(self._weakened(value, keep_minus=True))

    def product(self, value: int) -> int:
        """Section 3.6: an address is no product, unless of parts that make one."""
        return self._weakened(value, keep_minus=False)

    def piece(self, value: int) -> int:
        """Section 3.7: a few bits of a value, which are no address, though many such pieces may make one."""
        p = self.parts(value)
        roots = (p.plus | p.minus | p.beside_plus | p.beside_minus) & (self.params | self.others)
        pieces = Parts(0, 0, 0, roots | p.weak | p.beside_weak, p.seen | p.beside_seen)
        return self.number | self.value(pieces) if value else 0

    def flag(self, value: int) -> int:
        """Section 3.2: one bit, as a comparison yields."""
        return self.seeing(self.number, self.looked_at(value)) if value else 0

    def computed_of(self, value: int, roots: int) -> int:
        """Section 6: what code that is not followed makes of a value, and of numbers that tell of `roots`."""
        if value and not value & self._bare:
            return self.mixed(value)
        return self.seeing(self.mixed(value) or self.number, roots)

    def displaced(self, base: int, offset: int, *, size: int, narrow: bool) -> int:
        """Section 3.9: a pointer moved by a number of elements of `size` bytes, 0 if that is not known."""
        if not base or not offset:
            return 0
        b, o = self.parts(base), self.parts(offset)
        if size != 1:
            is_counting = (o.plus | o.minus | o.beside_plus | o.beside_minus) & self._counting.get(size, 0)
            offset = self.scaled(offset if is_counting else self._weakened(offset, keep_minus=True))
            o = self.parts(offset)
        if (o.plus | o.minus) & self.total:
            return self.sum(base, offset)
        if not (b.plus & o.minus | b.minus & o.plus) & self.params:
            offset = self.scaled(offset)
        moved = self.parts(self.sum(base, offset))
        is_index = narrow and (b.plus | b.minus) & (self.others | self.total)
        if o.minus & self.others or (b.zero & self.bare and not is_index):
            return self.value(moved)
        free = self._free(b)
        exact = self._exact
        return self.value(moved._replace(plus=moved.plus & exact | free[0], minus=moved.minus & exact | free[1],
                                         zero=moved.zero & ~self.bare | b.zero & self.bare,
                                         weak=free[2], seen=free[3]))

    def choice(self, values: Sequence[int], roots: int) -> int:
        """Section 3.8: one of some values; which of them tells of `roots`, if they are numbers."""
        result = 0
        for value in values:
            result |= value
        if roots and sum(bool(value & self._bare) for value in values) > 1:
            return self.seeing(result, roots)
        return result

    # ------------------------------------------------------------------ uses (sections 4 and 6)

    def as_address(self, value: int) -> int:
        """Section 6: the roots of `value`, used as an address."""
        p = self.parts(value)
        plus = p.plus & self.params
        surely = self.params & ~p.zero
        roots = plus if not surely else plus & surely if surely & (surely - 1) == 0 else 0
        if p.beside_minus:
            roots |= p.beside_plus & self.others
        if p.zero & self.total:
            roots |= p.plus & self.others
            if p.zero & self.bare:
                roots |= p.weak
        return roots or plus

    def made_of(self, value: int) -> int:
        """Section 6: the roots that `value` was made of without being of them, if it may be a number."""
        p = self.parts(value)
        return p.seen if p.zero & self.bare else 0

    def places(self, value: int) -> int:
        """The roots of whose integer value it tells where in memory the address `value` leads."""
        p = self.parts(value)
        scattered = p.plus & p.minus & ~self.as_address(value)
        return (scattered | p.weak | p.beside_weak) & self.params | p.seen | p.beside_seen

    def reaching(self, value: int) -> int:
        """Every root from which an address may be made of `value` and others, loaded pieces aside."""
        p = self.parts(value)
        strong = p.plus | p.minus | p.beside_plus | p.beside_minus
        return strong & (self.params | self.others) | (p.weak | p.beside_weak) & self.params

    def kept(self, value: int, *, whole: bool) -> int:
        """Section 4: what memory keeps of a value, or of one too narrow for an address."""
        p, params = self.parts(value if whole else value & ~self._bare), self.params
        return self.value(p._replace(weak=p.weak & params, seen=p.seen & params, beside_weak=p.beside_weak & params,
                                     beside_seen=p.beside_seen & params))

    def _free(self, parts: Parts) -> tuple[int, int, int, int]:
        """What a value may hold where it holds no address of a parameter."""
        return parts.plus & self._free_roots, parts.minus & self._free_roots, parts.weak, parts.seen

    def _weakened(self, value: int, *, keep_minus: bool) -> int:
        p, others = self.parts(value), self.others
        moved = (p.plus | (0 if keep_minus else p.minus)) & others
        minus = p.minus if keep_minus else p.minus & ~others
        beside = p.beside_plus | (0 if keep_minus else p.beside_minus)
        zero = p.zero | (self.bare if (p.plus | p.minus) & others else 0)
        return self.value(p._replace(plus=p.plus & ~others, minus=minus, zero=zero, weak=p.weak | moved, beside_plus=0,
                                     beside_minus=p.beside_minus if keep_minus else 0,
                                     beside_weak=p.beside_weak | beside))


def _union(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x | y for x, y in zip(one, other, strict=True))


def bits(mask: int) -> Iterator[int]:
    """Indices of the set bits, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
