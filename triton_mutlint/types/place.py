"""Places in sources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file; `file` is as given to the tool.

    `line` and `column` are 1-based; the column counts bytes of UTF-8, as those of Triton and `ast` do.
    """

    file: str
    line: int
    column: int = 1


@dataclass(frozen=True, order=True)
class Frame:
    """One step of a call chain: inside `function`, at `file`:`line`."""

    function: str
    file: str
    line: int
