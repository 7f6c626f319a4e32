"""What each function of `triton.language` tells about its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_mutlint.signature import marks
from triton_mutlint.signature.dtype_names import promoted
from triton_mutlint.signature.facts import INT, NO_CONST, NONE, NOTHING, Dtype, Slot, Value, every, union

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
    mixed = memory = NONE
    found: Dtype = None
    for value in every(values):
        mixed = union(union(mixed, value.base), value.mixed)
        memory = union(memory, value.memory)
        found = promoted(found, value.dtype)
    return Value(NONE, mixed, memory, dtype if dtype is not None else found)


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
        left.ref or right.ref,
    )


# --------------------------------------------------------------------------- memory


def _pointer_slots(pointer: Value) -> frozenset[Slot]:
    return pointer.base


def _load(call: Call) -> Value:
    pointer = call.get(0, "pointer")
    marks.address(pointer, call.line)
    marks.mask(call.get(1, "mask"), call.line)
    _options(call)
    for slot in pointer.base:
        slot.loaded = slot.loaded or call.line
    other = call.get(2, "other")
    if other.const is not NO_CONST and isinstance(other.const, float):
        for slot in pointer.base:
            slot.elem_float = slot.elem_float or (call.line if other.const != 0 else 0)
    return _elements(pointer)


def _elements(pointer: Value) -> Value:
    if isinstance(pointer.dtype, str) and pointer.dtype.startswith("*"):
        return Value(memory=pointer.base, dtype=pointer.dtype[1:])  # through a cast of the pointer
    return Value(memory=pointer.base, dtype=next(iter(pointer.base), None))


def _store(call: Call) -> Value:
    pointer, value = call.get(0, "pointer"), call.get(1, "value")
    marks.address(pointer, call.line)
    marks.mask(call.get(2, "mask"), call.line)
    _options(call)
    for slot in pointer.base:
        slot.stored = slot.stored or call.line
        if any(s.pointer for s in value.base) and not value.memory:
            slot.elem_address = slot.elem_address or call.line
    if isinstance(value.dtype, str) and value.dtype.startswith("*"):
        for slot in pointer.base:
            slot.elem_address = slot.elem_address or call.line
    return NOTHING


def _atomic(call: Call) -> Value:
    pointer, value = call.get(0, "pointer"), call.get(1, "val")
    marks.address(pointer, call.line)
    integral = call.name in ("atomic_cas", "atomic_and", "atomic_or", "atomic_xor", "atomic_load", "atomic_poll")
    literal = value.const is not NO_CONST and isinstance(value.const, int)
    for slot in pointer.base:
        slot.loaded = slot.loaded or call.line
        slot.stored = slot.stored or call.line
        if integral or literal or marks.is_integer(value.dtype):
            slot.elem_weak_int = slot.elem_weak_int or call.line
        if integral and not marks.is_floating(value.dtype):
            slot.elem_int = slot.elem_int or call.line
    _options(call)
    return _elements(pointer)


def _block_pointer(call: Call) -> Value:
    base = call.get(0, "base")
    marks.address(base, call.line)
    for position, name in ((1, "shape"), (2, "strides"), (3, "offsets")):
        for part in every((call.get(position, name),)):
            marks.integer(part, call.line)
    shape = call.get(3, "block_shape") if call.name != "make_block_ptr" else call.get(4, "block_shape")
    marks.shape(shape, call.line)
    return Value(base.base, dtype=base.dtype if isinstance(base.dtype, str) else None)


def _descriptor_function(call: Call) -> Value:
    descriptor = call.get(0, "desc")
    return descriptor_access(descriptor, call.name.split("_")[0], call.args[1:], call.line)


def descriptor_access(descriptor: Value, method: str, args: tuple[Value, ...], line: int) -> Value:
    """`desc.load([...])`, `desc.store(...)`, ... on a host descriptor or one made in the kernel."""
    for argument in args:
        if argument.items is None:
            continue
        parts = tuple(argument.items.values())
        for part in parts:
            marks.integer(part, line)
        for slot in descriptor.base:
            if not slot.pointer:
                slot.ranks = (*slot.ranks, tuple(p.factors for p in parts))
    if method in ("gather", "scatter"):
        for argument in args:
            if argument.items is None and argument.memory and argument is not (args[0] if method == "scatter" else None):
                marks.integer(argument, line)
    integral = method in ("atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor")
    for slot in descriptor.base:
        if integral:
            slot.elem_int = slot.elem_int or line
        if method in ("gather", "scatter"):
            slot.gathered = slot.gathered or line
        if not slot.pointer:
            slot.descriptor = slot.descriptor or line
        if method in ("load", "gather"):
            slot.loaded = slot.loaded or line
        else:
            slot.stored = slot.stored or line
    return _elements(descriptor)


# --------------------------------------------------------------------------- shapes and numbers


def _arange(call: Call) -> Value:
    for value in call.values:
        marks.shape(value, call.line)
    call.walk.constraint("arange", call.node)
    return INT


def _filled(call: Call) -> Value:
    shape = call.get(0, "shape")
    marks.shape(shape, call.line)
    call.walk.constraint("shape", call.node)
    position = 2 if call.name == "full" else 1
    kind = call.get(position, "dtype")
    use_dtype(kind, call.line)
    return Value(dtype=kind.dtype)


def use_dtype(kind: Value, line: int) -> None:
    if not kind.is_dtype:
        marks.note(kind, "dtype", line)


def _reshape(call: Call) -> Value:
    value = call.get(0, "input")
    for part in call.args[1:]:
        marks.shape(part, call.line)
    return value


def _cast(call: Call) -> Value:
    bitcast = call.get(3, "bitcast") if call.name == "cast" else call.kwargs.get("bitcast", NOTHING)
    return cast(call.get(0, "input"), call.get(1, "dtype"), call.line, bitcast.const is True)


def cast(value: Value, kind: Value, line: int, bitcast: bool = False) -> Value:
    """`value.to(dtype)`, also to a pointer type."""
    use_dtype(kind, line)
    dtype = kind.dtype
    if isinstance(dtype, str) and dtype.startswith("*"):
        for slot in value.memory:
            slot.elem_address = slot.elem_address or line
        for slot in value.base:
            if not (slot.pointer or slot.to_int or bitcast):
                slot.address_int = slot.address_int or line
            elif slot.to_int:
                slot.pointer = slot.pointer or line
        for slot in value.mixed if not value.base else ():
            if slot.to_int and not slot.integer:
                slot.pointer = slot.pointer or line  # an address that asm or arithmetic passed on
        return Value(value.base, dtype=dtype)
    if bitcast and isinstance(dtype, str):
        for slot in value.memory:
            slot.elem_bits = slot.elem_bits or _width(dtype)
        return Value(dtype=dtype)
    if dtype == "i64" or dtype == "u64":
        for slot in value.base:
            slot.to_int = slot.to_int or line
    elif dtype is not None:
        for slot in value.bare:
            slot.scalar = slot.scalar or line
    if marks.is_integer(dtype) and value.memory and isinstance(value.dtype, Slot):
        for slot in value.memory:
            slot.elem_weak_int = slot.elem_weak_int or line
    return Value(value.base, value.mixed, value.memory, dtype, NO_CONST, None, value.factors)


def _width(dtype: str) -> int:
    from triton_mutlint.signature.dtype_names import bits

    return bits(dtype)


def _dot(call: Call) -> Value:
    left, right = call.get(0, "input"), call.get(1, "other")
    marks.same_dtype(left, right)
    for slot in left.memory | right.memory:
        slot.elem_dot = slot.elem_dot or call.line
    for value in (left, right):
        if isinstance(value.dtype, Slot):
            value.dtype.elem_dot = value.dtype.elem_dot or call.line
    _options(call)
    acc = call.get(2, "acc")
    kind = call.kwargs.get("out_dtype", NOTHING)
    use_dtype(kind, call.line)
    dtype = acc.dtype if isinstance(acc.dtype, str) else kind.dtype or "fp32"
    memory = union(left.memory, right.memory)
    return Value(memory=memory, dtype=dtype)


def _dot_scaled(call: Call) -> Value:
    formats = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
    for position, prefix in ((0, "lhs"), (3, "rhs")):
        value, kind = call.get(position, prefix), call.get(position + 2, f"{prefix}_format")
        scale = call.get(position + 1, f"{prefix}_scale")
        for slot in value.memory:
            marks.give_dtype(slot, formats.get(kind.const if isinstance(kind.const, str) else "", "fp8e5"))
        for slot in scale.memory:
            marks.give_dtype(slot, "u8")
        for slot in kind.bare:
            slot.keyword = slot.keyword or "format"
    return Value(dtype="fp32")


def _where(call: Call) -> Value:
    condition, left, right = call.get(0, "condition"), call.get(1, "x"), call.get(2, "y")
    if isinstance(condition.dtype, Slot):
        for slot in condition.memory:
            slot.elem_weak_int = slot.elem_weak_int or call.line
    marks.alike(left, right)
    return merge(left, right)


def _index(call: Call) -> Value:
    _options(call)
    return INT


def _float_function(call: Call) -> Value:
    for value in call.values:
        marks.floating(value, call.line)
    return blend(call.args)


def _elementwise(call: Call) -> Value:
    return blend(call.args)


def _same(call: Call) -> Value:
    return call.get(0, "input")


def _reduction(call: Call) -> Value:
    value = call.get(0, "input")
    if value.items is not None:
        return value
    return Value(value.base, value.mixed, value.memory, value.dtype)


def _argument_index(call: Call) -> Value:
    return INT


def _nothing(call: Call) -> Value:
    return NOTHING


def _static_assert(call: Call) -> Value:
    call.walk.constraint("assert", call.node)
    return NOTHING


def _random(call: Call) -> Value:
    for value in call.args[:2]:
        marks.integer(value, call.line)
    return Value(dtype="i32" if "int" in call.name or call.name == "philox" else "fp32")


def _asm(call: Call) -> Value:
    text, values = call.get(1, "constraints"), call.get(2, "args")
    kind = call.get(3, "dtype")
    use_dtype(kind, call.line)
    parts = list((values.items or {}).values())
    if isinstance(text.const, str):
        inputs = [c.strip() for c in text.const.split(",") if not c.strip().startswith(("=", "~"))]
        for constraint, value in zip(inputs, parts):
            if constraint == "l" and isinstance(value.dtype, Slot | None):
                marks.address(Value(value.base), call.line)
    return blend(tuple(parts), kind.dtype or "i32")


def _combine(call: Call) -> Value:
    value = call.get(0, "input")
    function = call.get(2, "combine_fn")
    parts = tuple(value.items.values()) if value.items is not None else (value,)
    call.walk.applied(function, (*parts, *parts), call.node)
    return value if value.items is not None else _reduction(call)


def _map(call: Call) -> Value:
    call.walk.applied(call.get(0, "scalar_fn"), call.args[1:], call.node)
    return blend(call.args[1:])


def _join(call: Call) -> Value:
    return merge(call.get(0, "a"), call.get(1, "b"))


def _split(call: Call) -> Value:
    value = call.get(0, "a")
    return Value(items={0: value, 1: value})


def _pointer_type(call: Call) -> Value:
    kind = call.get(0, "element_ty")
    use_dtype(kind, call.line)
    return Value(dtype=f"*{kind.dtype if isinstance(kind.dtype, str) else ''}", is_dtype=True)


def _integer_function(call: Call) -> Value:
    return blend(call.args)


def _division(call: Call) -> Value:
    for value in call.args:
        marks.weakly_integer(value, call.line)
    return blend(call.args)


def _constexpr(call: Call) -> Value:
    return call.get(0, "value")


KEYWORD_OPTIONS = frozenset(
    ("cache_modifier", "eviction_policy", "input_precision", "padding_option", "sem", "scope", "allow_tf32",
     "volatile", "max_num_imprecise_acc", "propagate_nan", "rounding_mode", "fp_downcast_rounding")
)  # fmt: skip


def _options(call: Call) -> None:
    for name, value in call.kwargs.items():
        if name in KEYWORD_OPTIONS:
            for slot in value.bare:
                slot.keyword = slot.keyword or name


def _table() -> dict[str, Callable[[Call], Value]]:
    table: dict[str, Callable[[Call], Value]] = {
        "load": _load, "store": _store, "atomic_store": _store, "make_block_ptr": _block_pointer,
        "make_tensor_descriptor": _block_pointer, "advance": _same, "arange": _arange, "zeros": _filled,
        "full": _filled, "dot": _dot, "dot_scaled": _dot_scaled, "where": _where, "cast": _cast,
        "map_elementwise": _map, "program_id": _index, "num_programs": _index, "static_assert": _static_assert,
        "inline_asm_elementwise": _asm, "reduce": _combine, "associative_scan": _combine, "join": _join,
        "split": _split, "pointer_type": _pointer_type, "cdiv": _division, "constexpr": _constexpr,
        "prefetch": _load, "load_tensor_descriptor": _descriptor_function,
        "store_tensor_descriptor": _descriptor_function,
    }  # fmt: skip
    for names, handler in (
        ("atomic_add atomic_max atomic_min atomic_xchg atomic_cas atomic_and atomic_or atomic_xor "
         "atomic_load atomic_poll", _atomic),
        ("reshape view broadcast_to expand_dims", _reshape),
        ("trans permute ravel flip sort cumsum cumprod multiple_of max_contiguous max_constancy squeeze "
         "unsqueeze zeros_like full_like abs assume expand_dims to_tensor item topk bitonic_merge softmax", _same),
        ("exp exp2 log log2 log1p sqrt rsqrt sin cos tanh erf sigmoid ceil floor pow expm1 sqrt_rn div_rn "
         "tan asin acos atan erfinv fast_expf fast_logf fast_dividef", _float_function),
        ("maximum minimum fma add sub mul fdiv clamp umulhi interleave cat gather broadcast "
         "inline_elementwise", _elementwise),
        ("sum max min xor_sum reduce_or any all", _reduction),
        ("argmax argmin histogram", _argument_index),
        ("static_print device_print device_assert debug_barrier print", _nothing),
        ("rand randn randint rand4x randint4x randn4x philox", _random),
    ):
        for name in names.split():
            table.setdefault(name, handler)
    return table


HANDLERS = _table()
DESCRIPTOR_METHODS = frozenset(
    ("load", "store", "gather", "scatter", "atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or",
     "atomic_xor")
)  # fmt: skip
