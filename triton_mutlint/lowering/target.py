"""Which GPU target to lower for: the active driver's, a named one, or the default."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.process.forked import Processes
from triton_mutlint.types import Target
from triton_mutlint.types.target import DEFAULT, parse_target

_PATIENCE = 60.0  # seconds that a driver may take


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
    found: list[Target] = []
    jobs = int("torch" not in sys.modules)  # which, once it has asked a driver, cannot do so in another process
    Processes([None], jobs, Target, lambda _: _told(), lambda _: _PATIENCE, lambda _, target: found.append(target),
              lambda *_: ()).run()
    return found[0] if found else None


def _told() -> Iterator[Target]:
    """What Triton's driver says; it leaves threads and memory of the GPU with the process that asks."""
    from triton.runtime import driver

    with contextlib.suppress(RuntimeError, ImportError, OSError, AttributeError):  # no GPU without a working driver
        found = driver.active.get_current_target()
        yield Target(found.backend, str(found.arch), found.warp_size, "active")
