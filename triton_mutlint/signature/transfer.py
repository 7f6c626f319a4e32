"""From a helper's parameters to the arguments of one call: its facts, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping

from triton_mutlint.signature import marks
from triton_mutlint.signature.facts import NO_CONST, NONE, NOTHING, Slot, Value, union

_COPIED = ("arithmetic", "scalar", "number", "exponent", "direct", "to_int", "address_int", "branch", "none_test",
           "dtype", "shape", "dot", "unroll", "text", "called", "boolean", "gathered", "matters",
           "models", "models_loaded")  # fmt: skip


_ELEMENT_FACTS = ("loaded", "stored", "elem_int", "elem_weak_int", "elem_float", "elem_bool", "elem_address",
                  "elem_dot")  # fmt: skip


def apply(formal: Slot, actual: Value, line: int) -> None:
    """What a helper does with a parameter, said of the argument passed for it."""
    if formal.pointer:
        marks.address(actual, line)
    if formal.integer:
        marks.integer(actual, line)
    if formal.floating:
        marks.floating(actual, line)
    if formal.weak_int:
        marks.weakly_integer(actual, line)
    if formal.weak_float:
        marks.weakly_floating(actual, line)
    for slot in actual.base:
        _apply_elements(formal, slot, line)
    for slot in actual.base | actual.mixed if formal.addressed else ():
        slot.addressed = slot.addressed or line
    if formal.kept:
        marks.kept((actual,), line)
    bare = actual.bare
    if formal.boolean and not bare:
        marks.mask(actual, line)
    for slot in bare:
        _apply_value(formal, slot, line)
    for key, child in formal.children.items():
        apply(child, item(actual, key), line)


def _apply_value(formal: Slot, slot: Slot, line: int) -> None:
    for name in _COPIED:
        if getattr(formal, name) and not getattr(slot, name):
            setattr(slot, name, line)
    if formal.descriptor and not slot.pointer:
        slot.descriptor = slot.descriptor or line
        slot.ranks += tuple(tuple(frozenset() for _ in rank) for rank in formal.ranks)
    slot.keyword = slot.keyword or formal.keyword
    slot.arity = max(slot.arity, formal.arity)
    slot.literals += tuple(v for v in formal.literals if v not in slot.literals)
    slot.bounds += tuple(v for v in formal.bounds if v not in slot.bounds)
    slot.length = slot.length or formal.length


def _apply_elements(formal: Slot, slot: Slot, line: int) -> None:
    for name in _ELEMENT_FACTS:
        if getattr(formal, name) and not getattr(slot, name):
            setattr(slot, name, line)
    root = slot.root()
    root.elem_dtype = root.elem_dtype or formal.root().elem_dtype
    slot.elem_bits = slot.elem_bits or formal.elem_bits


def item(value: Value, key: int | str) -> Value:
    if value.items is not None:
        if key == "*":
            return Value(items=value.items)
        return value.items.get(key, NOTHING)
    return Value(frozenset(s.child(key) for s in value.bare))


def resolve(slot: Slot, bound: Mapping[str, Value]) -> Value:
    value = bound.get(slot.name, NOTHING)
    for key in slot.path:
        value = item(value, key)
    return value


def substitute(value: Value, bound: Mapping[str, Value]) -> Value:
    """A helper's result, with the arguments in place of its parameters."""
    if value is NOTHING:
        return value
    items = None if value.items is None else {k: substitute(v, bound) for k, v in value.items.items()}
    base, mixed, memory = NONE, NONE, NONE
    dtype = value.dtype
    for slot in value.base:
        actual = resolve(slot, bound)
        if items is None and actual.items is not None and len(value.base) == 1 and not value.mixed:
            return actual
        base, mixed = union(base, actual.base), union(mixed, actual.mixed)
        memory = union(memory, actual.memory)
        dtype = actual.dtype if dtype is None else dtype
    for slot in value.mixed:
        actual = resolve(slot, bound)
        mixed = union(union(mixed, actual.base), actual.mixed)
        memory = union(memory, actual.memory)
    for slot in value.memory:
        memory = union(memory, resolve(slot, bound).base)
    tests = NONE
    for slot in value.tests:
        actual = resolve(slot, bound)
        tests = union(tests, actual.tests | actual.base | actual.mixed)
    if isinstance(dtype, Slot):
        actual = resolve(dtype, bound)
        dtype = next(iter(actual.base), None)
    return Value(base, mixed, memory, dtype, NO_CONST if value.const is NO_CONST else value.const, items,
                 is_dtype=value.is_dtype, ref=value.ref, tests=tests)  # fmt: skip
