"""How much of an address a value of a printed type can hold (docs/analysis.md, section 3.2)."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from triton_mutlint.ttir.types import element

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
