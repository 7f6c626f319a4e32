"""Ends sliced code that does not end by itself."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator

SECONDS = 20.0  # far above what any constant of the measured corpora takes (0.4 s)


class TooLongError(BaseException):
    """A constant or decorator ran longer than `SECONDS`."""

    def __init__(self) -> None:
        super().__init__(f"still running after {SECONDS:g} s")


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Raise `TooLongError` in this thread after every `SECONDS` until the block ends.

    Reaches Python code only: a call that blocks in C ends first.
    """
    thread, done, lock = threading.get_ident(), threading.Event(), threading.Lock()
    asked = threading.Event()

    def watch() -> None:
        while not done.wait(SECONDS):
            with lock:
                if not done.is_set():
                    asked.set()
                    _raise(thread, TooLongError)

    watcher = threading.Thread(target=watch, name="mutlint-watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with lock:
            done.set()
            # Only then: CPython 3.11 would look for a pending error ever after, and hangs in `join` under a profiler.
            if asked.is_set():
                _raise(thread, None)  # it may not have arrived
        if not asked.is_set():
            watcher.join()


def _raise(thread: int, error: type[BaseException] | None) -> None:
    argument = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), argument)
