"""Ends what does not end by itself: a constant of a linted file, or the lowering of a kernel."""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
import time
from collections.abc import Iterator

from triton_mutlint.process.inputs import spoil

_AGAIN = 5.0  # seconds after which a block is told again that does not end
_seconds = 0.0  # that the block may take whose time ends first


class TooLongError(BaseException):
    """A watched block ran longer than it may."""

    def __init__(self, seconds: float) -> None:
        spoil()
        super().__init__(f"still running after {seconds:g} s")


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` after `seconds`, and again a little later, until the block ends.

    A block that contains another is watched all the time. Reaches Python code only: a call that blocks in C ends first.
    Only the main thread of a process can be watched, as that of every process that lints is.
    """
    global _seconds
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _listen()
    begun, around, (left, _) = time.monotonic(), _seconds, signal.getitimer(signal.ITIMER_REAL)
    if left and left <= seconds:
        yield  # the time of the block around it ends first, and that is told in here
        return
    try:
        _seconds = seconds
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        _seconds = around
        rest = max(left - (time.monotonic() - begun), 1e-6) if left else 0.0
        signal.setitimer(signal.ITIMER_REAL, rest, _AGAIN)


@functools.cache
def _listen() -> None:
    signal.signal(signal.SIGALRM, _ring)  # for good: a late alarm must not end the process


def _ring(*_: object) -> None:
    if _seconds:
        raise TooLongError(_seconds)
