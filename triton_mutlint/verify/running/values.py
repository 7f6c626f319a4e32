"""What tensors and scalars hold that nobody gave: by their type and the kind of values, the same for the same seed."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy
import torch

from triton_mutlint.kernel_source.dtypes import FLOATS, canonical_dtype
from triton_mutlint.types import ScalarType

DIMENSIONS = {"one": 1, "small": 5, "medium": 32, "large": 96}
_INDICES = 8  # random integers stay below: they tend to be offsets, lengths and labels
_BEGINS = re.compile(r"(^|_)cu_|cu_?seq|indptr|(?<!chunk_)offsets|split_sizes_cum", re.IGNORECASE)
_PAIRS = re.compile(r"chunk_indices", re.IGNORECASE)
_LENGTHS = re.compile(r"seq_?len|lengths?$|(^|_)lens?(_|$)", re.IGNORECASE)
_TORCH = {canonical_dtype(str(d)): d for d in vars(torch).values() if isinstance(d, torch.dtype)}
_TORCH |= {"i1": torch.bool, "u1": torch.bool}


def torch_dtype(element: str) -> torch.dtype | None:
    """torch's type for an element; None where it has none (`fp8e4b15`)."""
    return _TORCH.get(element)


def element_bytes(element: str) -> int:
    """The size of an element in memory; `i1` takes a byte."""
    return int((torch_dtype(element) or torch.uint8).itemsize)


def scalar_value(kind: ScalarType, size: str, fill: str, seed: int) -> Any:
    """A truth value, a float, or an integer that may be a dimension, a stride or a flag; at its extreme, it is none."""
    if kind.name in ("i1", "u1"):
        return {"zeros": False, "ones": True}.get(fill, bool(seed % 2))
    if kind.name in FLOATS:
        return {"zeros": 0.0, "ones": 1.0, "extreme": 1e30}.get(fill, 0.5 + seed % 4)
    dimension = DIMENSIONS[size] if fill != "extreme" else 0
    return -(-dimension // kind.divisibility) * kind.divisibility


def filled(element: str, count: int, fill: str, seed: int, name: str, dimension: int = 0) -> torch.Tensor:
    """`count` elements for the parameter `name`, as bytes.

    Integers whose name tells what they are (lengths, where sequences begin) are so for a `dimension`.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=6).digest()
    rng = numpy.random.default_rng([seed, int.from_bytes(digest, "big")])
    dtype = torch_dtype(element) or torch.float8_e4m3fn
    values = _told(name, count, dimension) if dimension and fill in ("random", "ones", "ramp") else None
    if element in FLOATS:
        values = _floats(rng, dtype, count, fill)
    elif values is None or dtype == torch.bool:
        values = _integers(rng, dtype, count, fill)
    return torch.from_numpy(values).to(dtype).view(torch.uint8)


def _told(name: str, count: int, dimension: int) -> Any:
    """What integers of such a name hold where kernels of variable length are launched; None if it tells nothing."""
    if _BEGINS.search(name):
        return numpy.arange(count) * dimension
    if _PAIRS.search(name):
        return numpy.arange(count) // 2 % 2 * (1 - numpy.arange(count) % 2)  # (sequence, 0)
    return numpy.full(count, dimension) if _LENGTHS.search(name) else None


def _floats(rng: Any, dtype: torch.dtype, count: int, fill: str) -> Any:
    if fill == "extreme":
        info = torch.finfo(dtype)
        return rng.choice([info.max, info.min, numpy.inf, -numpy.inf, numpy.nan, 0.0, info.tiny, 1.0], count)
    return _plain(count, fill) if fill in ("zeros", "ones", "ramp") else rng.standard_normal(count)


def _integers(rng: Any, dtype: torch.dtype, count: int, fill: str) -> Any:
    if dtype == torch.bool:
        return _plain(count, fill) if fill in ("zeros", "ones") else rng.integers(0, 2, count)
    if fill == "extreme":
        info = torch.iinfo(dtype)
        return rng.choice([info.min, -1 if info.min == 0 else info.max, 0, 1], count)
    return _plain(count, fill) if fill in ("zeros", "ones", "ramp") else rng.integers(0, _INDICES, count)


def _plain(count: int, fill: str) -> Any:
    return numpy.arange(count) % 256 if fill == "ramp" else numpy.full(count, int(fill == "ones"))
