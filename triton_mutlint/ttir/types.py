"""Printed types: the pieces of a type, and the result types that an op's signature implies.

The rules follow the `assemblyFormat` and the type traits in `TritonOps.td` (as shipped in the wheels'
`include/triton/Dialect/Triton/IR`) and in MLIR's arith, math and scf dialects.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triton_mutlint.ttir.lexer import split_top

UNKNOWN_TYPE = "?"

_SHAPE = re.compile(r"(?:(?:\d+|\?)x)*")
_TO_I1 = frozenset(
    {"arith.cmpi", "arith.cmpf", "math.isnan", "math.isinf", "math.isfinite", "math.isnormal"}
)
_LAST = frozenset({"arith.select", "tt.make_tensor_descriptor", "tt.make_tensor_ptr"})
# `type($x)` prints a type whose kind the op fixes without its prefix: `<tensor<16xf16>>`.
_ELIDED_PREFIX = {
    "tt.make_tensor_ptr": "!tt.ptr",
    "tt.advance": "!tt.ptr",
    "tt.make_tensor_descriptor": "!tt.tensordesc",
    "tt.reinterpret_tensor_descriptor": "!tt.tensordesc",
}


def element(type_: str) -> str:
    """The element of a tensor or vector type (`tensor<16x!tt.ptr<f32>>` gives `!tt.ptr<f32>`), else the type."""
    if not type_.startswith(("tensor<", "vector<")):
        return type_
    inner = split_top(type_[7:-1])
    if not inner:
        return UNKNOWN_TYPE
    match = _SHAPE.match(inner[0])
    return inner[0][match.end() :] if match else inner[0]


def with_element(type_: str, new: str) -> str:
    """The same shape and encoding with another element type."""
    if not type_.startswith("tensor<"):
        return new
    inner = split_top(type_[7:-1])
    if not inner:
        return UNKNOWN_TYPE
    match = _SHAPE.match(inner[0])
    shape = match[0] if match else ""
    return f"tensor<{', '.join([shape + new, *inner[1:]])}>"


def pointee(type_: str) -> str:
    """What a load through the type gives; `?` when it is no pointer."""
    pointer = element(type_)
    if not pointer.startswith("!tt.ptr<"):
        return UNKNOWN_TYPE
    inner = split_top(pointer[8:-1])
    return with_element(type_, inner[0]) if inner else UNKNOWN_TYPE


def type_list(text: str) -> list[str]:
    """The types of `(a, b)`, `a, b` or `()`."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return split_top(text)


@lru_cache(maxsize=4096)
def result_types(name: str, signature: str, count: int) -> tuple[str, ...]:
    """Types of the `count` results of op `name`, whose text after the `:` is `signature`."""
    if count == 0:
        return ()
    types = _listed(name, signature, count)
    if len(types) != count:  # `tt.split : t -> t2` and the like name a type once
        types = types * count if len(types) == 1 else [UNKNOWN_TYPE] * count
    prefix = _ELIDED_PREFIX.get(name)
    if prefix:
        types = [prefix + t if t.startswith("<") else t for t in types]
    return tuple(types)


def _listed(name: str, signature: str, count: int) -> list[str]:
    _, arrow, after = signature.rpartition("->")
    if arrow:
        return type_list(after)
    _, to, after = signature.rpartition(" to ")
    if to:
        return type_list(after)
    types = split_top(signature)
    if not types:
        return []
    if name in _TO_I1:
        return [with_element(types[0], "i1")]
    if name == "tt.load":
        return [pointee(types[0])]
    if name == "tt.unsplat":
        return [element(types[0])]
    if name in _LAST:
        return types[-1:]
    return types if len(types) == count else types[:1]
