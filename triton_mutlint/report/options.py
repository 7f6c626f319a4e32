"""How a report is to be rendered, and the source text that it quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from triton_mutlint.basics import character_at

if TYPE_CHECKING:  # fixing is loaded when there is something to fix
    from triton_mutlint.fixes.plan import Offer
    from triton_mutlint.types import Finding, Location

_NEWLINE = re.compile(r"\r\n|\r|\n")  # as Python counts lines; str.splitlines knows more ends


class SourceLines:
    """Lines of files by the name they have in the report, read once and kept.

    `texts` holds what is not on disk as such (stdin, an unsaved buffer); other files are read
    relative to `root`. A file that cannot be read has no lines: it is quoted nowhere.
    """

    def __init__(self, texts: Mapping[str, str] | None = None, root: Path | None = None) -> None:
        self._root = root or Path()
        self._lines = {file: _NEWLINE.split(text) for file, text in (texts or {}).items()}

    def line(self, file: str, number: int) -> str | None:
        """Line `number` (1-based) of `file`, without its end; None where there is no such line."""
        lines = self._lines.get(file)
        if lines is None:
            lines = self._lines[file] = self._read(file)
        return lines[number - 1] if 0 < number <= len(lines) else None

    def character(self, location: Location) -> int:
        """The 0-based index of a column in characters: Python and Triton count UTF-8 bytes."""
        line = self.line(location.file, location.line)
        return location.column - 1 if line is None else character_at(line, location.column)

    def _read(self, file: str) -> list[str]:
        from triton_mutlint.source.python_text import read_source  # here: not every report quotes something
        from triton_mutlint.types import StageError

        try:
            return _NEWLINE.split(read_source(self._root / file, file))
        except (StageError, ValueError):  # no such file, or not text; a name that no file can have
            return []


@dataclass(frozen=True)
class RenderOptions:
    """`width` is in terminal cells; `ascii` asks for no character beyond ASCII of the tool's own.

    `quiet` keeps findings and failures alone; `brief` gives a line for each kernel in place of all that is known of it,
    `verbose` adds reads and inference reasons and lifts the limits on how many places are shown. `fail_on` is the least
    severity that fails the run, or `never`. `fixes` holds the findings that `--fix` can settle, each with the edit.
    """

    width: int = 80
    color: bool = False
    ascii: bool = False
    quiet: bool = False
    brief: bool = False
    verbose: bool = False
    fail_on: str = "error"
    sources: SourceLines = field(default_factory=SourceLines, repr=False)
    fixes: Mapping[Finding, Offer] = field(default_factory=dict, repr=False)
