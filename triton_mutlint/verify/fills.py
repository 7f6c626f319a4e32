"""What tensors hold before a run: bytes by element type and value class, the same for the same seed."""

from __future__ import annotations

import hashlib
import re
from typing import Any

FLOAT_BITS = {"fp8e4nv": 8, "fp8e5": 8, "fp8e4b15": 8, "fp8e4b8": 8, "fp8e5b16": 8, "fp16": 16, "bf16": 16,
              "fp32": 32, "fp64": 64}  # fmt: skip
ONE = {"fp8e4nv": 0x38, "fp8e5": 0x3C, "fp8e4b15": 0x78, "fp8e4b8": 0x40, "fp8e5b16": 0x40}
_BEGINS = re.compile(r"(^|_)cu_|cu_?seq|indptr|(?<!chunk_)offsets|split_sizes_cum", re.IGNORECASE)
_PAIRS = re.compile(r"chunk_indices", re.IGNORECASE)
_LENGTHS = re.compile(r"seq_?len|lengths?$|(^|_)lens?(_|$)", re.IGNORECASE)
INDICES = 8  # random integers stay below: they tend to be offsets, lengths and labels


def element_bytes(element: str) -> int:
    """The size of an element in memory; `i1` takes a byte."""
    if element in FLOAT_BITS:
        return FLOAT_BITS[element] // 8
    return max(int(element[1:]) // 8, 1)


def generator(seed: int, name: str) -> Any:
    """NumPy's generator for one parameter of one run."""
    import numpy

    digest = hashlib.blake2b(name.encode(), digest_size=6).digest()
    return numpy.random.default_rng([seed, int.from_bytes(digest, "big")])


def filled(element: str, count: int, fill: str, seed: int, name: str, dimension: int = 0) -> Any:
    """`count` elements as an array of bytes (uint8).

    Integers whose name tells what they are (lengths, where sequences begin) are so for a `dimension`.
    """
    import numpy

    rng = generator(seed, name)
    if element in FLOAT_BITS:
        return _floats(numpy, rng, element, count, fill)
    told = _told(numpy, name, count, dimension) if dimension and fill in ("random", "ones", "ramp") else None
    if told is not None and element not in ("i1", "u1"):
        return told.astype(f"{'u' if element[0] == 'u' else ''}int{element[1:]}").view(numpy.uint8)
    return _integers(numpy, rng, element, count, fill)


def _told(numpy: Any, name: str, count: int, dimension: int) -> Any:
    """What integers of such a name hold where kernels of variable length are launched; None if it tells nothing."""
    if _BEGINS.search(name):
        return numpy.arange(count) * dimension
    if _PAIRS.search(name):
        return numpy.arange(count) // 2 % 2 * (1 - numpy.arange(count) % 2)  # (sequence, 0)
    if _LENGTHS.search(name):
        return numpy.full(count, dimension)
    return None


def _integers(numpy: Any, rng: Any, element: str, count: int, fill: str) -> Any:
    bits = int(element[1:])
    if bits == 1:
        values = {"zeros": lambda: numpy.zeros(count), "ones": lambda: numpy.ones(count)}.get(
            fill, lambda: rng.integers(0, 2, count))()
        return values.astype(numpy.uint8)
    kind = numpy.dtype(f"{'u' if element[0] == 'u' else ''}int{bits}")
    if fill == "zeros":
        values = numpy.zeros(count, kind)
    elif fill == "ones":
        values = numpy.ones(count, kind)
    elif fill == "ramp":
        values = (numpy.arange(count) * (1 + 15 * (count and int(rng.integers(0, 2))))).astype(kind)
    elif fill == "extreme":
        info = numpy.iinfo(kind)
        values = rng.choice(numpy.array([info.min, info.max, 0, 1], kind), count)
    else:
        values = rng.integers(0, INDICES, count).astype(kind)
    return values.view(numpy.uint8)


def _floats(numpy: Any, rng: Any, element: str, count: int, fill: str) -> Any:
    bits = FLOAT_BITS[element]
    if bits == 8:  # no NumPy type: small normal numbers by their bits
        one = ONE[element]
        values = {"zeros": lambda: numpy.zeros(count), "ones": lambda: numpy.full(count, one)}.get(
            fill, lambda: one - 8 + rng.integers(0, 16, count))()
        return values.astype(numpy.uint8)
    if fill == "zeros":
        plain = numpy.zeros(count, numpy.float32)
    elif fill == "ones":
        plain = numpy.ones(count, numpy.float32)
    elif fill == "ramp":
        plain = (numpy.arange(count) % 256).astype(numpy.float32)
    elif fill == "extreme":
        top = {16: 65504.0, 32: 3.4e38, 64: 3.4e38}[bits] if element != "bf16" else 3.3e38
        choice = numpy.array([top, -top, numpy.inf, -numpy.inf, numpy.nan, 0.0, 1e-30, 1.0], numpy.float32)
        plain = rng.choice(choice, count)
    else:
        plain = rng.standard_normal(count, numpy.float32)
    if element == "bf16":
        return (plain.view(numpy.uint32) >> 16).astype(numpy.uint16).view(numpy.uint8)
    return plain.astype({16: numpy.float16, 32: numpy.float32, 64: numpy.float64}[bits]).view(numpy.uint8)
