"""What fixing changes, as a diff and in files."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from triton_mutlint.fixes.document import Document
from triton_mutlint.process.files import write_file
from triton_mutlint.types import UsageError

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # a lone carriage return stays inside its line, as for `diff`


def unified(before: Document, after: Document) -> str:
    """The difference between two states of a document, as a unified diff that `patch -p0` takes."""
    old, new = (_LINE.findall(document.written(document.text)) for document in (before, after))
    lines = difflib.unified_diff(old, new, after.display, after.display)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


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
