"""The look of the text report: a few styles, flowing text, tables, and quoted lines of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len as cells  # the width of a text in cells of the terminal
from rich.text import Text

from triton_mutlint.basics import visible
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.types import Location, Mutation, Severity

Lines = list[Text]

DIM = "dim"
STRONG = "bold"
PLACE = "cyan"
CARET = "bold magenta"
FAILED = "bold red"
NOTE = "cyan"
MUTATION = {
    Mutation.WRITTEN: "bold magenta",
    Mutation.CONDITIONAL: "magenta",
    Mutation.UNKNOWN: "bold yellow",
    Mutation.UNWRITTEN: DIM,
}
SEVERITY = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
GUTTER = 6  # digits of a line number, right-aligned
_MARGIN = 12  # characters kept to the right of the caret when a long line is cropped


def clean(text: str) -> str:
    """`text` as a part of one line: `visible`, with tabs expanded."""
    return text if text.isprintable() else visible(text.expandtabs(4)).replace("\n", "\\n")


def flow(pieces: Iterable[Text], width: int, first: Text | None = None, indent: int = 0) -> Lines:
    """`pieces` side by side, each unbroken, on as many lines of `width` cells as they need.

    The first line starts with `first`; later ones with `indent` spaces. What ends a piece in spaces needs no room.
    """
    lines = [first.copy() if first is not None else Text(" " * indent)]
    start = True  # nothing but the beginning is on the line
    for piece in pieces:
        taken = lines[-1].cell_len + (not start)
        if taken + cells(piece.plain.rstrip()) > width and not (start and lines[-1].cell_len <= indent):
            lines.append(Text(" " * indent))
            start = True
        lines[-1].append("" if start else " ").append_text(piece)
        start = False
    return lines


def prose(text: str, width: int, lead: Text | str = "  ", indent: int = 2, style: str = "") -> Lines:
    """The words of `text` as they `flow`; one of several lines as it stands."""
    if "\n" in text.strip("\n"):
        return indented(text, indent)
    return flow(words(text, style), width, Text.assemble(lead), indent)


def noted(label: str, text: str, width: int, indent: int = 0) -> Lines:
    """A note or a help."""
    return flow(words(text), width, Text.assemble(" " * indent, (f"{label}: ", NOTE)), indent + 6)


def titled(title: Text, pieces: Sequence[Text], width: int) -> Lines:
    """Side by side where that fits on a line, else one above the other."""
    if title.cell_len + 1 + sum(piece.cell_len + 1 for piece in pieces) <= width:
        return flow(pieces, width, title.append("  "))
    return [title, *flow(pieces, width, Text("  "), 4)]


def words(text: str, style: str = "") -> list[Text]:
    """The words of `text`, to let it flow."""
    return [Text(word, style) for word in clean(text).split()]


def joined(names: Sequence[str], style: str = "", separator: str = ",") -> list[Text]:
    """Names as pieces of a list, the separator bound to each name but the last."""
    last = len(names) - 1
    return [Text.assemble((clean(n), style), separator if i < last else "") for i, n in enumerate(names)]


def clauses(found: Iterable[tuple[str, str, Sequence[str], str]]) -> list[Text]:
    """`writes a and sometimes b`: the names of each kind after its verb, which is the first alone or goes on."""
    pieces: list[Text] = []
    for alone, after, names, style in found:
        pieces += [*words(after if pieces else alone), *joined(names, style)] if names else []
    return pieces


def aligned(rows: Sequence[tuple[Sequence[Text], Sequence[Text]]], width: int) -> Lines:
    """A table: each row has cells, which stand in columns, and what flows after them.

    A cell that takes more than a third of the width does not count for its column.
    """
    columns = zip(*(row for row, _ in rows), strict=True)
    widths = [max((c.cell_len for c in column if c.cell_len <= width // 3), default=0) for column in columns]
    lines: Lines = []
    for row, rest in rows:
        padded = [Text.assemble(cell, " " * (max(size - cell.cell_len, 0) + 1))
                  for cell, size in zip(row, widths, strict=True)]
        lines += flow([*padded, *rest], width, Text("  "), 4)
    return lines


def where(location: Location) -> str:
    """`file:line:column`, as terminals and editors link it."""
    return f"{clean(location.file)}:{location.line}:{location.column}"


def place_lines(location: Location, options: RenderOptions, op: str = "", quoted: set[Location] | None = None) -> Lines:
    """A place in the source, the op that it is of, and the line, which is quoted once if `quoted` says what was."""
    pieces = [Text(where(location), PLACE), *([Text(f" {op}", DIM)] if op else [])]
    lines = flow(pieces, options.width, Text("    "), 5)
    if quoted is None or location not in quoted:
        lines += quote(location, options)
    if quoted is not None:
        quoted.add(location)
    return lines


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
