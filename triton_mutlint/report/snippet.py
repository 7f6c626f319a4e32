"""A quoted source line with a caret under the column, as compilers print it."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.style import CARET, DIM, Lines, cells, clean
from triton_mutlint.types import Location

GUTTER = 6  # digits of a line number, right-aligned
_MARGIN = 12  # cells kept to the right of the caret when a long line is cropped


def quote(location: Location, options: RenderOptions, indent: int = 2) -> Lines:
    """The line at `location` and its caret; nothing where the source cannot be read."""
    raw = options.sources.line(location.file, location.line)
    if raw is None or not raw.strip():
        return []
    column = options.sources.character(location)
    before, line = clean(raw[:column]), clean(raw).rstrip()
    room = max(options.width - indent - GUTTER - 3, 20)
    blank = cells(line) - cells(line.lstrip())  # a column in the indentation means the line as a whole
    caret = max(min(cells(before), cells(line)), blank)
    line, caret = crop(line, caret, room, "..." if options.ascii else "…")
    bar = " " * indent + " " * GUTTER + " | "
    numbered = f"{' ' * indent}{location.line:>{GUTTER}} | "
    return [
        Text.assemble((numbered, DIM), line),
        Text.assemble((bar, DIM), " " * caret, ("^", CARET)),
    ]


def code(location_file: str, line: int, options: RenderOptions, room: int) -> str:
    """Line `line` without its indentation, cropped to `room` cells; "" where it cannot be read."""
    raw = options.sources.line(location_file, line)
    text = clean(raw.strip()) if raw else ""
    return crop(text, 0, room, "..." if options.ascii else "…")[0] if room >= 12 else ""


def crop(line: str, caret: int, room: int, ellipsis: str) -> tuple[str, int]:
    """`line` cut to `room` cells around `caret`, and where the caret then stands."""
    if cells(line) <= room:
        return line, caret
    mark = len(ellipsis)
    start = max(0, caret + _MARGIN + mark - room)
    if start:
        line, caret = ellipsis + _from_cell(line, start + mark), caret - start
    if cells(line) > room:
        line = _up_to_cell(line, room - mark) + ellipsis
    return line, caret


def _from_cell(line: str, start: int) -> str:
    index = 0
    while index < len(line) and cells(line[:index]) < start:
        index += 1
    return line[index:]


def _up_to_cell(line: str, end: int) -> str:
    index = len(line)
    while index and cells(line[:index]) > end:
        index -= 1
    return line[:index]
