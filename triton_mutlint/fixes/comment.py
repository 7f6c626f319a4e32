"""Edits of `# triton-mutlint:` comments: the names of `mutates=`, the codes of `ignore[...]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from triton_mutlint.contracts.comments import MARK
from triton_mutlint.fixes.document import Document, next_line
from triton_mutlint.fixes.edit import CannotFixError, Edit, disjoint
from triton_mutlint.fixes.names import Wanted
from triton_mutlint.fixes.sequence import Items
from triton_mutlint.types import Change, Location

_MUTATES = re.compile(r"\s*mutates\s*=\s*")
_IGNORE = re.compile(r"\s*ignore\s*\[\s*")
_CLOSED = re.compile(r"\s*\]")
_NAME = re.compile(r"[^\s,\]]+")


def edit_mutates(document: Document, place: Location, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The edits of a declaring comment; raises CannotFixError."""
    wanted = Wanted.of(changes)
    start, end = _body(document, place)
    opened = _MUTATES.match(document.text, start, end)
    if opened is None:
        raise CannotFixError("the comment is not there any more")
    items = _items(document.text, opened.end(), end, ",")
    present = _names(items)
    if wanted.removed:
        return items.removed([i for i, name in enumerate(present) if name in wanted.removed])
    by_place: dict[int, list[str]] = {}
    for name in wanted.missing(present):
        by_place.setdefault(wanted.place(name, present), []).append(name)
    return disjoint(edit for index, names in by_place.items() for edit in items.inserted(index, names))


def edit_ignore(document: Document, place: Location, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The edits that take codes out of a suppression; a comment left without any goes as a whole.

    Raises CannotFixError.
    """
    idle = {change.name for change in changes}
    start, end = _body(document, place)
    opened = _IGNORE.match(document.text, start, end)
    if opened is None or "" in idle:
        return (_without(document, place),)
    close = document.text.find("]", opened.end(), end)
    items = _items(document.text, opened.end(), close if close >= 0 else end, ", ")
    dropped = [i for i, name in enumerate(_names(items)) if name in idle]
    if not dropped:
        raise CannotFixError("the comment is not there any more")
    if len(dropped) == len(items.spans):
        return (_without(document, place),)
    return items.removed(dropped)


def _body(document: Document, place: Location) -> tuple[int, int]:
    """Where the directive's text starts (after the mark) and ends (before the next `#`)."""
    start = document.byte_offset(place.line, place.column)
    line = document.line_end(start)
    mark = document.text.find(MARK, start, line)
    if not document.text.startswith("#", start) or mark < 0:
        raise CannotFixError("the comment is not there any more")
    mark += len(MARK)
    following = document.text.find("#", mark, line)
    end = following if following >= 0 else line
    return mark, mark + len(document.text[mark:end].rstrip())


def _items(text: str, opening: int, closing: int, separator: str) -> Items:
    spans = tuple(match.span() for match in _NAME.finditer(text, opening, closing))
    return Items(text, spans, opening, closing, separator)


def _names(items: Items) -> list[str]:
    return [items.text[start:end] for start, end in items.spans]


def _without(document: Document, place: Location) -> Edit:
    """The edit that removes one directive, and its line if nothing else stands there."""
    start = document.byte_offset(place.line, place.column)
    line, (mark, _) = document.line_end(start), _body(document, place)
    following = document.text.find("#", mark, line)
    if following >= 0:
        return Edit(start, following)
    first = document.line_start(start)
    before = document.text[first:start]
    if not before.strip():
        return Edit(first, next_line(document.text, start))
    return Edit(first + len(before.rstrip()), line)
