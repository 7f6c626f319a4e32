"""Addresses as sums of products: enough to see that two of them are never the same.

A polynomial maps products of atoms to their factor. Atoms are values that are not taken apart: arguments,
program ids, ranges, loop variables, loaded values. Overflow is left out of account.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from triton_mutlint.analysis.constants import integer_constant
from triton_mutlint.analysis.influence import Influence
from triton_mutlint.ttir.ir import Function, Op
from triton_mutlint.ttir.ops import Flow, lookup

Product = tuple[int, ...]
Polynomial = dict[Product, int]

MAX_TERMS = 40
MAX_FACTORS = 6
_SAME = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.unsplat", "arith.extsi",
                   "arith.extui", "arith.trunci", "arith.index_cast"})
_PER_PROGRAM = frozenset({"tt.get_program_id", "tt.make_range"})
_BELOW = {"slt": (0, 1), "ult": (0, 1), "sgt": (1, 0), "ugt": (1, 0)}


class Offsets:
    """The polynomials of one function's values."""

    def __init__(self, function: Function, influence: Influence) -> None:
        self._function, self._influence = function, influence
        self._atoms: dict[Hashable, int] = {}
        self._uniform: list[bool] = []  # by atom: the same in every program of a launch
        self._positive: list[bool] = []  # by atom: never negative
        self._known: dict[int, Polynomial] = {}
        for value in range(function.n_args):
            self._known[value] = self._atom(("value", value), uniform=True)
        for site in influence.sites:
            if len(site.op.results) == 1:
                self._known[site.op.results[0]] = self._bounded(site.op)

    def of(self, value: int) -> Polynomial:
        """The polynomial of a value."""
        if value not in self._known:
            start = self._influence.inductions.get(value)
            from_zero = start is not None and all(f >= 0 and not p for p, f in self.of(start).items())
            self._known[value] = self._atom(("value", value), positive=from_zero)
        return self._known[value]

    def apart(self, argument: int, load: Op, store: Op) -> bool:
        """Whether two accesses of the memory of `argument` look as if they never meet.

        So they do if the store goes where the load goes but a launch constant further on, and no program or
        loop steps by that; or if the load's mask ends where the store begins.
        """
        read, written = dict(self.of(load.operands[0])), dict(self.of(store.operands[0]))
        if read.pop((self._base(argument),), 0) != 1 or written.pop((self._base(argument),), 0) != 1:
            return False
        return self._is_shifted(read, written) or any(
            self._is_beyond(read, written, index, end) for index, end in self._bounds(load))

    def same(self, one: int, other: int) -> bool:
        """Whether two values are computed alike."""
        return one == other or self.of(one) == self.of(other)

    def _base(self, argument: int) -> int:
        return self._atoms["value", argument]

    def _bounded(self, op: Op) -> Polynomial:
        found = self._computed(op)
        if len(found) > MAX_TERMS or any(len(product) > MAX_FACTORS for product in found):
            return self._atom(("value", op.results[0]))
        return found

    def _computed(self, op: Op) -> Polynomial:
        constant = integer_constant(op)
        if constant is not None:
            return {(): constant} if constant else {}
        if op.name in _SAME:
            return self.of(op.operands[0])
        if op.name in {"arith.addi", "tt.addptr"}:
            return _sum(self.of(op.operands[0]), self.of(op.operands[1]))
        if op.name == "arith.subi":
            return _sum(self.of(op.operands[0]), self.of(op.operands[1]), -1)
        if op.name == "arith.muli":
            return _product(self.of(op.operands[0]), self.of(op.operands[1]))
        info = lookup(op.name)
        if info is None or info.touches_memory or info.flow is Flow.SPECIAL:
            return self._atom(("value", op.results[0]))
        operands = [self.of(v) for v in op.operands]
        key = (op.name, tuple(sorted(op.attrs.items())), tuple(frozenset(p.items()) for p in operands),
               self._function.types[op.results[0]] if op.name == "arith.constant" else "")
        uniform = op.name not in _PER_PROGRAM and all(self._uniform[a] for p in operands for t in p for a in t)
        start = op.attrs.get("start", "0")
        return self._atom(key, uniform, op.name in _PER_PROGRAM and not start.startswith("-"))

    def _atom(self, key: Hashable, uniform: bool = False, positive: bool = False) -> Polynomial:
        index = self._atoms.setdefault(key, len(self._uniform))
        if index == len(self._uniform):
            self._uniform.append(uniform)
            self._positive.append(positive)
        return {(index,): 1}

    def _is_uniform(self, product: Product) -> bool:
        return all(self._uniform[a] for a in product)

    def _is_shifted(self, read: Polynomial, written: Polynomial) -> bool:
        shift = _sum(written, read, -1)
        if not all(map(self._is_uniform, shift)):
            return False
        return any(shift) and shift.keys().isdisjoint(self._strides(read))

    def _strides(self, places: Polynomial) -> set[Product]:
        """By how much, up to a number, programs and loops step."""
        return {tuple(a for a in p if self._uniform[a]) for p in places if not self._is_uniform(p)}

    def _bounds(self, load: Op) -> Iterator[tuple[Polynomial, Polynomial]]:
        """What the load's mask keeps below which launch constant, with all constants on that side."""
        pending = list(load.operands[1:2])
        while pending:
            made = self._influence.producers.get(pending.pop())
            if made is None:
                continue
            if made.name == "arith.andi" or made.name in _SAME:
                pending.extend(made.operands)
            elif made.name == "arith.cmpi" and made.attrs.get("predicate") in _BELOW:
                low, high = (self.of(made.operands[i]) for i in _BELOW[made.attrs["predicate"]])
                difference = _sum(low, high, -1)
                index = {p: f for p, f in difference.items() if not self._is_uniform(p)}
                yield index, {p: -f for p, f in difference.items() if self._is_uniform(p)}

    def _is_beyond(self, read: Polynomial, written: Polynomial, index: Polynomial, end: Polynomial) -> bool:
        """Whether what is read is a stride times `index`, and what is written that stride times `end` or more."""
        if not index:
            return False
        first, factor = next(iter(index.items()))
        for term, scale in read.items():
            stride = _quotient(term, first)
            if stride is None or scale % factor or scale // factor <= 0:
                continue
            by = {stride: scale // factor}
            rest = _sum(read, _product(by, index), -1)
            if any(_quotient(p, first) is not None for p in rest):
                continue
            first_beyond = _product(by, end)
            if first_beyond.keys() <= self._strides(rest):  # there begins what another program reads
                continue
            beyond = _sum(_sum(written, rest, -1), first_beyond, -1)
            if all(self._is_positive(p, f, stride) for p, f in beyond.items()):
                return True
        return False

    def _is_positive(self, product: Product, factor: int, stride: Product) -> bool:
        steps = _quotient(product, stride)
        return steps is not None and factor > 0 and all(self._positive[a] for a in steps)


def _sum(one: Polynomial, other: Polynomial, sign: int = 1) -> Polynomial:
    found = dict(one)
    for product, factor in other.items():
        found[product] = found.get(product, 0) + sign * factor
    return {p: f for p, f in found.items() if f}


def _product(one: Polynomial, other: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for p, f in one.items():
        for q, g in other.items():
            key = tuple(sorted((*p, *q)))
            found[key] = found.get(key, 0) + f * g
    return {p: f for p, f in found.items() if f}


def _quotient(product: Product, divisor: Product) -> Product | None:
    """`product` without the factors of `divisor`; None if it does not have them all."""
    rest = list(product)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)
