"""Interrupts for processes that tests start."""

from __future__ import annotations

import signal
import time
from pathlib import Path


def hears_interrupts() -> None:
    """For `preexec_fn`: what a shell starts in the background ignores SIGINT, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def children(pid: int, at_least: int = 0) -> list[int]:
    """The processes that one started, once there are so many of them."""
    for _ in range(600):
        try:
            threads = list(Path(f"/proc/{pid}/task").iterdir())
            found = [int(c) for t in threads for c in (t / "children").read_text(encoding="ascii").split()]
        except OSError:
            found = []
        if len(found) >= at_least:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{pid} started no {at_least} processes within a minute")


def lives(pid: int) -> bool:
    """Whether a process is still there after a moment, other than as one that its parent has not asked for."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.1)
    return True
