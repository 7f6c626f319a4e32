"""Keep what native code prints on file descriptors 1 and 2 out of the tool's own output."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator

LIMIT = 64 * 1024  # bytes kept; MLIR prints the whole module when it fails


class Captured:
    """Holds the captured text once the block has ended."""

    text: str = ""


_sinks: weakref.WeakSet[OutputSink] = weakref.WeakSet()


def _after_fork() -> None:
    """A child shares its parent's file, and where in it the next byte goes: it needs one of its own."""
    for sink in list(_sinks):
        sink.open()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class OutputSink:
    """A place for unwanted output, opened once: a file per lowering took 6 % of lowering's time."""

    def __init__(self) -> None:
        self.open()
        _sinks.add(self)

    def open(self) -> None:
        """Begin with a new place."""
        self._descriptor = _unnamed_file()
        weakref.finalize(self, os.close, self._descriptor)

    @contextlib.contextmanager
    def capture(self) -> Iterator[Captured]:
        """Redirect descriptors 1 and 2 (and Python's streams on them) into `Captured.text`."""
        result = Captured()
        _flush()
        saved = _redirect(self._descriptor)
        try:
            yield result
        finally:
            _flush()
            for number, copy in saved.items():
                os.dup2(copy, number)
                os.close(copy)
            result.text = _take(self._descriptor)

    def empty(self) -> None:
        """Forget what was captured in this block so far."""
        _flush()
        _take(self._descriptor)


def _unnamed_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("triton-mutlint")
    descriptor, name = tempfile.mkstemp()
    os.unlink(name)  # noqa: PTH108 - a name, not a path to keep
    return descriptor


def _take(sink: int) -> str:
    """What was printed, at most LIMIT bytes of it; the sink is empty afterwards."""
    if os.lseek(sink, 0, os.SEEK_CUR) == 0:
        return ""
    os.lseek(sink, 0, os.SEEK_SET)
    text = os.read(sink, LIMIT).decode("utf-8", "replace")
    os.ftruncate(sink, 0)
    os.lseek(sink, 0, os.SEEK_SET)
    return text


def _redirect(sink: int) -> dict[int, int]:
    saved = {}
    for number in (1, 2):
        try:
            saved[number] = os.dup(number)
        except OSError:
            continue  # closed by the caller: nothing to protect
        os.dup2(sink, number)
    return saved


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (ValueError, OSError, AttributeError):
            continue  # closed, or none
