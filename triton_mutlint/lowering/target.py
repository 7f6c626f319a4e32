"""Which GPU target to lower for: the active driver's, a named one, or the default."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.types import Target
from triton_mutlint.types.target import DEFAULT, parse_target


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
