"""What each function of `triton.language` tells about its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.kernel_source.dtypes import bits
from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.learned_memory import (
    Call,
    atomic_call,
    block_pointer,
    descriptor_address,
    descriptor_function,
    load_call,
    store_call,
)
from triton_mutlint.kernel_source.learned.marks import note, use_dtype
from triton_mutlint.kernel_source.operations import RESHAPES, dimensions
from triton_mutlint.kernel_source.slots import INT, NO_TRACE, NONE, Dtype, Slot, Trace, blended, merged
from triton_mutlint.kernel_source.values import NOTHING, made

_MEMORY = re.compile(r"\b(ld|st|atom|red|cp)\.|\b(global|flat|buffer|scratch)_\w+")


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
        cast_to_pointer(source, line, bitcast)
        return Trace(source.base or frozenset(s for s in source.mixed if s.pointer), dtype=dtype)
    if bitcast and isinstance(dtype, str):
        loaded = {*source.memory, source.dtype} if isinstance(source.dtype, Slot) else source.memory
        for slot in loaded if not isinstance(source.dtype, str) else ():  # else it was cast before
            slot.elem_bits = slot.elem_bits or bits(dtype)
        if dtype not in ("i64", "u64") or source.memory:
            return Trace(dtype=dtype)
    if dtype in ("i64", "u64"):
        note(source.base, "to_int", line)
    elif dtype is not None and source.dtype is None:
        note(source.bare, "scalar", line)
    return Trace(source.base, source.mixed, source.memory, dtype, factors=source.factors)


def cast_to_pointer(source: Trace, line: int, bitcast: bool) -> None:
    note(source.takes_part, "addressed", line)
    note(source.memory, "elem_address", line)
    note(NONE if source.takes_part else source.memory, "table", line)
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
    call.options()
    for one, other in ((left.dtype, right.dtype), (right.dtype, left.dtype)):
        if isinstance(one, Slot) and isinstance(other, str):  # Triton multiplies only what is of one type
            one.give_dtype(other)
    kind = call.named.get("out_dtype", NOTHING).made
    use_dtype(kind, call.line)
    dtype = acc.dtype if isinstance(acc.dtype, str) else kind.dtype or "fp32"
    as_loaded = isinstance(left.dtype, Slot) and isinstance(right.dtype, Slot)
    found = Trace(memory=left.memory | right.memory, dtype=dtype, is_product=as_loaded)
    marks.factors(found, dtype)
    return found


def _dot_scaled(call: Call) -> Trace:
    for position, prefix in ((0, "lhs"), (3, "rhs")):
        kind = call.get(position + 2, f"{prefix}_format")
        for slot in call.get(position, prefix).made.memory:
            slot.give_dtype(kind.value if kind.value in ("bf16", "fp16") else "u8")  # bytes do for all others
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
        parts_of = part.base if part.points else part.takes_part  # what is added to a pointer is a number of elements
        note(parts_of if index in written | accessed else (), "addressed", call.line)
        note(parts_of if index in written else (), "stored", call.line)
        note(part.memory if index in accessed else (), "elem_address", call.line)
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
    _sized(call)
    kind = call.get(2 if call.name == "full" else 1, "dtype").made
    use_dtype(kind, call.line)
    return Trace(dtype=kind.dtype)


def _arange(call: Call) -> Trace:
    _sized(call)
    return INT


def _sized(call: Call) -> None:
    for value in dimensions(call.name, call.args, call.named):
        marks.shape(value, call.line)


def _reshape(call: Call) -> Trace:
    _sized(call)
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
    for value in (*call.args, *call.named.values()):
        note(value.made.bare, "number", call.line)
    return blended(made(call.args))


def _any_of(call: Call) -> Trace:
    left, right = call.get(0, "input").made, call.get(1, "other").made
    marks.alike(left, right)
    return merged((left, right))


def _sum(call: Call) -> Trace:
    return call.learning.sum(call.get(0, "x").made, call.get(1, "y").made, call.line)


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
    return INT if step is NOTHING else Trace(dtype="i32", factors=step.made.scales)


_ONE_BY_ONE: dict[str, Callable[[Call], Trace]] = {
    "load": load_call, "store": store_call, "atomic_store": store_call, "prefetch": load_call,
    "make_block_ptr": block_pointer, "make_tensor_descriptor": block_pointer,
    "_experimental_make_tensor_descriptor": block_pointer,
    "_experimental_reinterpret_tensor_descriptor": descriptor_address,
    "_experimental_descriptor_load": descriptor_address, "_experimental_descriptor_store": descriptor_address,
    "load_tensor_descriptor": descriptor_function, "store_tensor_descriptor": descriptor_function,
    "arange": _arange, "zeros": _filled, "full": _filled, "dot": _dot, "dot_scaled": _dot_scaled, "where": _where,
    "cast": cast_call, "to": cast_call, "inline_asm_elementwise": _asm, "pointer_type": _pointer_type,
    "cdiv": _division, "range": _range, "static_range": _range,
}  # fmt: skip
_TOGETHER: tuple[tuple[Callable[[Call], Trace], str], ...] = (
    (atomic_call, ("atomic_add atomic_max atomic_min atomic_xchg atomic_cas atomic_and atomic_or atomic_xor "
                   "atomic_load atomic_poll")),
    (_reshape, " ".join(RESHAPES)),
    (_random, "rand randn randint rand4x randint4x randn4x philox"),
    (_same, ("trans permute ravel flip sort cumsum cumprod multiple_of max_contiguous max_constancy squeeze unsqueeze "
             "zeros_like full_like abs assume to_tensor item topk bitonic_merge softmax advance constexpr T value "
             "handle split gather")),
    (_float_function, ("exp exp2 log log2 log1p sqrt rsqrt sin cos tanh erf sigmoid ceil floor pow expm1 sqrt_rn "
                       "div_rn tan asin acos atan erfinv fast_expf fast_logf fast_dividef")),
    (_elementwise, "maximum minimum fma mul fdiv clamp umulhi"),
    (_any_of, "interleave cat broadcast join"),
    (_sum, "add sub"),
    (_reduction, "sum max min xor_sum reduce_or any all reduce associative_scan"),
    (_index, "argmax argmin histogram program_id num_programs"),
    (_nothing, "static_assert static_print device_print device_assert debug_barrier print"),
)
HANDLERS: dict[str, Callable[[Call], Trace]] = {
    **{name: handler for handler, names in _TOGETHER for name in names.split()}, **_ONE_BY_ONE,
}  # fmt: skip
