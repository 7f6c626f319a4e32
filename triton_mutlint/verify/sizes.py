"""Values for scalars that nobody gave: integers that look like dimensions, strides or flags, and floats.

The aim is that most kernels do something and stay within their tensors: dimensions are small, strides
belong to contiguous tensors of those dimensions, offsets are zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from triton_mutlint.types import ScalarType

DIMENSIONS = {"one": 1, "small": 5, "medium": 32, "large": 96}
_STRIDE = re.compile(r"stride|_ld$|^ld[a-z]$|pitch", re.IGNORECASE)
_FLAG = re.compile(r"^(is|has|use|do|enable|with|apply|return)_|flag|causal|inplace", re.IGNORECASE)
_START = re.compile(r"offset|start|begin|first|shift|seed|philox", re.IGNORECASE)
_PROBABILITY = re.compile(r"(^|_)(p|prob|eps|epsilon|dropout)", re.IGNORECASE)
_INNER = re.compile(r"(col|inner|last|_k|_d|_dim|unit)$", re.IGNORECASE)
_OUTER = re.compile(r"row|batch|head|outer|seq|token", re.IGNORECASE)


def scalar_values(scalars: Mapping[str, ScalarType], size: str, fill: str, seed: int) -> dict[str, Any]:
    """A value for each scalar, by its reported name and type."""
    dimension = DIMENSIONS[size]
    integers = [n for n, t in scalars.items() if t.name not in ("i1", "u1") and not _is_float(t)]
    found: dict[str, Any] = _strides([n for n in integers if _STRIDE.search(n)], -(-dimension // 16) * 16)
    for name, kind in scalars.items():
        if name in found:
            value = found[name]
        elif kind.name in ("i1", "u1"):
            found[name] = bool(seed % 2) if fill not in ("zeros", "ones") else fill == "ones"
            continue
        elif _is_float(kind):
            found[name] = _float(name, fill, seed)
            continue
        elif _FLAG.search(name):
            value = seed % 2 if fill != "zeros" else 0
        elif _START.search(name):
            value = 0 if "seed" not in name.lower() else seed
        else:
            value = dimension
        found[name] = _divisible(value, kind.divisibility)
    return found


def _is_float(kind: ScalarType) -> bool:
    return kind.name.startswith(("fp", "bf"))


def _divisible(value: int, by: int) -> int:
    """The value rounded up; one is left to constexprs where Triton specialises on divisibility."""
    return -(-value // by) * by


def _float(name: str, fill: str, seed: int) -> float:
    if _PROBABILITY.search(name):
        return 0.0 if fill == "zeros" else 0.25
    return {"zeros": 0.0, "ones": 1.0, "extreme": 1e30}.get(fill, 0.5 + seed % 4)


def _strides(names: Iterable[str], row: int) -> dict[str, int]:
    """Strides of contiguous tensors: the names of one tensor stand together and differ in their last letters."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_tensor(name), []).append(name)
    found: dict[str, int] = {}
    for members in groups.values():
        if len(members) == 1:
            only = members[0]
            found[only] = 1 if _INNER.search(only) and not _OUTER.search(only) else row
            continue
        unit = not _OUTER.search(members[-1])
        for place, name in enumerate(reversed(members)):
            found[name] = min(row ** (place if unit else place + 1), 1 << 14)
    return found


def _tensor(name: str) -> str:
    """What the names of one tensor's strides share: `stride_qm` and `stride_qk` are q's."""
    rest = re.sub(r"_?strides?_?", "_", name, flags=re.IGNORECASE).strip("_")
    head, _, tail = rest.rpartition("_")
    if head:
        return head
    return rest[:-1] if len(tail) > 1 else ""
