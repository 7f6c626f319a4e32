"""Functions that make or convert values: shapes, dtypes, products, inline asm."""

from __future__ import annotations

import re

from triton_mutlint.signature import marks
from triton_mutlint.signature.dtype_names import bits
from triton_mutlint.signature.facts import INT, NO_CONST, NOTHING, Slot, Value, union
from triton_mutlint.signature.intrinsic_call import Call, blend, merge
from triton_mutlint.signature.memory_ops import note_options

_MEMORY = re.compile(r"\b(ld|st|atom|red|cp)\.|\b(global|flat|buffer|scratch)_\w+")


def use_dtype(kind: Value, line: int) -> None:
    """`kind` is used as a dtype, and so are the compile-time parameters that it may be."""
    for slot in kind.bare:
        if slot.constexpr or not kind.is_dtype:  # else it is the dtype of the parameter
            slot.dtype = slot.dtype or line


def cast_call(call: Call) -> Value:
    bitcast = call.get(3, "bitcast") if call.name == "cast" else call.kwargs.get("bitcast", NOTHING)
    kind = call.get(1, "dtype")
    source, made = call.get(0, "input"), call.walk.program.made
    return made(source, kind, cast(source, kind, call.line, bitcast.const is True), call.line)


def cast(value: Value, kind: Value, line: int, bitcast: bool = False) -> Value:
    """`value.to(dtype)`, also to a pointer type."""
    use_dtype(kind, line)
    dtype = kind.dtype if kind.is_dtype else next((s for s in kind.bare if s.constexpr), None)
    if kind.is_dtype and any(s.pointer for s in kind.base):
        dtype = "*"  # `.to(ptr.dtype)`
    if isinstance(dtype, str) and dtype.startswith("*"):
        _cast_to_pointer(value, line, bitcast)
        return Value(value.base or frozenset(s for s in value.mixed if s.pointer), dtype=dtype)
    if bitcast and isinstance(dtype, str):
        for slot in {*value.memory, value.dtype} if isinstance(value.dtype, Slot) else value.memory:
            slot.elem_bits = slot.elem_bits or bits(dtype)
        if dtype not in ("i64", "u64") or value.memory:
            return Value(dtype=dtype)
    if dtype in ("i64", "u64"):
        for slot in value.base:
            slot.to_int = slot.to_int or line
    elif dtype is not None:
        for slot in value.bare if value.dtype is None else ():
            slot.scalar = slot.scalar or line
    if marks.is_integer(dtype) and dtype not in ("i64", "u64"):
        marks.weakly_integer(Value(memory=value.memory, dtype=value.dtype), line)
    return Value(value.base, value.mixed, value.memory, dtype, NO_CONST, None, value.factors)


def _cast_to_pointer(value: Value, line: int, bitcast: bool) -> None:
    for slot in value.base | value.mixed:
        slot.addressed = slot.addressed or line
    for slot in value.memory:
        slot.elem_address = slot.elem_address or line
    for slot in value.base:
        if slot.to_int:
            slot.pointer = slot.pointer or line
        elif not (slot.pointer or bitcast):
            slot.address_int = slot.address_int or line
    for slot in value.mixed if not value.base else ():
        if slot.to_int and not slot.integer:
            slot.pointer = slot.pointer or line  # an address that asm or arithmetic passed on


def dot(call: Call) -> Value:
    left, right = call.get(0, "input"), call.get(1, "other")
    marks.same_dtype(left, right)
    for value in (left, right):
        # The type of an operand is that of one buffer's elements, or a cast's: what else took part may be an index.
        if isinstance(value.dtype, Slot):
            value.dtype.elem_dot = value.dtype.elem_dot or call.line
        for slot in value.memory if value.dtype is None else ():
            slot.elem_dot = slot.elem_dot or call.line
    note_options(call)
    acc = call.get(2, "acc")
    kind = call.kwargs.get("out_dtype", NOTHING)
    use_dtype(kind, call.line)
    dtype = acc.dtype if isinstance(acc.dtype, str) else kind.dtype or "fp32"
    memory = union(left.memory, right.memory)
    return Value(memory=memory, dtype=dtype)


def dot_scaled(call: Call) -> Value:
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


def where(call: Call) -> Value:
    condition, left, right = call.get(0, "condition"), call.get(1, "x"), call.get(2, "y")
    if isinstance(condition.dtype, Slot):
        for slot in condition.memory:
            slot.elem_weak_int = slot.elem_weak_int or call.line
    marks.alike(left, right)
    return merge(left, right)


def asm(call: Call) -> Value:
    call.walk.effects += 1
    text, values = call.get(1, "constraints"), call.get(2, "args")
    kind = call.get(3, "dtype")
    use_dtype(kind, call.line)
    parts = list((values.items or {}).values())
    if isinstance(text.const, str):
        inputs = [c.strip() for c in text.const.split(",") if not c.strip().startswith(("=", "~"))]
        for constraint, value in zip(inputs, parts, strict=False):
            if constraint == "l":
                marks.address(Value(value.base), call.line)
    written, accessed = _asm_effects(call.get(0, "asm").const, text.const, len(parts))
    call.walk.program.pointers |= bool(written or accessed)
    for index, value in enumerate(parts):
        for slot in value.base | value.mixed if index in written | accessed else ():
            slot.addressed = slot.addressed or call.line
            slot.stored = slot.stored or (call.line if index in written else 0)
        if index in accessed and (value.dtype is None or any(s.to_int for s in value.base)):
            marks.address(Value(value.base), call.line)
    return blend(tuple(parts), kind.dtype or "i32")


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


def pointer_type(call: Call) -> Value:
    kind = call.get(0, "element_ty")
    use_dtype(kind, call.line)
    return Value(dtype=f"*{kind.dtype if isinstance(kind.dtype, str) else ''}", is_dtype=True)


def filled(call: Call) -> Value:
    shape = call.get(0, "shape")
    marks.shape(shape, call.line)
    call.walk.constraint("shape", call.node)
    position = 2 if call.name == "full" else 1
    kind = call.get(position, "dtype")
    use_dtype(kind, call.line)
    return Value(dtype=kind.dtype)


def arange(call: Call) -> Value:
    for value in call.values:
        marks.shape(value, call.line)
    call.walk.constraint("arange", call.node)
    return INT


def reshape(call: Call) -> Value:
    value = call.get(0, "input")
    for part in call.args[1:]:
        marks.shape(part, call.line)
    return value


def random(call: Call) -> Value:
    for value in call.args[:2]:
        marks.integer(value, call.line)
    return Value(dtype="i32" if "int" in call.name or call.name == "philox" else "fp32")
