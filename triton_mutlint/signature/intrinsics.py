"""What each function of `triton.language` tells about its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

from triton_mutlint.signature import marks, memory_ops, value_ops
from triton_mutlint.signature.facts import INT, NOTHING, Value
from triton_mutlint.signature.intrinsic_call import Call, blend, merge
from triton_mutlint.signature.memory_ops import note_options


def _index(call: Call) -> Value:
    note_options(call)
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
    if len(call.args) > 1 and isinstance(call.node.func, ast.Name):
        return blend(call.args)  # Python's own `min(a, b)`
    return Value(value.base, value.mixed, value.memory, value.dtype)


def _argument_index(call: Call) -> Value:
    return INT


def _nothing(call: Call) -> Value:
    return NOTHING


def _static_assert(call: Call) -> Value:
    call.walk.constraint("assert", call.node)
    return NOTHING


def _combine(call: Call) -> Value:
    value = call.get(0, "input")
    function = call.get(2, "combine_fn")
    parts = tuple(value.items.values()) if value.items is not None else (value,)
    call.walk.applied(function, (*parts, *parts), call.node)
    if value.items is None:
        return _reduction(call)
    if any(part.base | part.mixed for part in parts):
        value = Value(items=dict.fromkeys(value.items, reduce(merge, parts)))  # each may become any
    return value


def _map(call: Call) -> Value:
    call.walk.applied(call.get(0, "scalar_fn"), call.args[1:], call.node)
    return blend(call.args[1:])


def _join(call: Call) -> Value:
    return merge(call.get(0, "a"), call.get(1, "b"))


def _split(call: Call) -> Value:
    value = call.get(0, "a")
    return Value(items={0: value, 1: value})


def _division(call: Call) -> Value:
    for value in call.args:
        if value.memory or any(not s.constexpr for s in value.base | value.mixed):
            marks.integer(value, call.line)
        else:
            marks.weakly_integer(value, call.line)
    return blend(call.args)


def _constexpr(call: Call) -> Value:
    return call.get(0, "value")


_ONE_BY_ONE: dict[str, Callable[[Call], Value]] = {
    "load": memory_ops.load, "store": memory_ops.store, "atomic_store": memory_ops.store,
    "prefetch": memory_ops.load, "make_block_ptr": memory_ops.block_pointer,
    "make_tensor_descriptor": memory_ops.block_pointer,
    "_experimental_make_tensor_descriptor": memory_ops.block_pointer,
    "_experimental_reinterpret_tensor_descriptor": memory_ops.descriptor_address,
    "_experimental_descriptor_load": memory_ops.descriptor_address,
    "_experimental_descriptor_store": memory_ops.descriptor_address,
    "load_tensor_descriptor": memory_ops.descriptor_function,
    "store_tensor_descriptor": memory_ops.descriptor_function,
    "arange": value_ops.arange, "zeros": value_ops.filled, "full": value_ops.filled, "dot": value_ops.dot,
    "dot_scaled": value_ops.dot_scaled, "where": value_ops.where, "cast": value_ops.cast_call,
    "inline_asm_elementwise": value_ops.asm, "pointer_type": value_ops.pointer_type,
    "map_elementwise": _map, "program_id": _index, "num_programs": _index, "static_assert": _static_assert,
    "reduce": _combine, "associative_scan": _combine, "join": _join, "split": _split, "cdiv": _division,
    "constexpr": _constexpr, "advance": _same,
}  # fmt: skip

_TOGETHER: tuple[tuple[Callable[[Call], Value], str], ...] = (
    (memory_ops.atomic,
     ("atomic_add atomic_max atomic_min atomic_xchg atomic_cas atomic_and atomic_or atomic_xor atomic_load "
      "atomic_poll")),
    (value_ops.reshape, "reshape view broadcast_to expand_dims"),
    (value_ops.random, "rand randn randint rand4x randint4x randn4x philox"),
    (_same,
     ("trans permute ravel flip sort cumsum cumprod multiple_of max_contiguous max_constancy squeeze unsqueeze "
      "zeros_like full_like abs assume to_tensor item topk bitonic_merge softmax")),
    (_float_function,
     ("exp exp2 log log2 log1p sqrt rsqrt sin cos tanh erf sigmoid ceil floor pow expm1 sqrt_rn div_rn tan asin "
      "acos atan erfinv fast_expf fast_logf fast_dividef")),
    (_elementwise, "maximum minimum fma add sub mul fdiv clamp umulhi interleave cat gather broadcast"),
    (_reduction, "sum max min xor_sum reduce_or any all"),
    (_argument_index, "argmax argmin histogram"),
    (_nothing, "static_print device_print device_assert debug_barrier print"),
)  # fmt: skip

HANDLERS: dict[str, Callable[[Call], Value]] = {
    **{name: handler for handler, names in _TOGETHER for name in names.split()},
    **_ONE_BY_ONE,
}
