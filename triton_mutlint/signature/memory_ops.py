"""Functions that read or write memory: what they tell about the addresses and the elements."""

from __future__ import annotations

from triton_mutlint.signature import marks
from triton_mutlint.signature.facts import NO_CONST, NOTHING, Slot, Value, every
from triton_mutlint.signature.intrinsic_call import Call


def load(call: Call) -> Value:
    pointer = call.get(0, "pointer")
    marks.address(pointer, call.line)
    marks.mask(call.get(1, "mask"), call.line)
    note_options(call)
    for slot in pointer.base:
        slot.loaded = slot.loaded or call.line
    other = call.get(2, "other")
    marks.kept((other,), call.line)  # it may be what is loaded
    if other.const is not NO_CONST and isinstance(other.const, float):
        for slot in pointer.base:
            slot.elem_float = slot.elem_float or (call.line if other.const != 0 else 0)
    return elements(pointer)


def elements(pointer: Value) -> Value:
    if isinstance(pointer.dtype, str) and pointer.dtype.startswith("*"):
        return Value(memory=pointer.base, dtype=pointer.dtype[1:])  # through a cast of the pointer
    return Value(memory=pointer.base, dtype=next(iter(pointer.base), None))


def store(call: Call) -> Value:
    pointer, value = call.get(0, "pointer"), call.get(1, "value")
    marks.address(pointer, call.line)
    mask = call.get(2, "mask")
    marks.mask(mask, call.line)
    marks.matters(mask, call.line)
    call.walk.effects += 1
    note_options(call)
    marks.kept((value,), call.line)
    if pointer.ref == "block":
        marks.same_dtype(Value(dtype=next(iter(pointer.base), None)), value)  # nothing is converted
    for slot in pointer.base:
        slot.stored = slot.stored or call.line
        if any(s.pointer for s in value.base) and not value.memory:
            slot.elem_address = slot.elem_address or call.line
    if marks.points(value):
        for slot in pointer.base:
            slot.elem_address = slot.elem_address or call.line
    return NOTHING


def atomic(call: Call) -> Value:
    pointer, value = call.get(0, "pointer"), call.get(1, "val")
    marks.address(pointer, call.line)
    integral = call.name in ("atomic_cas", "atomic_and", "atomic_or", "atomic_xor", "atomic_load", "atomic_poll")
    marks.kept((value, call.get(2, "val")) if call.name == "atomic_cas" else (value,), call.line)
    literal = value.const is not NO_CONST and isinstance(value.const, int)
    for slot in pointer.base:
        slot.loaded = slot.loaded or call.line
        slot.stored = slot.stored or call.line
        if integral or literal or marks.is_integer(value.dtype):
            slot.elem_weak_int = slot.elem_weak_int or call.line
        if integral and not marks.is_floating(value.dtype):
            slot.elem_int = slot.elem_int or call.line
    note_options(call)
    call.walk.effects += 1
    marks.matters(call.kwargs.get("mask", NOTHING), call.line)
    return elements(pointer)


def block_pointer(call: Call) -> Value:
    base = call.get(0, "base")
    marks.address(base, call.line)
    for position, name in ((1, "shape"), (2, "strides"), (3, "offsets")):
        for part in every((call.get(position, name),)):
            marks.integer(part, call.line)
    strides = call.get(2, "strides").items
    if call.name.endswith("make_tensor_descriptor") and strides:
        last = list(strides.values())[-1]
        for slot in last.base if not last.mixed else ():
            slot.unit = slot.unit or call.line
    shape = call.get(3, "block_shape") if call.name != "make_block_ptr" else call.get(4, "block_shape")
    marks.shape(shape, call.line)
    return Value(base.base, dtype=base.dtype if isinstance(base.dtype, str) else None, ref="block")


def descriptor_address(call: Call) -> Value:
    """A function of Triton 3.3 that takes the address of a descriptor: one that loads, stores or gives the object."""
    base = call.get(0, "desc_ptr" if "reinterpret" in call.name else "desc_pointer")
    marks.address(base, call.line)
    if call.name.endswith("store"):
        call.walk.effects += 1
    return Value(base.base, ref="block") if "reinterpret" in call.name else NOTHING


def descriptor_function(call: Call) -> Value:
    descriptor = call.get(0, "desc")
    method = call.name.split("_")[0]
    if method != "load":
        call.walk.effects += 1
    return descriptor_access(descriptor, method, call.args[1:], call.line)


def descriptor_access(descriptor: Value, method: str, args: tuple[Value, ...], line: int) -> Value:
    """`desc.load([...])`, `desc.store(...)`, ... on a host descriptor or one made in the kernel."""
    for argument in args:
        if argument.items is not None:
            _offsets(descriptor, tuple(argument.items.values()), line)
    if method in ("gather", "scatter"):
        for argument in args[1 if method == "scatter" else 0 :]:
            if argument.items is None and argument.memory:
                marks.integer(argument, line)
    value = args[1] if len(args) > 1 else NOTHING
    reads = method in ("load", "gather")
    marks.kept(() if reads else args, line)
    for slot in descriptor.base:
        if method.startswith("atomic_") and isinstance(value.dtype, Slot):
            slot.unite(value.dtype)  # a reduction converts nothing
        if method in _INTEGRAL:
            slot.elem_int = slot.elem_int or line
        if method in ("gather", "scatter"):
            slot.gathered = slot.gathered or line
        if not slot.pointer:
            slot.descriptor = slot.descriptor or line
        if reads:
            slot.loaded = slot.loaded or line
        else:
            slot.stored = slot.stored or line
    return elements(descriptor)


def _offsets(descriptor: Value, offsets: tuple[Value, ...], line: int) -> None:
    for offset in offsets:
        marks.integer(offset, line)
    for slot in descriptor.base:
        if not slot.pointer:
            slot.ranks = (*slot.ranks, tuple(_WHOLE if o.const == 0 else o.factors for o in offsets))


_WHOLE = frozenset(("",))  # a constant offset of 0: that dimension is taken whole
_INTEGRAL = frozenset(("atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor"))
DESCRIPTOR_METHODS = frozenset(
    ("load", "store", "gather", "scatter", "atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or",
     "atomic_xor")
)  # fmt: skip
KEYWORD_OPTIONS = frozenset(
    ("cache_modifier", "eviction_policy", "input_precision", "padding_option", "sem", "scope", "allow_tf32",
     "volatile", "max_num_imprecise_acc", "propagate_nan", "rounding_mode", "fp_downcast_rounding")
)  # fmt: skip


def note_options(call: Call) -> None:
    for name, value in call.kwargs.items():
        if name in KEYWORD_OPTIONS:
            for slot in value.bare:
                slot.keyword = slot.keyword or name
