"""Edits of `# triton-mutlint:` comments: the names of `mutates=`, the codes of `ignore[...]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triton_mutlint.contracts.comments import MARK
from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError, Edit
from triton_mutlint.fixes.lists import changed, rewritten
from triton_mutlint.types import Change, Location

_MUTATES = re.compile(r"\s*mutates\s*=\s*(?P<names>.*)")
_IGNORE = re.compile(r"\s*ignore\s*\[(?P<names>[^]]*)")
_NAME = re.compile(r"[^\s,]+")


def edit_mutates(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edits of a declaring comment; raises CannotFixError."""
    _, body, end = _directive(document, place)
    given = _MUTATES.match(document.text, body, body + len(document.text[body:end].rstrip()))
    if given is None:
        raise CannotFixError("the comment is not there any more")
    names = list(_NAME.finditer(document.text, *given.span("names")))
    items = changed((name[0] for name in names), changes)
    return rewritten(document.text, given.span("names"), [name.span() for name in names], items)


def edit_ignore(document: Document, place: Location, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The edits that take codes out of a suppression; a comment left without any goes as a whole."""
    start, body, end = _directive(document, place)
    given = _IGNORE.match(document.text, body, end)
    codes = list(_NAME.finditer(document.text, *given.span("names"))) if given else []
    left = changed((code[0] for code in codes), changes)
    if given and left:
        return rewritten(document.text, given.span("names"), [code.span() for code in codes], left)
    first = document.line_start(start)
    before = document.text[first:start].rstrip()
    if end < document.line_end(start):
        return (Edit(start, end),)  # another comment follows
    return (Edit(first + len(before), end) if before else Edit(first, min(end + 1, len(document.text))),)


def _directive(document: Document, place: Location) -> tuple[int, int, int]:
    """Where a directive starts, where its text does (after the mark), and where that ends (before the next `#`)."""
    start = document.offset(place.line, place.column)
    line = document.line_end(start)
    mark = document.text.find(MARK, start, line)
    if not document.text.startswith("#", start) or mark < 0:
        raise CannotFixError("the comment is not there any more")
    following = document.text.find("#", mark, line)
    return start, mark + len(MARK), following if following >= 0 else line
