"""Places of the source, and the lines that stand there."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.style import CARET, DIM, PLACE, Lines, cells, clean, flow
from triton_mutlint.types import Location

GUTTER = 6  # digits of a line number, right-aligned
_MARGIN = 12  # characters kept to the right of the caret when a long line is cropped


def where(location: Location) -> str:
    """`file:line:column`, as terminals and editors link it."""
    return f"{clean(location.file)}:{location.line}:{location.column}"


def stands(location: Location, options: RenderOptions) -> str:
    """As `where`: a line alone where the column is that of its indentation, a file alone where there is none."""
    first = options.sources.line(location.file, 1)
    raw = options.sources.line(location.file, location.line) or ""
    if first is None and (location.line, location.column) == (1, 1):
        return clean(location.file)
    indented = raw.strip() and location.column <= len(raw) - len(raw.lstrip())
    return f"{clean(location.file)}:{location.line}" if indented else where(location)


def place_lines(location: Location, ops: Sequence[str], options: RenderOptions) -> Lines:
    """Where ops stand in the source, and which they are."""
    pieces = [Text(where(location), PLACE), Text.assemble(" ", (", ".join(ops), DIM))]
    return flow(pieces, options.width, Text("    "), 5)


def quote(location: Location, options: RenderOptions, indent: int = 2) -> Lines:
    """The line at `location` with a caret, as compilers print it; nothing where the source cannot be read."""
    raw = options.sources.line(location.file, location.line)
    if raw is None or not raw.strip():
        return []
    before, line = clean(raw[: options.sources.character(location)]), clean(raw).rstrip()
    blank = len(line) - len(line.lstrip())  # a column in the indentation means the line as a whole
    room = max(options.width - indent - GUTTER - 3, 20)
    line, at = _cropped(line, max(min(len(before), len(line)), blank), room, options)
    numbered = f"{' ' * indent}{location.line:>{GUTTER}} | "
    bar = " " * (indent + GUTTER) + " | "
    return [Text.assemble((numbered, DIM), line), Text.assemble((bar, DIM), " " * cells(line[:at]), ("^", CARET))]


def code(file: str, line: int, options: RenderOptions, room: int) -> str:
    """Line `line` without its indentation, cropped to `room`; "" where it cannot be read."""
    raw = options.sources.line(file, line)
    return _cropped(clean(raw.strip()), 0, room, options)[0] if raw and room >= 12 else ""


def indented(text: str, indent: int) -> Lines:
    """Text as it stands, behind a bar: messages whose own layout (a caret) must survive."""
    bar = " " * indent + "| "
    return [Text.assemble((bar, DIM), clean(line).rstrip()) for line in text.strip("\n").splitlines()]


def _cropped(line: str, at: int, room: int, options: RenderOptions) -> tuple[str, int]:
    """`line` cut to `room` characters around the one `at`, and where that then stands."""
    dots = "..." if options.ascii else "…"
    start = at + _MARGIN + len(dots) - room
    if len(line) > room and start > 0:
        line, at = dots + line[start + len(dots) :], at - start
    return (line if len(line) <= room else line[: room - len(dots)] + dots), at
