"""A file as bytes and as text, so that an edit changes nothing but what it means to."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.fixes.edit import CannotFixError

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Document:
    """A file's text with its own line ends and without its byte-order mark.

    `path` is None for standard input; `data` are the bytes that were read.
    """

    display: str
    path: Path | None
    text: str
    data: bytes = b""
    encoding: str = "utf-8"
    bom: bytes = b""

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @property
    def normal(self) -> str:
        """The text with `\\n` line ends, as it is analysed."""
        return _LINE_END.sub("\n", self.text)

    def offset(self, line: int, column: int) -> int:
        """The index into `text` of a 1-based line and column (in characters); raises CannotFixError."""
        if not 1 <= line <= len(self._starts):
            raise CannotFixError("the place is not in the file any more")
        return self._starts[line - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in characters) of an index into `text`."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def byte_offset(self, line: int, column: int) -> int:
        """As `offset`, of a column in bytes of UTF-8, as `Location` counts them."""
        start = self.offset(line, 1)
        before = self.text[start : self.line_end(start)].encode("utf-8", "surrogatepass")[: column - 1]
        return start + len(before.decode("utf-8", "ignore"))

    def line_start(self, offset: int) -> int:
        """Where the line that holds `offset` starts."""
        return line_start(self.text, offset)

    def line_end(self, offset: int) -> int:
        """Where the text of the line that holds `offset` ends, before its line end."""
        return line_end(self.text, offset)

    def with_text(self, text: str) -> Document:
        return replace(self, text=text)

    def encoded(self) -> bytes:
        """The bytes to write; raises CannotFixError for text that the file's encoding does not have."""
        try:
            return self.bom + self.text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise CannotFixError(f"{self.encoding} cannot hold the new text") from error


def line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def line_end(text: str, offset: int) -> int:
    match = _LINE_END.search(text, offset)
    return match.start() if match else len(text)


def next_line(text: str, offset: int) -> int:
    """Where the line after the one that holds `offset` starts; the end of the text if it is the last."""
    match = _LINE_END.search(text, offset)
    return match.end() if match else len(text)


def newline_at(text: str, offset: int) -> str:
    """How the line that holds `offset` ends; as the file's first line does, if it has no end."""
    match = _LINE_END.search(text, offset) or _LINE_END.search(text)
    return match[0] if match else "\n"


def request_document(request: Request, name: str, *, python: bool) -> Document:
    """A file of a run by the name that reports give it, or what stands on standard input; raises CannotFixError."""
    path = request.cwd / name
    if request.stdin_text is not None and path == request.cwd / Path(request.stdin_filename or "<stdin>"):
        return Document(name, None, request.stdin_text)
    return read_document(path, name, python=python)


def read_document(path: Path, display: str, *, python: bool) -> Document:
    """Read `path` as Python does (PEP 263), or as UTF-8.

    Raises CannotFixError for bytes that would not come out again as they went in.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CannotFixError(f"it cannot be read again: {error.strerror}") from error
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0] if python else "utf-8"
        encoding = encoding.removesuffix("-sig")
        text = data[len(bom) :].decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise CannotFixError(f"it cannot be decoded: {error}") from error
    document = Document(display, path, text, data, encoding, bom)
    if document.encoded() != data:
        raise CannotFixError(f"its encoding, {encoding}, does not give the same bytes again")
    return document
