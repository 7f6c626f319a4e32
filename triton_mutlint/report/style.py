"""The look of the text report: a few styles, two sets of characters, and flowing text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from triton_mutlint.types import Mutation, Severity

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

_ASCII = str.maketrans({"·": "-", "…": "...", "�": "?"})


def to_ascii(rendered: str) -> str:
    """The report's own typographic characters in ASCII; other text of the user's stays as it is."""
    return rendered.translate(_ASCII)


def clean(text: str) -> str:
    """`text` with tabs expanded and control characters (terminal escapes too) made visible."""
    if text.isprintable():
        return text
    shown = text.expandtabs(4)
    return "".join("�" if unicodedata.category(char) in ("Cc", "Cf") else char for char in shown)


def flow(pieces: Sequence[Text], width: int, first: Text | None = None, indent: int = 0) -> Lines:
    """`pieces` side by side, each unbroken, on as many lines of `width` cells as they need.

    The first line starts with `first`; later ones with `indent` spaces.
    """
    lines = [first.copy() if first is not None else Text(" " * indent)]
    fresh = True
    for piece in pieces:
        space = 0 if fresh else 1
        if not fresh and lines[-1].cell_len + space + piece.cell_len > width:
            lines.append(Text(" " * indent))
            space = 0
        lines[-1].append(" " * space).append_text(piece)
        fresh = False
    return lines


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


def counted(names: Sequence[str], style: str, limit: int) -> list[Text]:
    """As `joined`, of the first `limit` names; how many more there are (0: all names)."""
    if not limit or len(names) <= limit + 1:
        return joined(names, style)
    return [*joined(names[:limit], style), *words(f"and {len(names) - limit} more", style)]


def cells(text: str) -> int:
    """The width of `text` in terminal cells."""
    return cell_len(text)
