"""One call of a `triton.language` function, and how values combine."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_mutlint.signature.dtype_names import promoted
from triton_mutlint.signature.facts import NO_CONST, NONE, NOTHING, Dtype, Value, either, every, refs_of, union

if TYPE_CHECKING:
    from triton_mutlint.signature.expressions import Evaluator


@dataclass(frozen=True)
class Call:
    """One call of a `tl` function: evaluated arguments, and the walk it stands in."""

    name: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    node: ast.Call
    walk: Evaluator

    @property
    def line(self) -> int:
        return self.node.lineno

    def get(self, position: int, name: str) -> Value:
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(name, NOTHING)

    @property
    def values(self) -> tuple[Value, ...]:
        return (*self.args, *self.kwargs.values())


def blend(values: tuple[Value, ...], dtype: Dtype = None) -> Value:
    """A value computed elementwise from `values`."""
    mixed = memory = tests = NONE
    found: Dtype = None
    for value in every(values):
        mixed = union(union(mixed, value.base), value.mixed)
        memory = union(memory, value.memory)
        tests = union(tests, value.tests)
        found = promoted(found, value.dtype)
    return Value(NONE, mixed, memory, dtype if dtype is not None else found, tests=tests)


def merge(left: Value, right: Value) -> Value:
    """Either of two values (`tl.where`, the two ends of an `if`)."""
    if left is right or left is NOTHING:
        return right
    if right is NOTHING:
        return left
    items = None
    if left.items is not None and right.items is not None and left.items.keys() == right.items.keys():
        items = {k: merge(v, right.items[k]) for k, v in left.items.items()}
    dtype = left.dtype
    if dtype is None or dtype == "int" or (dtype == "float" and right.dtype != "int"):
        dtype = right.dtype if right.dtype is not None else left.dtype
    return Value(
        union(left.base, right.base),
        union(left.mixed, right.mixed),
        union(left.memory, right.memory),
        dtype,
        left.const if left.const is right.const else NO_CONST,
        items,
        left.factors | right.factors if left.factors != right.factors else left.factors,
        left.is_dtype or right.is_dtype,
        left.ref if left.ref is right.ref else either((*refs_of(left), *refs_of(right))),
        union(left.tests, right.tests),
    )
