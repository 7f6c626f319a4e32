"""Ends sliced code that does not end by itself."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Iterator

SECONDS = 20.0  # far above what any constant of the measured corpora takes (0.4 s)


class TooLongError(BaseException):
    """A constant or decorator ran longer than `SECONDS`."""

    def __init__(self) -> None:
        super().__init__(f"still running after {SECONDS:g} s")


class _Watchdog:
    """One thread that watches one block at a time, and ends when it has seen none for a while.

    Blocks are many and short: a thread for each took more time than most of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._watched: tuple[int, float] | None = None  # the thread to interrupt, and when
        self._asked = False
        self._alarm = threading.Event()
        self._next = 0.0  # when the watching thread looks again

    def arm(self) -> None:
        with self._lock:
            deadline = time.monotonic() + SECONDS
            self._watched = (threading.get_ident(), deadline)
            if self._thread is not None and self._next > deadline:
                self._alarm.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="mutlint-watchdog", daemon=True)
                self._thread.start()

    def disarm(self) -> None:
        with self._lock:
            self._watched = None
            # Only then: CPython 3.11 would look for a pending error ever after, and hangs under a profiler.
            if self._asked:
                self._asked = False
                _raise(threading.get_ident(), None)  # it may not have arrived

    def _watch(self) -> None:
        idle = False
        while True:
            self._next = time.monotonic() + SECONDS / 8
            self._alarm.wait(SECONDS / 8)  # not `time.sleep`, which does nothing during a session
            with self._lock:
                self._alarm.clear()
                if self._watched is None:
                    if idle:
                        self._thread = None
                        return
                    idle = True
                    continue
                idle = False
                thread, deadline = self._watched
                if time.monotonic() >= deadline:
                    self._watched = (thread, time.monotonic() + SECONDS)
                    self._asked = True
                    _raise(thread, TooLongError)


_watchdog = _Watchdog()


def _after_fork() -> None:
    """A child has no watching thread, and perhaps a lock that nobody will release."""
    global _watchdog
    _watchdog = _Watchdog()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Raise `TooLongError` in this thread about every `SECONDS` until the block ends.

    Reaches Python code only: a call that blocks in C ends first. One block at a time is watched.
    """
    _watchdog.arm()
    try:
        yield
    finally:
        _watchdog.disarm()


def _raise(thread: int, error: type[BaseException] | None) -> None:
    argument = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)
