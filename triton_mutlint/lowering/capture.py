"""Keep what native code prints on file descriptors 1 and 2 out of the tool's own output."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

LIMIT = 64 * 1024  # bytes kept; MLIR prints the whole module when it fails


class Captured:
    """Holds the captured text once the block has ended."""

    text: str = ""


@contextlib.contextmanager
def captured_output() -> Iterator[Captured]:
    """Redirect descriptors 1 and 2 (and Python's streams on them) into `Captured.text`."""
    result = Captured()
    _flush()
    with tempfile.TemporaryFile() as sink:
        saved = _redirect(sink)
        try:
            yield result
        finally:
            _flush()
            for number, copy in saved.items():
                os.dup2(copy, number)
                os.close(copy)
            sink.seek(0)
            result.text = sink.read(LIMIT).decode("utf-8", "replace")


def _redirect(sink: IO[bytes]) -> dict[int, int]:
    saved = {}
    for number in (1, 2):
        try:
            saved[number] = os.dup(number)
        except OSError:
            continue  # closed by the caller: nothing to protect
        os.dup2(sink.fileno(), number)
    return saved


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, OSError, AttributeError):
            stream.flush()
