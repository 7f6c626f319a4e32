"""A line of progress on stderr, for people who wait."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType

from triton_mutlint.cli.shell.output import columns, is_terminal

PATIENCE = 1.0  # seconds before anything is shown
INTERVAL = 0.1  # seconds between two updates
_ERASE = "\r\x1b[K"


class Progress:
    """Call with (done, total, label); shows nothing off a terminal, and nothing stays at the end."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._enabled = is_terminal(self._stream) and os.environ.get("TERM") != "dumb"  # it cannot erase a line
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write(_ERASE)
            self._stream.flush()

    def __call__(self, done: int, total: int, label: str) -> None:
        now = time.monotonic()
        if not self._enabled or now < self._next:
            return
        self._next = now + INTERVAL
        self._shown = True
        line = f"{done}/{total} {label}" if total else label
        printable = "".join(char if char.isprintable() else "?" for char in line)
        encoding = self._stream.encoding or "ascii"
        safe = printable.encode(encoding, errors="replace").decode(encoding)
        self._stream.write(_ERASE + safe[: columns() - 1])
        self._stream.flush()
