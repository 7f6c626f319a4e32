"""What fixing would change, as a unified diff that `patch -p0` takes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from triton_mutlint.fixes.document import Document

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # a lone carriage return stays inside its line, as for `diff`


def unified(before: str, after: Document) -> str:
    """The diff from the text `before` to the document, named as reports show it."""
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after.text), after.display, after.display)
    return "".join(_ended(lines))


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
