"""What each function of `triton.language` tells about its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triton_mutlint.kernel_source import marks
from triton_mutlint.kernel_source.dtype_names import bits
from triton_mutlint.kernel_source.marks import note, use_dtype
from triton_mutlint.kernel_source.slots import INT, NO_TRACE, NONE, Dtype, Slot, Trace, blended, merged
from triton_mutlint.kernel_source.values import NOTHING, MayBe, made

if TYPE_CHECKING:
    from triton_mutlint.kernel_source.learning import Learning

_MEMORY = re.compile(r"\b(ld|st|atom|red|cp)\.|\b(global|flat|buffer|scratch)_\w+")
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


@dataclass(frozen=True)
class Call:
    """One call of a `tl` function: its arguments, the line in the kernel's own body, and what is learnt."""

    name: str
    args: tuple[MayBe, ...]
    named: Mapping[str, MayBe]
    line: int
    learning: Learning

    def get(self, position: int, name: str) -> MayBe:
        return self.args[position] if position < len(self.args) else self.named.get(name, NOTHING)

    def options(self) -> None:
        for name, value in self.named.items():
            if name in KEYWORD_OPTIONS:
                for slot in value.made.bare:
                    slot.keyword = slot.keyword or name


# ------------------------------------------------------------------------------------------------ memory


def _load(call: Call) -> Trace:
    pointer = call.get(0, "pointer")
    marks.address(pointer, call.line)
    marks.mask(call.get(1, "mask"), call.line)
    call.options()
    note(pointer.made.base, "loaded", call.line)
    marks.kept((call.get(2, "other"),), call.line)  # it may be what is loaded
    return _elements(pointer.made)


def _elements(pointer: Trace) -> Trace:
    dtype: Dtype = next(iter(pointer.base), None)
    if isinstance(pointer.dtype, str) and pointer.points:
        dtype = pointer.dtype[1:]  # through a cast of the pointer
    return Trace(memory=pointer.base, dtype=dtype)


def _store(call: Call) -> Trace:
    pointer, value, mask = call.get(0, "pointer"), call.get(1, "value"), call.get(2, "mask")
    marks.address(pointer, call.line)
    marks.mask(mask, call.line)
    marks.matters(mask, call.line)
    call.options()
    marks.kept((value,), call.line)
    if pointer.made.is_block:
        marks.same_dtype(Trace(dtype=next(iter(pointer.made.base), None)), value.made)  # nothing is converted
    note(pointer.made.base, "stored", call.line)
    if value.made.points or (any(s.pointer for s in value.made.base) and not value.made.memory):
        note(pointer.made.base, "elem_address", call.line)
    return NO_TRACE


def _atomic(call: Call) -> Trace:
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
    return _elements(pointer.made)


def _block_pointer(call: Call) -> Trace:
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


def _descriptor_address(call: Call) -> Trace:
    """A function of Triton 3.3 that takes the address of a descriptor: one that loads, stores or gives the object."""
    base = call.get(0, "desc_ptr" if "reinterpret" in call.name else "desc_pointer")
    marks.address(base, call.line)
    return Trace(base.made.base, is_block=True) if "reinterpret" in call.name else NO_TRACE


def _descriptor_function(call: Call) -> Trace:
    return descriptor_access(call.get(0, "desc"), call.name.split("_")[0], call.args[1:], call.line)


def descriptor_access(descriptor: MayBe, method: str, args: tuple[MayBe, ...], line: int) -> Trace:
    """`desc.load([...])`, `desc.store(...)`, ... on a host descriptor or one made in the kernel."""
    slots = descriptor.made.base
    for argument in args:
        for offset in argument.items or ():
            marks.integer(offset, line)
        for slot in slots if argument.items is not None else ():
            if not slot.pointer:
                slot.ranks = (*slot.ranks, tuple(_WHOLE if o.value == 0 else _scales(o) for o in argument.items or ()))
    if method in ("gather", "scatter"):
        for argument in args[1 if method == "scatter" else 0 :]:
            if argument.items is None and argument.made.memory:
                marks.integer(argument, line)
        note(slots, "gathered", line)
    value = args[1].made if len(args) > 1 else NO_TRACE
    reads = method in ("load", "gather")
    marks.kept(() if reads else args, line)
    for slot in slots if method.startswith("atomic_") and isinstance(value.dtype, Slot) else ():
        slot.unite(value.dtype)  # type: ignore[arg-type]  # a reduction converts nothing
    note(slots if method in _INTEGRAL else (), "elem_int", line)
    note((slot for slot in slots if not slot.pointer), "descriptor", line)
    note(slots, "loaded" if reads else "stored", line)
    return _elements(descriptor.made)


def _scales(value: MayBe) -> frozenset[str]:
    return value.made.factors


# ------------------------------------------------------------------------------------------------ types


def cast_call(call: Call) -> Trace:
    bitcast = call.get(3, "bitcast")
    return call.learning.cast(call.get(0, "input"), call.get(1, "dtype"), call.line, bitcast.value is True)


def _pointer_type(call: Call) -> Trace:
    kind = call.get(0, "element_ty").made
    use_dtype(kind, call.line)
    return Trace(dtype=f"*{kind.dtype if isinstance(kind.dtype, str) else ''}", is_dtype=True)


def cast_to(source: Trace, kind: Trace, line: int, bitcast: bool) -> Trace:
    """`source.to(dtype)`, also to a pointer type."""
    use_dtype(kind, line)
    dtype: Dtype = kind.dtype if kind.is_dtype else next((s for s in kind.bare if s.constexpr), None)
    if kind.is_dtype and any(s.pointer for s in kind.base):
        dtype = "*"  # `.to(ptr.dtype)`
    if isinstance(dtype, str) and dtype.startswith("*"):
        _cast_to_pointer(source, line, bitcast)
        return Trace(source.base or frozenset(s for s in source.mixed if s.pointer), dtype=dtype)
    if bitcast and isinstance(dtype, str):
        for slot in {*source.memory, source.dtype} if isinstance(source.dtype, Slot) else source.memory:
            slot.elem_bits = slot.elem_bits or bits(dtype)
        if dtype not in ("i64", "u64") or source.memory:
            return Trace(dtype=dtype)
    if dtype in ("i64", "u64"):
        note(source.base, "to_int", line)
    elif dtype is not None and source.dtype is None:
        note(source.bare, "scalar", line)
    return Trace(source.base, source.mixed, source.memory, dtype, factors=source.factors)


def _cast_to_pointer(source: Trace, line: int, bitcast: bool) -> None:
    note(source.takes_part, "addressed", line)
    note(source.memory, "elem_address", line)
    for slot in source.base:
        if slot.to_int:
            note((slot,), "pointer", line)
        elif not (slot.pointer or bitcast):
            note((slot,), "address_int", line)
    if not source.base:  # an address that asm or arithmetic passed on
        note((s for s in source.mixed if s.to_int and not s.integer), "pointer", line)


# ------------------------------------------------------------------------------------------------ values


def _dot(call: Call) -> Trace:
    left, right, acc = call.get(0, "input").made, call.get(1, "other").made, call.get(2, "acc").made
    marks.same_dtype(left, right)
    call.options()
    kind = call.named.get("out_dtype", NOTHING).made
    use_dtype(kind, call.line)
    dtype = acc.dtype if isinstance(acc.dtype, str) else kind.dtype or "fp32"
    return Trace(memory=left.memory | right.memory, dtype=dtype)


def _dot_scaled(call: Call) -> Trace:
    formats = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
    for position, prefix in ((0, "lhs"), (3, "rhs")):
        kind = call.get(position + 2, f"{prefix}_format")
        for slot in call.get(position, prefix).made.memory:
            slot.give_dtype(formats.get(kind.value if isinstance(kind.value, str) else "", "fp8e5"))
        for slot in call.get(position + 1, f"{prefix}_scale").made.memory:
            slot.give_dtype("u8")
        for slot in kind.made.bare:
            slot.keyword = slot.keyword or "format"
    return Trace(dtype="fp32")


def _where(call: Call) -> Trace:
    left, right = call.get(1, "x").made, call.get(2, "y").made
    marks.alike(left, right)
    return merged((left, right))


def _asm(call: Call) -> Trace:
    text, kind = call.get(1, "constraints").value, call.get(3, "dtype").made
    use_dtype(kind, call.line)
    parts = [value.made for value in call.get(2, "args").items or ()]
    if isinstance(text, str):
        inputs = [c.strip() for c in text.split(",") if not c.strip().startswith(("=", "~"))]
        for constraint, part in zip(inputs, parts, strict=False):
            note(part.base if constraint == "l" else (), "pointer", call.line)
    written, accessed = _asm_effects(call.get(0, "asm").value, text, len(parts))
    call.learning.pointers |= bool(written or accessed)
    for index, part in enumerate(parts):
        note(part.takes_part if index in written | accessed else (), "addressed", call.line)
        note(part.takes_part if index in written else (), "stored", call.line)
        if index in accessed and (part.dtype is None or any(s.to_int for s in part.base)):
            note(part.base, "pointer", call.line)
    return blended(parts, kind.dtype or "i32")


def _asm_effects(code: object, constraints: object, operands: int) -> tuple[frozenset[int], frozenset[int]]:
    """Through which operands an asm text may write, and which are addresses, on any target that understands it."""
    everything = frozenset(range(operands))
    if not isinstance(code, str) or not isinstance(constraints, str):
        return everything, frozenset()
    from triton_mutlint.ttir.asm import read_on_any  # here: most kernels have no asm

    readings = read_on_any(code, constraints, operands)
    if not readings:
        return everything, everything if _MEMORY.search(code) else frozenset()
    written = frozenset[int]().union(*(r.writes | r.atomics for r in readings))
    return written, written.union(*(r.reads for r in readings))


def _filled(call: Call) -> Trace:
    marks.shape(call.get(0, "shape"), call.line)
    call.learning.constrain("shape")
    kind = call.get(2 if call.name == "full" else 1, "dtype").made
    use_dtype(kind, call.line)
    return Trace(dtype=kind.dtype)


def _arange(call: Call) -> Trace:
    for value in (*call.args, *call.named.values()):
        marks.shape(value, call.line)
    call.learning.constrain("arange")
    return INT


def _reshape(call: Call) -> Trace:
    for part in call.args[1:]:
        marks.shape(part, call.line)
    return call.get(0, "input").made


def _random(call: Call) -> Trace:
    for value in call.args[:2]:
        marks.integer(value, call.line)
    return Trace(dtype="i32" if "int" in call.name or call.name == "philox" else "fp32")


def _float_function(call: Call) -> Trace:
    for value in (*call.args, *call.named.values()):
        marks.floating(value, call.line)
    return blended(made(call.args))


def _elementwise(call: Call) -> Trace:
    return blended(made(call.args))


def _same(call: Call) -> Trace:
    return call.get(0, "input").made


def _reduction(call: Call) -> Trace:
    if len(call.args) > 1 and call.args[1].made.dtype != "int":
        return blended(made(call.args))  # Python's own `min(a, b)`
    return replace(merged(made((call.get(0, "input"),))), factors=frozenset(), tests=NONE)


def _index(call: Call) -> Trace:
    call.options()
    return INT


def _nothing(call: Call) -> Trace:
    return NO_TRACE


def _static_assert(call: Call) -> Trace:
    call.learning.constrain("assert")
    return NO_TRACE


def _division(call: Call) -> Trace:
    for value in call.args:
        if value.made.memory or any(not s.constexpr for s in value.made.takes_part):
            marks.integer(value, call.line)
    return blended(made(call.args))


def _range(call: Call) -> Trace:
    step = call.get(2, "step")
    for value in (*call.args, call.named.get("step", NOTHING)):
        marks.integer(value, call.line)
        note(value.made.takes_part if call.name == "static_range" else (), "unroll", call.line)
    return INT if step is NOTHING else Trace(dtype="i32", factors=call.learning.factors(step.made))


_ONE_BY_ONE: dict[str, Callable[[Call], Trace]] = {
    "load": _load, "store": _store, "atomic_store": _store, "prefetch": _load, "make_block_ptr": _block_pointer,
    "make_tensor_descriptor": _block_pointer, "_experimental_make_tensor_descriptor": _block_pointer,
    "_experimental_reinterpret_tensor_descriptor": _descriptor_address,
    "_experimental_descriptor_load": _descriptor_address, "_experimental_descriptor_store": _descriptor_address,
    "load_tensor_descriptor": _descriptor_function, "store_tensor_descriptor": _descriptor_function,
    "arange": _arange, "zeros": _filled, "full": _filled, "dot": _dot, "dot_scaled": _dot_scaled, "where": _where,
    "cast": cast_call, "to": cast_call, "inline_asm_elementwise": _asm, "pointer_type": _pointer_type,
    "static_assert": _static_assert, "cdiv": _division, "range": _range, "static_range": _range,
}  # fmt: skip
_TOGETHER: tuple[tuple[Callable[[Call], Trace], str], ...] = (
    (_atomic, ("atomic_add atomic_max atomic_min atomic_xchg atomic_cas atomic_and atomic_or atomic_xor atomic_load "
               "atomic_poll")),
    (_reshape, "reshape view broadcast_to expand_dims"),
    (_random, "rand randn randint rand4x randint4x randn4x philox"),
    (_same, ("trans permute ravel flip sort cumsum cumprod multiple_of max_contiguous max_constancy squeeze unsqueeze "
             "zeros_like full_like abs assume to_tensor item topk bitonic_merge softmax advance constexpr T value "
             "handle split")),
    (_float_function, ("exp exp2 log log2 log1p sqrt rsqrt sin cos tanh erf sigmoid ceil floor pow expm1 sqrt_rn "
                       "div_rn tan asin acos atan erfinv fast_expf fast_logf fast_dividef")),
    (_elementwise, "maximum minimum fma add sub mul fdiv clamp umulhi interleave cat gather broadcast join"),
    (_reduction, "sum max min xor_sum reduce_or any all reduce associative_scan"),
    (_index, "argmax argmin histogram program_id num_programs"),
    (_nothing, "static_print device_print device_assert debug_barrier print"),
)
HANDLERS: dict[str, Callable[[Call], Trace]] = {
    **{name: handler for handler, names in _TOGETHER for name in names.split()}, **_ONE_BY_ONE,
}  # fmt: skip
