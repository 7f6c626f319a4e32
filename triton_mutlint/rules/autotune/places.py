"""Addresses as sums of products, to compare where loads and stores go.

A polynomial maps products of atoms to their factor. Atoms are values that are not taken apart: arguments, program ids,
ranges, loop variables, loaded values. Overflow is left out of account.
"""

from __future__ import annotations

from collections.abc import Hashable

from triton_mutlint.analysis.constants import integer_constant
from triton_mutlint.rules.autotune.flow import Stores
from triton_mutlint.ttir.ir import Function, Op
from triton_mutlint.ttir.ops import Flow as Carries
from triton_mutlint.ttir.ops import lookup

Product = tuple[int, ...]
Polynomial = dict[Product, int]

MAX_TERMS = 40
MAX_FACTORS = 6
_SAME = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.unsplat", "arith.extsi",
                   "arith.extui", "arith.trunci", "arith.index_cast"})
_PER_PROGRAM = frozenset({"tt.get_program_id", "tt.make_range"})


class CellPlaces:
    """The polynomials of one function's values, and what they say about its memory accesses."""

    def __init__(self, function: Function, flow: Stores) -> None:
        self._types, self._starts = function.types, flow.starts
        self._atoms: dict[Hashable, int] = {}
        self._uniform: list[bool] = []  # by atom: the same in every program of a launch
        self._blind: set[int] = set()  # atoms of which nothing is known: loaded values, and what a loop carries
        self._known = {value: self._atom(value, uniform=True) for value in range(function.n_args)}
        for site in flow.sites:
            if len(site.op.results) == 1:
                found = self._computed(site.op)
                if len(found) > MAX_TERMS or any(len(product) > MAX_FACTORS for product in found):
                    found = self._opaque(site.op.results[0])
                self._known[site.op.results[0]] = found

    def of(self, op: Op) -> list[Polynomial]:
        """Where a memory op goes: its address, or its descriptor and the indices, which stand after the value."""
        if "descriptor" not in op.name:
            return [self._value(op.operands[0])]
        return [self._value(v) for v in (op.operands[0], *op.operands[1 if op.results else 2:])]

    def same(self, one: Op, other: Op) -> bool:
        """Whether two ops go to the same place."""
        return self.of(one) == self.of(other)

    def apart(self, argument: int, load: Op, store: Op) -> bool:
        """Whether two accesses of the memory of `argument` look as if they never met.

        So they do if a launch constant moves the one and not the other, by what is no step between programs or
        iterations, and nothing leads back: all else only counts upwards.
        """
        (read, *indices), (written, *_) = self.of(load), self.of(store)
        if indices or (argument,) not in read.keys() & written.keys():
            return False
        fixed = {p for p in read.keys() | written.keys()
                 if p and self._is_uniform(p) and read.get(p) != written.get(p)}
        steps = [(p, f) for place in (read, written) for p, f in place.items() if not self._is_uniform(p)]
        strides = {tuple(a for a in p if self._uniform[a]) for p, _ in steps}
        upwards = all(factor > 0 and self._blind.isdisjoint(product) for product, factor in steps)
        return bool(fixed) and fixed.isdisjoint(strides) and upwards

    def _value(self, value: int) -> Polynomial:
        if value not in self._known:
            start = self._starts.get(value)
            counted = self._atom(("iteration", value))
            self._known[value] = self._opaque(value) if start is None else _sum(self._value(start), counted)
        return self._known[value]

    def _opaque(self, value: int) -> Polynomial:
        found = self._atom(value)
        self._blind.update(*found)
        return found

    def _computed(self, op: Op) -> Polynomial:
        constant = integer_constant(op)
        if constant is not None:
            return {(): constant} if constant else {}
        operands = [self._value(v) for v in op.operands]
        if op.name in _SAME:
            return operands[0]
        if op.name in {"arith.addi", "tt.addptr"}:
            return _sum(operands[0], operands[1])
        if op.name == "arith.subi":
            return _sum(operands[0], operands[1], -1)
        if op.name == "arith.muli":
            return _product(operands[0], operands[1])
        info = lookup(op.name)
        if info is None or info.touches_memory or info.flow is Carries.SPECIAL:
            return self._opaque(op.results[0])
        key = (op.name, tuple(sorted(op.attrs.items())), tuple(frozenset(p.items()) for p in operands),
               self._types[op.results[0]] if op.name == "arith.constant" else "")
        return self._atom(key, op.name not in _PER_PROGRAM and all(self._is_uniform(t) for p in operands for t in p))

    def _atom(self, key: Hashable, uniform: bool = False) -> Polynomial:
        index = self._atoms.setdefault(key, len(self._uniform))
        if index == len(self._uniform):
            self._uniform.append(uniform)
        return {(index,): 1}

    def _is_uniform(self, product: Product) -> bool:
        return all(self._uniform[a] for a in product)


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
