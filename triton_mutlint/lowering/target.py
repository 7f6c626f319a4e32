"""Which GPU target to lower for: the active driver's, a named one, or the default."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.types import Target, UsageError

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


def resolve_targets(names: Sequence[str]) -> tuple[Target, ...]:
    """The targets to analyse for: those named, else the active GPU's, else the default."""
    if names:
        return tuple(dict.fromkeys(parse_target(name) for name in names))
    return (active_target() or DEFAULT,)


def active_target() -> Target | None:
    """The target of the machine's GPU, or None without one.

    Device nodes are looked for first: asking Triton's drivers may import torch (seconds).
    """
    if os.environ.get("TRITON_INTERPRET") == "1" or not any(Path(n).exists() for n in DEVICE_NODES):
        return None
    from triton.runtime import driver

    try:
        found = driver.active.get_current_target()
    except (RuntimeError, ImportError, OSError, AttributeError):
        return None  # a device node without a working driver is no GPU
    return Target(found.backend, str(found.arch), found.warp_size, "active")
