"""Keep what native code prints on file descriptors 1 and 2 out of the tool's own output."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

LIMIT = 64 * 1024  # bytes kept; MLIR prints the whole module when it fails
_place: int | None = None  # where unwanted output goes, opened once: a file per lowering took 6 % of lowering's time


class Captured:
    """Holds the captured text once the block has ended."""

    text: str = ""


@contextlib.contextmanager
def captured() -> Iterator[Captured]:
    """Redirect descriptors 1 and 2 (and Python's streams on them) into `Captured.text`; blocks may be nested."""
    global _place
    if _place is None:
        _place = unnamed_file()
    result, place, saved = Captured(), _place, dict[int, int]()
    flush()
    start = os.lseek(place, 0, os.SEEK_END)
    for number in (1, 2):
        with contextlib.suppress(OSError):  # closed by the caller: nothing to protect
            saved[number] = os.dup(number)
            os.dup2(place, number)
    try:
        yield result
    finally:
        flush()
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)
        if os.lseek(place, 0, os.SEEK_CUR) > start:  # and the file ends at `start` again
            os.lseek(place, start, os.SEEK_SET)
            result.text = os.read(place, LIMIT).decode("utf-8", "replace")
            os.ftruncate(place, start)
            os.lseek(place, start, os.SEEK_SET)


def print_into(place: int) -> None:
    """From now on everything that this process prints goes into an open file, for another process to read."""
    global _place
    _place = place
    for number in (1, 2):
        os.dup2(place, number)
    sys.stdout, sys.stderr = (open(number, "w", errors="backslashreplace", closefd=False) for number in (1, 2))  # noqa: SIM115 - a number


def unnamed_file() -> int:
    """An open file that nobody else can find; the caller closes it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("triton-mutlint")
    descriptor, name = tempfile.mkstemp()
    os.unlink(name)  # noqa: PTH108 - a name, not a path to keep
    return descriptor


def flush() -> None:
    """Write out what Python's streams hold."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, OSError, AttributeError):  # closed, or none
            stream.flush()


def _after_fork() -> None:
    """A child would share its parent's file, and where in it the next byte goes: it opens one of its own."""
    global _place
    _place = None


os.register_at_fork(after_in_child=_after_fork)
