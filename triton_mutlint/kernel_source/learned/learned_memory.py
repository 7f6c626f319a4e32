"""What functions of `triton.language` that access memory tell about their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.marks import note
from triton_mutlint.kernel_source.operations import stores
from triton_mutlint.kernel_source.slots import NO_TRACE, Dtype, Trace
from triton_mutlint.kernel_source.values import NOTHING, MayBe

_WHOLE = frozenset(("",))  # a constant offset of 0: that dimension is taken whole
_INTEGRAL = frozenset(("atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor"))
DESCRIPTOR_METHODS = frozenset(
    ("load", "store", "gather", "scatter", "atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or",
     "atomic_xor")
)  # fmt: skip
ADDRESSES = frozenset(("ptr", "pointer", "tensor_desc", "desc"))  # parameters of Gluon's functions
KEYWORD_OPTIONS = frozenset(
    ("cache_modifier", "eviction_policy", "input_precision", "padding_option", "sem", "scope", "allow_tf32",
     "volatile", "max_num_imprecise_acc", "propagate_nan", "rounding_mode", "fp_downcast_rounding")
)  # fmt: skip


class Learner(Protocol):
    """Takes what a call tells of the kernel as a whole."""

    pointers: bool

    def cast(self, value: MayBe, kind: MayBe, line: int, bitcast: bool) -> Trace: ...

    def sum(self, left: Trace, right: Trace, line: int) -> Trace: ...


@dataclass(frozen=True)
class Call:
    """One call of a `tl` function: its arguments, the line in the kernel's own body, and what is learnt."""

    name: str
    args: tuple[MayBe, ...]
    named: Mapping[str, MayBe]
    line: int
    learning: Learner

    def get(self, position: int, name: str) -> MayBe:
        return self.args[position] if position < len(self.args) else self.named.get(name, NOTHING)

    def options(self) -> None:
        for name, value in self.named.items():
            if name in KEYWORD_OPTIONS:
                for slot in value.made.bare:
                    slot.keyword = slot.keyword or name


def load_call(call: Call) -> Trace:
    pointer = call.get(0, "pointer")
    marks.address(pointer, call.line)
    marks.mask(call.get(1, "mask"), call.line)
    call.options()
    note(pointer.made.base, "loaded", call.line)
    marks.kept((call.get(2, "other"),), call.line)  # it may be what is loaded
    return elements_of(pointer.made)


def elements_of(pointer: Trace) -> Trace:
    dtype: Dtype = next(iter(pointer.base), None)
    if isinstance(pointer.dtype, str) and pointer.points:
        dtype = pointer.dtype[1:]  # through a cast of the pointer
    return Trace(memory=pointer.base, dtype=dtype)


def store_call(call: Call) -> Trace:
    pointer, value, mask = call.get(0, "pointer"), call.get(1, "value"), call.get(2, "mask")
    marks.address(pointer, call.line)
    marks.mask(mask, call.line)
    marks.matters(mask, call.line)
    call.options()
    marks.kept((value,), call.line)
    note(pointer.made.base, "stored", call.line)
    if value.made.points or (any(s.pointer for s in value.made.base) and not value.made.memory):
        note(pointer.made.base, "elem_address", call.line)
    return NO_TRACE


def atomic_call(call: Call) -> Trace:
    pointer, value = call.get(0, "pointer"), call.get(1, "val")
    marks.address(pointer, call.line)
    integral = call.name in ("atomic_cas", "atomic_and", "atomic_or", "atomic_xor", "atomic_load", "atomic_poll")
    marks.kept((value, call.get(2, "val")) if call.name == "atomic_cas" else (value,), call.line)
    note(pointer.made.base, "loaded", call.line)
    note(pointer.made.base, "stored", call.line)
    if integral and not value.made.is_floating:
        note(pointer.made.base, "elem_int", call.line)
    call.options()
    marks.matters(call.named.get("mask", NOTHING), call.line)
    return elements_of(pointer.made)


def block_pointer(call: Call) -> Trace:
    base = call.get(0, "base")
    marks.address(base, call.line)
    for position, name in ((1, "shape"), (2, "strides"), (3, "offsets")):
        marks.integer(call.get(position, name), call.line)
    strides = call.get(2, "strides").items
    if call.name.endswith("make_tensor_descriptor") and strides and not strides[-1].made.mixed:
        note(strides[-1].made.base, "unit", call.line)
    marks.shape(call.get(4 if call.name == "make_block_ptr" else 3, "block_shape"), call.line)
    dtype = base.made.dtype if isinstance(base.made.dtype, str) else None
    return Trace(base.made.base, dtype=dtype, is_block=True)


def descriptor_address(call: Call) -> Trace:
    """A function of Triton 3.3 that takes the address of a descriptor: one that loads, stores or gives the object."""
    base = call.get(0, "desc_ptr" if "reinterpret" in call.name else "desc_pointer")
    marks.address(base, call.line)
    return Trace(base.made.base, is_block=True) if "reinterpret" in call.name else NO_TRACE


def descriptor_function(call: Call) -> Trace:
    return descriptor_access(call.get(0, "desc"), call.name.split("_")[0], call.args[1:], call.line)


def by_parameter(call: Call) -> Trace:
    """A function of Gluon for one vendor's targets that accesses memory: its parameters say what they are."""
    method = "store" if stores(call.name) else "load"
    pointer, mask = call.named.get("ptr", call.named.get("pointer", NOTHING)), call.named.get("mask", NOTHING)
    descriptor = call.named.get("tensor_desc", call.named.get("desc", NOTHING))
    marks.integer(call.named.get("offsets", NOTHING), call.line)
    marks.mask(mask, call.line)
    if descriptor is not NOTHING:
        places = tuple(call.named[n] for n in ("coord", "x_offsets", "y_offset") if n in call.named)
        return descriptor_access(descriptor, method, places, call.line)
    marks.address(pointer, call.line)
    note(pointer.made.base, "loaded" if method == "load" else "stored", call.line)
    if method == "store":
        marks.matters(mask, call.line)
        marks.kept((v for n, v in call.named.items() if n in ("value", "stored_value")), call.line)
    return elements_of(pointer.made)


def descriptor_access(descriptor: MayBe, method: str, args: tuple[MayBe, ...], line: int) -> Trace:
    """`desc.load([...])`, `desc.store(...)`, ... on a host descriptor or one made in the kernel."""
    slots = descriptor.made.base
    for argument in args:
        for offset in argument.items or ():
            marks.integer(offset, line)
        for slot in slots if argument.items is not None else ():
            if not slot.pointer:
                rank = tuple(_WHOLE if o.value == 0 else o.made.factors for o in argument.items or ())
                slot.ranks = (*slot.ranks, rank)
    if method in ("gather", "scatter"):
        for argument in args[1 if method == "scatter" else 0 :]:
            if argument.items is None and argument.made.memory:
                marks.integer(argument, line)
        note(slots, "gathered", line)
    reads = method in ("load", "gather")
    marks.kept(() if reads else args, line)
    note(slots if method in _INTEGRAL else (), "elem_int", line)
    note((slot for slot in slots if not slot.pointer), "descriptor", line)
    note(slots, "loaded" if reads else "stored", line)
    return elements_of(descriptor.made)
