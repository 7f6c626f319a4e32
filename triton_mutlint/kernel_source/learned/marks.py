"""Noting facts on the slots that a value may be made of, and what a name suggests: the weakest evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from triton_mutlint.kernel_source.slots import NONE, Dtype, Slot, Slots, Trace
from triton_mutlint.kernel_source.values import MayBe, made


def note(slots: Iterable[Slot], fact: str, line: int) -> None:
    """Note the first line at which a fact holds."""
    for slot in slots:
        if not getattr(slot, fact):
            setattr(slot, fact, line)


def base_and_offset(left: Trace, right: Trace) -> tuple[Slots, Slots]:
    """Which side of an addition is the address: the left one, unless only the right looks like it."""
    if left.points is not right.points:  # cast to a pointer type: that one is the address
        return (left.base, right.base) if left.points else (right.base, left.base)
    if not right.base:
        return left.base, NONE
    if not left.base:
        return right.base, NONE
    left_runs = all(s.constexpr or s.integer for s in left.base)
    right_is = _likely_pointer(right.base) and not _likely_pointer(left.base)
    if left_runs or right_is:
        return right.base, left.base
    return left.base, right.base


def _likely_pointer(slots: Slots) -> bool:
    return any(s.pointer or (not s.constexpr and named_like_pointer(s.name)) for s in slots)


def address(value: MayBe, line: int) -> None:
    """`value` is dereferenced: its base is a pointer and what was added to it is an integer."""
    for part in made((value,)):
        # What was cast to the type of a parameter: that is one of pointers.
        model = {part.dtype} if isinstance(part.dtype, Slot) and not (part.base or part.dtype.constexpr) else set()
        note((*part.base, *model), "pointer", line)
        note((s for s in part.mixed if s not in model and not (part.is_wide and s.to_int)), "integer", line)
        if part.base or part.mixed or isinstance(part.dtype, Slot):
            elements_integer(part, line)


def elements_integer(part: Trace, line: int) -> None:
    if not part.is_floating:  # else computed as a float, or cast
        note(part.memory, "elem_int", line)


def integer(value: MayBe, line: int) -> None:
    """`value` must be an integer, and so must all that it was made of."""
    for part in made((value,)):
        # An address, or a number made wider: the cast did it.
        note((s for s in part.takes_part if not (part.is_wide and s.to_int)), "integer", line)
        elements_integer(part, line)
        if isinstance(part.dtype, Slot) and part.dtype.constexpr:
            note((part.dtype,), "elem_int", line)  # a dtype parameter


def floating(value: MayBe, line: int) -> None:
    """`value` must be a floating-point number; a cast or a constant in between says nothing more."""
    for part in made((value,)):
        if not isinstance(part.dtype, str):
            # An integer constexpr takes part in any arithmetic.
            note((s for s in part.takes_part if not s.constexpr or s in part.base), "floating", line)


def beside(slots: Slots, other: Trace, line: int) -> None:
    """`slots` are computed with `other`: if that is a floating-point number, they are no pointers."""
    for fact in ("number", "fraction") if other.is_floating else ():
        note(slots, fact, line)


def mask(value: MayBe, line: int) -> None:
    """`value` is a mask, or an operand of `not`, `and` or `or`: without a comparison, Triton wants a boolean there."""
    own = value.made
    for slot in own.memory if isinstance(own.dtype, Slot) else ():
        slot.give_dtype("i1")
    note(own.bare if own.dtype is None else (), "truth", line)


def factors(product: Trace, total: Dtype) -> None:
    """A matrix product goes into a total of this type: whole numbers are sums of products of bytes."""
    for slot in product.memory if product.is_product and total == "i32" else ():
        slot.give_dtype("i8")


def kept(values: Iterable[MayBe], line: int) -> None:
    """The values are put into memory, from which they may be loaded again."""
    for part in made(values):
        note(part.takes_part, "kept", line)


def alike(left: Trace, right: Trace) -> None:
    """One name, or one result, is either value: both are pointers or neither is."""
    for cast, plain in ((left, right), (right, left)):
        if isinstance(cast.dtype, str) and cast.dtype[1:] and cast.points and not plain.points:
            for slot in plain.base:
                slot.give_dtype(cast.dtype[1:])  # the pointer that the other was cast to
    if not (left.base and right.base) or left.base == right.base:
        return
    for one in left.base:
        for other in right.base:
            if one is not other and other not in one.kin:
                one.kin.append(other)
                other.kin.append(one)


def agree(left: MayBe, right: MayBe, line: int) -> None:
    """A name bound to both must keep one type: elements joined with an integer are integers."""
    if left.items is not None and right.items is not None:
        for one, two in zip(left.items, right.items, strict=False):
            agree(one, two, line)
        return
    alike(left.made, right.made)
    for value, other in ((left.made, right.made), (right.made, left.made)):
        if value.is_integer and value.dtype != "i1" and isinstance(other.dtype, Slot):
            elements_integer(other, line)


def summed(left: Trace, right: Trace) -> None:
    """The right one is added to the left one, or subtracted from it: of two addresses that makes a distance."""
    for one in left.takes_part:
        for other in right.takes_part:
            if one is not other and not (one.constexpr or other.constexpr):
                one.summed[other] = one.summed.get(other, False) or right.is_wide


def spread(slots: Iterable[Slot]) -> None:
    """A pointer makes pointers of its kin."""
    pending = [s for s in slots if s.pointer or s.descriptor]
    while pending:
        slot = pending.pop()
        for other in slot.kin:
            if not (other.pointer or other.descriptor or other.constexpr):
                other.pointer, other.descriptor, other.ranks = slot.pointer, slot.descriptor, slot.ranks
                pending.append(other)


def settle(slots: Iterable[Slot]) -> None:
    """Now that pointers are known: what chooses between them matters."""
    for slot in slots:
        if slot.pointer or slot.descriptor:
            note(slot.movers, "matters", slot.pointer or slot.descriptor)


def handed(values: Iterable[MayBe], line: int) -> None:
    """The values go to a function that is not known here: it may write through them."""
    for part in made(values):
        note(part.base, "stored", line)
        note(part.base, "addressed", line)


def handed_to(values: Iterable[MayBe], line: int) -> None:
    """The values go to a function that is itself a parameter."""
    for part in made(values):
        note((*part.base, *(s for s in part.mixed if s.to_int)), "handed", line)


def matters(value: MayBe, line: int) -> None:
    """What a compile-time value decides here can change what is written, or where."""
    note((s for s in value.made.decided if s.constexpr or s.none_test or s.branch), "matters", line)


def moves(one: MayBe, other: MayBe, tests: Slots, line: int) -> None:
    """A test chooses between two values; when they turn out to be pointers, it matters."""
    left, right = one.made, other.made
    opaque = left.points or right.points
    if one.functions != other.functions or (opaque and (left.base != right.base or not left.base)):
        note(tests, "matters", line)
    for slot in left.base ^ right.base:
        if not slot.constexpr:
            slot.movers.update(tests)


def shape(value: MayBe, line: int) -> None:
    for part in made((value,)):
        # A power of two that is shifted or divided by some number is a dimension, and the number is none.
        note((s for s in part.takes_part if s in part.bare or not (s.exponent or s.divides)), "shape", line)


def use_dtype(kind: Trace, line: int) -> None:
    """`kind` is used as a dtype, and so are the compile-time parameters that it may be."""
    note((s for s in kind.bare if s.constexpr or not kind.is_dtype), "dtype", line)  # else it is a parameter's dtype


_POINTER = re.compile(
    r"(^|_)(p?ptrs?|pointers?|buf|buffer|tensor|base)\d*(_|$)|Ptr|(^|[a-z])_?ptrs?$|^(out|output|input|x|y|src|dst)$",
)
_INTEGER = re.compile(
    r"(^|_)(strides?|size|sizes|len|num|n|m|k|dim|dims|numel|count|seed|offset|start|end|idx|index|rows?|"
    r"cols?|heads?|batch|seqlen|block|blocks|tokens?|elements?|steps?|rank|world)(_|\d|$)|"
    r"^stride|_stride",
    re.IGNORECASE,
)
_DTYPE = re.compile(r"(^|_)(dtype|dtypes|type|dt)(_|$)|DTYPE$|TYPE$", re.IGNORECASE)


def named_like_pointer(name: str) -> bool:
    return _POINTER.search(name) is not None


def named_like_integer(name: str) -> bool:
    return _INTEGER.search(name) is not None or (len(name) <= 3 and name.isupper())


def named_like_dtype(name: str) -> bool:
    return _DTYPE.search(name) is not None
