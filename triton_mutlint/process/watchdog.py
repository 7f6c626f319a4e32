"""Ends what does not end by itself: a constant of a linted file, or the lowering of a kernel."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.process.inputs import spoil

_LOOK = 2.0  # seconds between two looks at the clock, or less where a limit is shorter


class TooLongError(BaseException):
    """A watched block ran longer than it may. A thread is sent a class: there is one for each limit."""

    seconds = 0.0

    def __init__(self) -> None:
        spoil()
        super().__init__(f"still running after {self.seconds:g} s")


@dataclass
class _Block:
    thread: int
    deadline: float
    error: type[TooLongError]
    asked: bool = False


class _Watchdog:
    """One thread that watches the blocks that are open, and ends when it has seen none for a while.

    Blocks are many and short: a thread for each took more time than most of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._blocks: list[_Block] = []
        self._alarm = threading.Event()
        self._next = 0.0  # when the watching thread looks again

    def arm(self, error: type[TooLongError]) -> _Block:
        block = _Block(threading.get_ident(), time.monotonic() + error.seconds, error)
        with self._lock:
            self._blocks.append(block)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="mutlint-watchdog", daemon=True)
                self._next = 0.0
                self._thread.start()
            elif self._next > block.deadline:
                self._alarm.set()
        return block

    def disarm(self, block: _Block) -> None:
        with self._lock:
            self._blocks.remove(block)
            # Only then: CPython 3.11 would look for a pending error ever after, and hangs under a profiler.
            if block.asked:
                _raise(block.thread, None)  # it may not have arrived

    def _watch(self) -> None:
        idle = 0
        while idle < 2:
            with self._lock:
                self._alarm.clear()
                now = time.monotonic()
                for block in self._blocks:
                    if now >= block.deadline:
                        block.deadline, block.asked = now + block.error.seconds, True
                        _raise(block.thread, block.error)
                idle = 0 if self._blocks else idle + 1
                wait = max(0.0, min([_LOOK, *(b.deadline - now for b in self._blocks)]))
                self._next = now + wait
                if idle == 2:
                    self._thread = None
                    return
            self._alarm.wait(wait)  # not `time.sleep`, which does nothing while sliced code runs


_watchdog = _Watchdog()


def _after_fork() -> None:
    """A child has no watching thread, and perhaps a lock that nobody will release."""
    global _watchdog
    _watchdog = _Watchdog()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def _error(seconds: float) -> type[TooLongError]:
    return type("TooLongError", (TooLongError,), {"seconds": seconds})


@contextlib.contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in this thread after `seconds`, and again after as many more, until the block ends.

    A block that contains another is watched all the time. Reaches Python code only: a call that
    blocks in C ends first.
    """
    block = _watchdog.arm(_error(seconds))
    try:
        yield
    finally:
        _watchdog.disarm(block)


def _raise(thread: int, error: type[BaseException] | None) -> None:
    argument = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)
