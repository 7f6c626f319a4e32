"""What operations make of abstract values, and what these are used for (docs/analysis.md, sections 3, 4 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from triton_mutlint.analysis.values import LatticeValues, Parts


class Lattice(LatticeValues):
    """Values and their operations; all are monotone, and the value of no path gives that value.

    The results of the frequent ones are kept: in a function of many lines there are few different values.
    """

    def __init__(self, n: int, wide: Iterable[int] = ()) -> None:
        super().__init__(n, wide)
        self._sums: dict[tuple[int, int], int] = {}
        self._displaced: dict[tuple[int, int, int, bool], int] = {}

    # ------------------------------------------------------------------ arithmetic (section 3)

    def sum(self, one: int, other: int) -> int:
        """Section 3.3: the factors add up; what is added to an address stands beside it."""
        found = self._sums.get((one, other))
        if found is None:
            found = self._sums[one, other] = self._sum(one, other) if one and other else 0
        return found

    def _sum(self, one: int, other: int) -> int:
        a, b = self.parts(one), self.parts(other)
        cancelled = (a.plus & b.minus | a.minus & b.plus) & self.exact
        twice = (a.plus & b.plus | a.minus & b.minus) & self.exact
        plus = (a.plus & b.zero | a.zero & b.plus) & self.exact | twice
        minus = (a.minus & b.zero | a.zero & b.minus) & self.exact | twice
        zero = a.zero & b.zero | cancelled | twice
        one_free, other_free = self.free(a), self.free(b)
        beside: tuple[int, ...] = _union(a[5:9], b[5:9])
        if (a.plus | a.minus) & self.total:
            beside = _union(beside, other_free)
        if (b.plus | b.minus) & self.total:
            beside = _union(beside, one_free)
        free = _union(one_free, other_free) if a.zero & b.zero & self.total else (0, 0, 0, 0)
        if cancelled & self.total:
            free = _union(free, beside)
        if cancelled & self.total or (a.plus & b.minus | a.minus & b.plus) & self.others:
            zero |= self.bare if zero & self.total else 0
        return self.value(Parts(plus | free[0], minus | free[1], zero, free[2], free[3], *beside))

    def negative(self, value: int) -> int:
        p = self.parts(value)
        return self.value(p._replace(plus=p.minus, minus=p.plus, beside_plus=p.beside_minus,
                                     beside_minus=p.beside_plus))

    def scaled(self, value: int) -> int:
        """Section 3.4: a multiple of a value, or its upper bits: each factor may have become any other."""
        roots = (value | value >> self.width) & self.params
        return value | self.value(Parts(roots, roots, roots))

    def divided(self, value: int, by: int) -> int:
        """Section 3.4: what may be an address becomes a number of elements of `by` bytes."""
        p, counting = self.parts(value), self.counting.get(by, 0)
        return self.scaled(self.value(p._replace(
            plus=p.plus | (counting if p.plus & self.others else 0),
            minus=p.minus | (counting if p.minus & self.others else 0),
            beside_plus=p.beside_plus | (counting if p.beside_plus & self.others else 0),
            beside_minus=p.beside_minus | (counting if p.beside_minus & self.others else 0))))

    def mixed(self, value: int) -> int:
        """Section 3.5: any function of a value, perhaps nothing."""
        if not value:
            return 0
        p = self.parts(value)
        roots = p.plus | p.minus | p.beside_plus | p.beside_minus
        exact, others = roots & self.exact, roots & self.free_roots
        zero = p.zero | exact | (self.bare | self.total if roots else 0)
        return self.value(Parts(roots, roots, zero, p.weak | p.beside_weak, p.seen | p.beside_seen, others, others,
                                p.beside_weak, p.beside_seen))

    def narrowed(self, value: int) -> int:
        """Section 3.2: half of an address is none, but what is subtracted from one still is."""
        return self.scaled(self._weakened(value, keep_minus=True, keep_beside=True))

    def product(self, value: int, *, by_constant: bool = False) -> int:
        """Section 3.6: an address is no product, unless of parts that make one."""
        return self._weakened(value, keep_minus=False, keep_beside=by_constant)

    def piece(self, value: int) -> int:
        """Section 3.7: a few bits of a value, which are no address, though many such pieces may make one."""
        p = self.parts(value)
        roots = (p.plus | p.minus | p.beside_plus | p.beside_minus) & (self.params | self.others)
        pieces = Parts(0, 0, 0, roots | p.weak | p.beside_weak, p.seen | p.beside_seen)
        return self.number | self.value(pieces) if value else 0

    def flag(self, value: int) -> int:
        """Section 3.2: one bit, as a comparison yields."""
        return self.seeing(self.number, self.looked_at(value)) if value else 0

    def computed(self, values: Sequence[int]) -> int:
        """Section 6: what code that is not followed makes of values: of an address and others, mostly an address."""
        joined, moved, addresses = 0, self.number, 0
        for value in values:
            joined |= value
            moved = self.sum(moved, value)
            addresses |= 0 if value & self.bare_value and not value & self.param_pieces else value
        if not any(map(self.is_address, values)):
            return self.mixed(joined)
        moved = self.scaled(moved)
        return moved | self.negative(moved) | addresses

    def is_address(self, value: int) -> bool:
        """Whether a value is certainly an address of a parameter, or some multiple."""
        return bool(value) and not value & self.free_value

    def is_constant(self, value: int) -> bool:
        """Whether no root has a part in a value."""
        return not self.reaching(value) and not value & self.any_pieces

    def displaced(self, base: int, offset: int, *, size: int, narrow: bool) -> int:
        """Section 3.9: a pointer moved by a number of elements of `size` bytes, 0 if that is not known."""
        key = base, offset, size, narrow
        found = self._displaced.get(key)
        if found is None:
            found = self._displaced[key] = self._moved(*key) if base and offset else 0
        return found

    def _moved(self, base: int, offset: int, size: int, narrow: bool) -> int:
        b, o = self.parts(base), self.parts(offset)
        if size != 1:
            is_counting = (o.plus | o.minus | o.beside_plus | o.beside_minus) & self.counting.get(size, 0)
            offset = self.scaled(offset if is_counting else self._weakened(offset, keep_minus=True, keep_beside=True))
            o = self.parts(offset)
        if (o.plus | o.minus) & self.total:
            return self.sum(base, offset)
        if not (b.plus & o.minus | b.minus & o.plus) & self.params:
            offset = self.scaled(offset)
        moved = self.parts(self.sum(base, offset))
        is_index = narrow and (b.plus | b.minus) & (self.others | self.total)
        if o.minus & self.others or (b.zero & self.bare and not is_index):
            return self.value(moved)
        free = self.free(b)
        exact = self.exact
        return self.value(moved._replace(plus=moved.plus & exact | free[0], minus=moved.minus & exact | free[1],
                                         zero=moved.zero & ~self.bare | b.zero & self.bare,
                                         weak=free[2], seen=free[3]))

    def choice(self, values: Sequence[int], roots: int) -> int:
        """Section 3.8: one of some values; which of them tells of `roots`, if they are numbers."""
        result = 0
        for value in values:
            result |= value
        is_bare = any(value & self.bare_value for value in values)
        return self.seeing(result, roots) if roots and is_bare else result

    # ------------------------------------------------------------------ uses (sections 4 and 6)

    def as_address(self, value: int) -> int:
        """Section 6: the roots of `value`, used as an address."""
        p = self.parts(value)
        plus = p.plus & self.params
        surely = self.params & ~p.zero
        roots = plus if not surely else plus & surely if surely & (surely - 1) == 0 else 0
        if p.beside_minus & self.others:
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

    def kept(self, value: int, *, narrow: bool) -> int:
        """Section 4: what memory keeps of a value; no plain number, if it is too narrow for an address."""
        p, params = self.parts(value), self.params
        pieces = params if narrow else params | self.others
        if narrow and not (p.weak | p.seen) & params:
            p = p._replace(zero=p.zero & ~self.bare)
        return self.value(p._replace(weak=p.weak & pieces, seen=p.seen & params, beside_weak=p.beside_weak & pieces,
                                     beside_seen=p.beside_seen & params))

    def _weakened(self, value: int, *, keep_minus: bool, keep_beside: bool) -> int:
        """The roots but `param` become weak; those that are subtracted may be kept, free ones and those beside."""
        p, others = self.parts(value), self.others
        moved = (p.plus | (0 if keep_minus else p.minus)) & others
        minus = p.minus if keep_minus else p.minus & ~others
        beside = p.beside_plus | (0 if keep_beside else p.beside_minus)
        zero = p.zero | (self.bare if (p.plus | p.minus) & others else 0)
        return self.value(p._replace(plus=p.plus & ~others, minus=minus, zero=zero, weak=p.weak | moved, beside_plus=0,
                                     beside_minus=p.beside_minus if keep_beside else 0,
                                     beside_weak=p.beside_weak | beside))


def _union(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x | y for x, y in zip(one, other, strict=True))
