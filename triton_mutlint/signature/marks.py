"""Writing facts on the slots that a value may be made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from triton_mutlint.signature.dtype_names import FLOATING
from triton_mutlint.signature.facts import NONE, Slot, Value, every
from triton_mutlint.signature.names import named_like_pointer


def is_floating(dtype: object) -> bool:
    return isinstance(dtype, str) and dtype in FLOATING


def is_integer(dtype: object) -> bool:
    return isinstance(dtype, str) and dtype not in FLOATING


def first(seen: int, line: int) -> int:
    return seen or line


def likely_pointer(slots: frozenset[Slot]) -> bool:
    return any(s.pointer or (not s.constexpr and named_like_pointer(s.name)) for s in slots)


def points(value: Value) -> bool:
    """Whether a value was cast to a pointer type."""
    return isinstance(value.dtype, str) and value.dtype.startswith("*")


def base_and_offset(left: Value, right: Value) -> tuple[frozenset[Slot], frozenset[Slot]]:
    """Which side of an addition is the address: the left one, unless only the right looks like it."""
    if points(left) is not points(right):  # cast to a pointer type: that one is the address
        return (left.base, right.base) if points(left) else (right.base, left.base)
    if not right.base:
        return left.base, NONE
    if not left.base:
        return right.base, NONE
    left_runs = all(s.constexpr or s.integer for s in left.base)
    right_is = likely_pointer(right.base) and not likely_pointer(left.base)
    if left_runs or right_is:
        return right.base, left.base
    return left.base, right.base


def address(value: Value, line: int) -> None:
    """`value` is dereferenced: its base is a pointer and what was added to it is an integer."""
    for part in every((value,)):
        for slot in part.base:
            slot.pointer = first(slot.pointer, line)
        offsets(part, line)


def offsets(value: Value, line: int) -> None:
    cast = value.dtype in ("i64", "u64")
    for slot in value.mixed:
        if not (cast and slot.to_int):
            slot.integer = first(slot.integer, line)
    if value.base or value.mixed or isinstance(value.dtype, Slot):
        elements_integer(value, line)


def elements_integer(value: Value, line: int) -> None:
    if is_floating(value.dtype):
        return  # computed as a float, or cast
    for slot in value.memory:
        slot.elem_int = first(slot.elem_int, line)


def integer(value: Value, line: int) -> None:
    """`value` must be an integer, and so must all that it was made of."""
    for part in every((value,)):
        cast = part.dtype in ("i64", "u64")
        for slot in part.base | part.mixed:
            if not (cast and slot.to_int):  # an address, or a number made wider: the cast did it
                slot.integer = first(slot.integer, line)
        elements_integer(part, line)
        if isinstance(part.dtype, Slot) and part.dtype.constexpr:
            part.dtype.elem_int = first(part.dtype.elem_int, line)  # a dtype parameter


def weakly_integer(value: Value, line: int) -> None:
    for slot in value.base | value.mixed:
        slot.weak_int = first(slot.weak_int, line)
    for slot in value.memory if isinstance(value.dtype, Slot | None) else ():
        slot.elem_weak_int = first(slot.elem_weak_int, line)


def floating(value: Value, line: int) -> None:
    """`value` must be a floating-point number; a cast or a constant in between says nothing more."""
    for part in every((value,)):
        if isinstance(part.dtype, str):
            continue
        for slot in part.base | part.mixed:
            if not slot.constexpr or slot in part.base:  # an integer constexpr takes part in any arithmetic
                slot.floating = first(slot.floating, line)
        for slot in part.memory:
            slot.elem_float = first(slot.elem_float, line)


def weakly_floating(value: Value, line: int) -> None:
    for slot in value.base:
        slot.weak_float = first(slot.weak_float, line)


def mask(value: Value, line: int) -> None:
    """`value` is a mask; elements loaded and used as one without a comparison are booleans."""
    if isinstance(value.dtype, Slot):
        for slot in value.memory:
            slot.elem_bool = first(slot.elem_bool, line)
    for slot in value.base:
        if not slot.constexpr:
            slot.boolean = first(slot.boolean, line)


def same_dtype(left: Value, right: Value) -> None:
    """Both operands must have one element type (`tl.dot`)."""
    a, b = left.dtype, right.dtype
    if isinstance(a, Slot) and isinstance(b, Slot):
        a.unite(b)
    elif isinstance(a, Slot) and isinstance(b, str):
        give_dtype(a, b)
    elif isinstance(b, Slot) and isinstance(a, str):
        give_dtype(b, a)


def give_dtype(slot: Slot, dtype: str) -> None:
    root = slot.root()
    if dtype not in ("int", "float"):
        root.elem_dtype = root.elem_dtype or dtype


def kept(values: Iterable[Value], line: int) -> None:
    """The values are put into memory, from which they may be loaded again."""
    for part in every(values):
        for slot in part.base | part.mixed:
            slot.kept = first(slot.kept, line)


def alike(left: Value, right: Value) -> None:
    """One name, or one result, is either value: both are pointers or neither is."""
    for cast, plain in ((left, right), (right, left)):
        if isinstance(cast.dtype, str) and cast.dtype[1:] and points(cast) and not points(plain):
            for slot in plain.base:
                give_dtype(slot, cast.dtype[1:])  # the pointer that the other was cast to
    if not (left.base and right.base) or left.base == right.base:
        return
    for one in left.base:
        for other in right.base:
            if one is not other and other not in one.kin:
                one.kin.append(other)
                other.kin.append(one)


def agree(left: Value, right: Value, line: int) -> None:
    """A name bound to both must keep one type: elements joined with an integer are integers."""
    if left.items is not None and right.items is not None:
        for key, value in left.items.items():
            if key in right.items:
                agree(value, right.items[key], line)
        return
    alike(left, right)
    for value, other in ((left, right), (right, left)):
        if is_integer(value.dtype) and value.dtype != "i1" and isinstance(other.dtype, Slot):
            elements_integer(other, line)
        if value.dtype == "int" and other.dtype is None and not other.memory:
            weakly_integer(other, line)
        if is_floating(value.dtype) and other.dtype is None and not other.memory:
            weakly_floating(other, line)


def summed(left: Value, right: Value, wide: bool = False) -> None:
    """The right one is added to the left one, or subtracted from it: of two addresses that makes a distance.

    `wide` says that the right one is a wide integer there, whatever it was before.
    """
    for one in left.base | left.mixed:
        for other in right.base | right.mixed:
            if one is not other and not (one.constexpr or other.constexpr):
                one.summed[other] = one.summed.get(other, False) or wide or right.dtype in ("i64", "u64")


def spread(slots: Iterable[Slot]) -> None:
    """A pointer makes pointers of its kin."""
    pending = [s for s in slots if s.pointer or s.descriptor]
    while pending:
        slot = pending.pop()
        for other in slot.kin:
            if not (other.pointer or other.descriptor or other.constexpr):
                other.pointer, other.descriptor, other.ranks = slot.pointer, slot.descriptor, slot.ranks
                pending.append(other)
            if slot.pointer and other.pointer:
                slot.unite(other)


def handed(values: Iterable[Value], line: int) -> None:
    """The values go to a function that is not known here: it may write through them."""
    for part in every(values):
        for slot in part.base:
            slot.stored = first(slot.stored, line)
            slot.addressed = first(slot.addressed, line)


def handed_to(function: Slot, passed: Mapping[int | str, Value], line: int) -> None:
    """Values go to a function that is itself a parameter, by position or name: which it is decides what it does."""
    for key, value in passed.items():
        for part in every((value,)):
            for slot in (*part.base, *(s for s in part.mixed if s.to_int)):
                slot.handed.setdefault((function, key), line)


def matters(value: Value, line: int) -> None:
    """What a compile-time value decides here can change what is written, or where."""
    for slot in value.base | value.mixed | value.tests:
        if slot.constexpr or slot.none_test or slot.branch:
            slot.matters = first(slot.matters, line)


def moves(one: Value, other: Value, tests: frozenset[Slot], line: int) -> None:
    """A test chooses between two values; when they turn out to be pointers, it matters."""
    opaque = any(points(v) for v in (one, other))
    if one.ref is not other.ref or (opaque and one.base != other.base) or (opaque and not one.base):
        for slot in tests:
            slot.matters = first(slot.matters, line)
    for slot in one.base ^ other.base:
        if not slot.constexpr:
            slot.movers.update(tests)


def settle(slots: Iterable[Slot]) -> None:
    """Now that pointers are known: what chooses between them matters."""
    for slot in slots:
        if slot.pointer or slot.descriptor:
            for mover in slot.movers:
                mover.matters = first(mover.matters, slot.pointer or slot.descriptor)


def shape(value: Value, line: int) -> None:
    for part in every((value,)):
        for slot in part.base | part.mixed:
            slot.shape = first(slot.shape, line)


def note(value: Value, fact: str, line: int) -> None:
    """Record `fact` on the parameters that `value` may be as they stand."""
    for slot in value.bare:
        if not getattr(slot, fact):
            setattr(slot, fact, line)
