"""Writing to the terminal: encodings, colour, widths, closed pipes, and a line of progress."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
import time
from pathlib import Path
from typing import TextIO

import click

from triton_mutlint.basics import UsageError, inert, visible

NARROWEST = 40
PATIENCE = 1.0  # seconds before anything is shown
INTERVAL = 0.1  # seconds between two updates
_ERASE = "\r\x1b[K"


def use_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour `stream`: the option, then NO_COLOR, FORCE_COLOR, TERM=dumb, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced.lower() not in ("0", "false")
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def columns() -> int:
    """Of the terminal (or COLUMNS) in cells; 80 where there is none."""
    import shutil  # here: loading it takes longer than all the rest of this module does

    return shutil.get_terminal_size((80, 24)).columns


def width() -> int:
    """Of a report in cells: what the terminal has, if that is enough for one."""
    return max(columns(), NARROWEST)


def fitted(text: str, stream: TextIO, indent: int = 4) -> str:
    """`text` with its lines broken between words if `stream` is a terminal, which would break them anywhere.

    What goes on is indented. Where it is not a terminal, a line stays one.
    """
    if not is_terminal(stream):
        return text
    import textwrap

    wrap = textwrap.TextWrapper(width(), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{folded}\n" for line in text.splitlines() for folded in wrap.wrap(line) or [""])


def tell(text: str) -> None:
    """Say something beside the output proper, on standard error."""
    with contextlib.suppress(OSError):  # it takes nothing more: the exit code still tells
        click.echo(fitted(f"{inert(visible(text.rstrip()))}\n", sys.stderr), nl=False, err=True)


def is_unicode(stream: TextIO) -> bool:
    """Whether the stream can show every character."""
    try:
        return codecs.lookup(stream.encoding or "ascii").name.startswith("utf")
    except LookupError:
        return False


def write_stdout(text: str) -> None:
    """Write all of `text`; a reader that has gone away (`| head`) is no error.

    Raises UsageError when the output cannot take it (a full disk).
    """
    stream = sys.stdout
    try:
        binary = getattr(stream, "buffer", None)
        if binary is None:
            stream.write(text)
        else:
            stream.flush()
            binary.write(text.encode(stream.encoding or "utf-8", errors="backslashreplace"))
        stream.flush()
    except BrokenPipeError:
        _abandon_stdout()
    except OSError as error:
        _abandon_stdout()
        raise UsageError(f"cannot write to standard output: {error.strerror}") from error


def _abandon_stdout() -> None:
    """Leave nothing for the interpreter to flush at exit, which would complain."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def check_writable(path: Path) -> None:
    """Refuse a report file that cannot be made, before the work rather than after it."""
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder")
    if path.suffix == ".py":  # mistaken for a path to lint: its text would be lost
        raise UsageError(f"cannot write {path}: a report must not take the place of Python source")


class Progress:
    """Call with (done, total, label); shows nothing off a terminal, and nothing stays at the end."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._enabled = is_terminal(self._stream) and os.environ.get("TERM") != "dumb"  # it cannot erase a line
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
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
