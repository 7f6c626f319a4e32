"""Ends what does not end by itself: a constant of a linted file, or the lowering of a kernel."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.process.inputs import spoil

_AGAIN = 5.0  # seconds after which a block is told again that does not end


class TooLongError(BaseException):
    """A watched block ran longer than it may."""

    def __init__(self, seconds: float) -> None:
        spoil()
        super().__init__(f"still running after {seconds:g} s")


@dataclass(eq=False)
class _Block:
    seconds: float
    deadline: float


_open: list[_Block] = []  # the outermost first


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` after `seconds`, and again a little later, until the block ends.

    A block that contains another is watched all the time. Reaches Python code only: a call that blocks in C ends first.
    Only the main thread of a process can be watched, as that of every process that lints is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _listen()
    block = _Block(seconds, time.monotonic() + seconds)
    _open.append(block)
    try:
        _set()
        yield
    finally:
        _open.remove(block)
        _set()


@functools.cache
def _listen() -> None:
    signal.signal(signal.SIGALRM, _ring)  # for good: a late alarm must not end the process


os.register_at_fork(after_in_child=_open.clear)  # a child has its own time


def _set() -> None:
    """Let the alarm ring when the first of the blocks has had its time."""
    left = min((block.deadline for block in _open), default=0.0) - time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, max(left, 1e-6) if _open else 0.0)


def _ring(*_: object) -> None:
    now = time.monotonic()
    for block in _open:
        if block.deadline <= now:
            block.deadline = now + max(block.seconds, _AGAIN)
            _set()
            raise TooLongError(block.seconds)
    _set()
