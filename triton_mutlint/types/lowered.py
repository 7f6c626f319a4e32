"""Targets, and what lowering gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from triton_mutlint.types.target import Target


class ArgRole(str, Enum):
    """What a TTIR argument carries for its parameter."""

    ADDRESS = "address"  # the pointer or descriptor itself
    SCALAR = "scalar"
    META = "meta"  # a shape or stride that a host descriptor expands to


@dataclass(frozen=True)
class ArgOwner:
    """The Python parameter that one argument of the lowered entry function came from."""

    parameter: str  # flattened name: "x", "ptrs.0", "state.x"
    role: ArgRole


@dataclass(frozen=True)
class Lowered:
    """The TTIR text of one variant and the owner of each argument of its entry function."""

    text: str
    entry: str
    owners: tuple[ArgOwner, ...]
    target: Target
    handle: Any = field(default=None, repr=False, compare=False)  # the MLIR module, for `Lowerer.simplify`
