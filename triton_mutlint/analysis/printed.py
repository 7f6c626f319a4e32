"""What printed types and constants say: how much of an address a value can hold (docs/analysis.md, 3.2), numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache

from triton_mutlint.ttir.ir import Op
from triton_mutlint.ttir.types import element

# Ops that leave a splat constant what it is.
SAME_VALUE = ("tt.splat", "tt.broadcast", "tt.reshape", "tt.expand_dims", "arith.extsi", "arith.extui", "arith.trunci",
              "arith.index_cast", "arith.bitcast")  # the frontend casts an i32 to i32 by a bitcast
_SAME_NUMBER = frozenset(SAME_VALUE) - {"arith.trunci"}  # 256 is 0 in eight bits
Producer = Callable[[int], "Op | None"]
_LITERAL = re.compile(r"(?:dense<)?(-?\d+|true|false)>?(?: :.*)?")
_WORDS = {"true": 1, "false": 0}


def integer_constant(op: Op) -> int | None:
    """The value of an integer or boolean `arith.constant`, all elements alike; else None."""
    if op.name != "arith.constant":
        return None
    return _value(op.attrs.get("value", ""))


def source_of(value: int, producer: Producer) -> Op | None:
    """What makes a value, shapes and widening casts aside; None for arguments."""
    made = producer(value)
    while made is not None and made.name in _SAME_NUMBER:
        made = producer(made.operands[0])
    return made


def constant_behind(value: int, producer: Producer) -> int | None:
    """As `integer_constant`, of a value seen through casts and shapes."""
    made = source_of(value, producer)
    return integer_constant(made) if made is not None else None


@lru_cache(maxsize=4096)
def _value(text: str) -> int | None:
    match = _LITERAL.fullmatch(text.strip())
    if match is None:
        return None
    return _WORDS[match[1]] if match[1] in _WORDS else int(match[1])


ADDRESS_BITS = 64
_ELEMENT = re.compile(r"(?:[us]?i|f|bf|tf)(\d+)")
_POINTEE = re.compile(r"!tt\.ptr<([^,>]*)")


class Width(IntEnum):
    BIT = 0  # i1: carries nothing
    NARROW = 1  # data; no whole address
    FULL = 2  # 64 bits, a pointer, a descriptor, or a type that is not known


@lru_cache(maxsize=4096)
def bits_of(type_text: str) -> int | None:
    """Bits of one element of an integer or float type; None for others."""
    match = _ELEMENT.match(element(type_text.strip()))
    return int(match.group(1)) if match else None


@lru_cache(maxsize=4096)
def pointee_bits(type_text: str) -> int | None:
    """Bits of what a pointer, or a tensor of pointers, points to; None if that is no number."""
    match = _POINTEE.match(element(type_text.strip()))
    return bits_of(match[1]) if match else None


@lru_cache(maxsize=4096)
def width_of(type_text: str) -> Width:
    """The width of one element of a printed MLIR type; FULL when in doubt."""
    bits = bits_of(type_text)
    if bits == 1:
        return Width.BIT
    return Width.NARROW if bits is not None and bits < ADDRESS_BITS else Width.FULL
