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
    result = Captured()
    place = _opened()
    _flush()
    start = os.lseek(place, 0, os.SEEK_END)
    saved = _redirect(place)
    try:
        yield result
    finally:
        _flush()
        for number, copy in saved.items():
            os.dup2(copy, number)
            os.close(copy)
        result.text = _take(place, start)


def print_into(place: int) -> None:
    """From now on everything that this process prints goes into an open file, for another process to read."""
    global _place
    _place = place
    for number in (1, 2):
        os.dup2(place, number)


def unnamed_file() -> int:
    """An open file that nobody else can find; the caller closes it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("triton-mutlint")
    descriptor, name = tempfile.mkstemp()
    os.unlink(name)  # noqa: PTH108 - a name, not a path to keep
    return descriptor


def _opened() -> int:
    global _place
    if _place is None:
        _place = unnamed_file()
    return _place


def _after_fork() -> None:
    """A child would share its parent's file, and where in it the next byte goes: it opens one of its own."""
    global _place
    _place = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _take(place: int, start: int) -> str:
    """What was printed since the file ended at `start`, at most LIMIT bytes of it; then it ends there again."""
    if os.lseek(place, 0, os.SEEK_CUR) <= start:
        return ""
    os.lseek(place, start, os.SEEK_SET)
    text = os.read(place, LIMIT).decode("utf-8", "replace")
    os.ftruncate(place, start)
    os.lseek(place, start, os.SEEK_SET)
    return text


def _redirect(place: int) -> dict[int, int]:
    saved = {}
    for number in (1, 2):
        try:
            saved[number] = os.dup(number)
        except OSError:
            continue  # closed by the caller: nothing to protect
        os.dup2(place, number)
    return saved


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (ValueError, OSError, AttributeError):
            continue  # closed, or none
