"""What a fix is: edits of one file's text, and the findings that they settle; a file as bytes and as text.

An edit changes nothing but what it means to.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from triton_mutlint.basics import character_at
from triton_mutlint.config.request import Request
from triton_mutlint.contracts.comments import tree_of
from triton_mutlint.process.writing import write_file
from triton_mutlint.types import Finding, Location, MutlintError, SourceFile, UsageError


@dataclass(frozen=True, order=True)
class Edit:
    """Characters `start` to `end` (exclusive, of the decoded text) become `text`."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True)
class Fix:
    """The edits of one list (or one decorator's lists) in `file`; `message` says what they do."""

    file: str
    location: Location
    message: str
    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from the other fixes of a run, wherever it stands after other edits."""
        named = sorted((f.rule, f.kernel or "", f.parameter or "") for f in self.findings)
        return (self.file, self.message, tuple(named), self.location.column)


@dataclass(frozen=True)
class Refusal:
    """Findings that ask for a change that was not made, and why not."""

    findings: tuple[Finding, ...]
    reason: str


class CannotFixError(MutlintError):
    """The place is not written in a way that can be edited without guessing; says why."""


def replaced(text: str, start: int, end: int, new: str) -> tuple[Edit, ...]:
    """The smallest edit that puts `new` in place of a part of `text`; none where it stands there already."""
    old = text[start:end]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return () if old == new else (Edit(start + head, end - tail, new[head : len(new) - tail]),)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def apply(text: str, fixes: Iterable[Fix]) -> tuple[str, tuple[Fix, ...]]:
    """`text` after the fixes, and those that were made: one that overlaps an earlier one has to wait."""
    taken: list[Edit] = []
    made: list[Fix] = []
    for fix in fixes:
        if not any(_overlap(edit, other) for edit in fix.edits for other in taken):
            taken += fix.edits
            made.append(fix)
    for edit in sorted(taken, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text, tuple(made)


def _overlap(one: Edit, other: Edit) -> bool:
    first, second = sorted((one, other))
    return first.start == second.start or second.start < first.end  # two insertions at one place have no order


_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Document:
    """A file's text as it is analysed: with `\\n` line ends and without its byte-order mark.

    `path` is None for standard input; `data` are the bytes that were read, and `newline` how the file's lines end.
    """

    display: str
    path: Path | None
    text: str
    data: bytes = b""
    encoding: str = "utf-8"
    bom: bytes = b""
    newline: str = "\n"

    @cached_property
    def tree(self) -> ast.Module:
        return tree_of(SourceFile(Path(), "", self.text))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(i for i, char in enumerate(self.text, 1) if char == "\n")]

    def offset(self, line: int, column: int) -> int:
        """The index into `text` of a 1-based line and column in bytes of UTF-8; raises CannotFixError."""
        if not 1 <= line <= len(self._starts):
            raise CannotFixError("the place is not in the file any more")
        start = self._starts[line - 1]
        return start + character_at(self.text[start : self.line_end(start)], column)

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in characters) of an index into `text`."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        """The indices into `text` between which a part of `tree` stands."""
        start = self.offset(node.lineno, node.col_offset + 1)
        return start, self.offset(node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1)

    def line_start(self, offset: int) -> int:
        """Where the line that holds `offset` starts."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Where the line that holds `offset` ends, before its line end."""
        end = self.text.find("\n", offset)
        return end if end >= 0 else len(self.text)

    def with_text(self, text: str) -> Document:
        return replace(self, text=text)

    def written(self, text: str) -> str:
        """A part of the text with the file's own line ends."""
        return text.replace("\n", self.newline)

    def encoded(self) -> bytes:
        """The bytes to write; raises CannotFixError for text that the file's encoding does not have."""
        try:
            return self.bom + self.written(self.text).encode(self.encoding)
        except UnicodeEncodeError as error:
            raise CannotFixError(f"{self.encoding} cannot hold the new text") from error


def request_document(request: Request, name: str, *, python: bool) -> Document:
    """A file of a run by the name that reports give it, or what stands on standard input; raises CannotFixError."""
    path = request.cwd / name
    if request.stdin_text is not None and path == request.cwd / Path(request.stdin_filename or "<stdin>"):
        return _decoded(name, request.stdin_text.encode(), "utf-8")
    return read_document(path, name, python=python)


def read_document(path: Path, display: str, *, python: bool) -> Document:
    """Read `path` as Python does (PEP 263), or as UTF-8.

    Raises CannotFixError for bytes that would not come out again as they went in.
    """
    try:
        data = path.read_bytes()
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0] if python else "utf-8"
        return replace(_decoded(display, data, encoding.removesuffix("-sig")), path=path)
    except OSError as error:
        raise CannotFixError(f"it cannot be read again: {error.strerror}") from error
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise CannotFixError(f"it cannot be decoded: {error}") from error


def _decoded(display: str, data: bytes, encoding: str) -> Document:
    bom = _BOM if data.startswith(_BOM) else b""
    text = data[len(bom) :].decode(encoding)
    newline = next((end for end in ("\r\n", "\r") if end in text), "\n")
    document = Document(display, None, text.replace(newline, "\n"), data, encoding, bom, newline)
    if document.encoded() != data:
        raise CannotFixError("its line ends differ, or its encoding does not give the same bytes again")
    return document


def write_document(document: Document, within: Path | None = None) -> None:
    """Replace the file by the document's text; raises UsageError where it changed since, or cannot be written.

    A file below `within` must not be outside of it by a link.
    """
    assert document.path is not None, "standard input is no file"
    try:
        if document.path.read_bytes() != document.data:
            raise UsageError(f"{document.display} changed while it was analysed; it was left alone")
        if not os.access(document.path, os.W_OK):
            raise UsageError(f"cannot write {document.display}: it is read-only")
    except OSError as error:
        raise UsageError(f"cannot write {document.display}: {error.strerror}") from error
    write_file(document.path, document.encoded(), document.display, within)
