"""GPU targets, how they are written, and what lowering for one gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from triton_mutlint.basics import UsageError


@dataclass(frozen=True)
class Target:
    """A GPU target: backend `cuda` or `hip`, `arch` as text (`90`, `gfx942`), where it came from."""

    backend: str
    arch: str
    warp_size: int
    origin: str  # "active" | "option" | "spec" | "default"

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"


DEFAULT = Target("cuda", "90", 32, "default")
_CAPABILITIES = range(50, 122)  # that LLVM in the supported versions of Triton makes code for
_WAVE32_HIP = re.compile(r"gfx1[0-9]{3}")  # RDNA runs wave32; CDNA and GCN (gfx9xx) wave64


def parse_target(text: str, origin: str = "option") -> Target:
    """Read `cuda:90`, `cuda:sm_90a`, `hip:gfx942` or `hip:gfx942:64`.

    Raises UsageError when the text names no backend and architecture.
    """
    backend, _, rest = text.strip().partition(":")
    arch, _, warp = rest.partition(":")
    if backend == "cuda":
        match = re.fullmatch(r"(?:sm_?|compute_)?(\d{2,3})[af]?", arch)
        if match and int(match[1]) not in _CAPABILITIES:
            raise UsageError(f"unknown target {text!r}: no GPU has compute capability {match[1]}; cuda:50 to cuda:121 "
                             "can be named, such as cuda:80, cuda:90 or cuda:100")
        if match and warp in ("", "32"):
            return Target("cuda", match.group(1), 32, origin)
    elif backend == "hip" and re.fullmatch(r"gfx[0-9a-f]{3,4}", arch) and warp in ("", "32", "64"):
        default_warp = 32 if _WAVE32_HIP.fullmatch(arch) else 64
        return Target("hip", arch, int(warp or default_warp), origin)
    raise UsageError(f"unknown target {text!r}: write cuda:<capability> (cuda:90) or hip:<gfx> (hip:gfx942)")


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
