"""Ends what does not end by itself: a constant of a linted file, or the lowering of a kernel.

Limits are of CPU time, so that a busy machine loses no results. What hangs and computes nothing is ended, too, when
`HANGING` times as much time has passed.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from triton_mutlint.process.inputs import spoil

HANGING = 3.0
_AGAIN = 5.0  # seconds after which a block is told again that does not end


class TooLongError(BaseException):
    """A watched block ran longer than it may."""

    def __init__(self, seconds: float) -> None:
        spoil()
        super().__init__(f"still running after {seconds:g} s")


@dataclass(frozen=True)
class Limit:
    """When something is to end: by the CPU time that `clock` tells, and by the time that has passed."""

    seconds: float
    computed: float
    passed: float
    clock: Callable[[], float]

    @classmethod
    def of(cls, seconds: float, clock: Callable[[], float] = time.thread_time) -> Limit:
        return cls(seconds, clock() + seconds, time.monotonic() + HANGING * seconds, clock)

    @property
    def left(self) -> float:
        """The least time after which it may be due; none if it is."""
        return min(self.computed - self.clock(), self.passed - time.monotonic())


def clock_of(pid: int) -> float:
    """The CPU time of another process; elsewhere than on Linux, the time that has passed."""
    if sys.platform != "linux":
        return time.monotonic()
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the number that clock_getcpuclockid(3) gives
    except OSError:  # it is no more
        return 0.0


_limit: Limit | None = None  # of the block whose time ends first


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` after `seconds`, and again a little later, until the block ends.

    A block that contains another is watched all the time. Reaches Python code only: a call that blocks in C ends first.
    Only the main thread of a process can be watched, as that of every process that lints is.
    """
    global _limit
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _listen()
    around, own = _limit, Limit.of(seconds)
    if around is not None:
        if around.computed <= own.computed:
            yield  # the time of the block around it ends first, and that is told in here
            return
        own = replace(own, passed=min(own.passed, around.passed))
    try:
        _limit = own
        _wait()
        yield
    finally:
        _limit = around
        _wait()


def _wait() -> None:
    signal.setitimer(signal.ITIMER_REAL, max(_limit.left, 1e-6) if _limit is not None else 0.0, _AGAIN)


@functools.cache
def _listen() -> None:
    signal.signal(signal.SIGALRM, _ring)  # for good: a late alarm must not end the process


def _ring(*_: object) -> None:
    if _limit is not None and _limit.left > 0:
        _wait()
    elif _limit is not None:
        raise TooLongError(_limit.seconds)
