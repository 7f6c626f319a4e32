"""Putting an edited file in place of the old one: whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from triton_mutlint.fixes.document import Document
from triton_mutlint.types import UsageError


def write_document(document: Document) -> None:
    """Replace the file by the document's text, keeping its permissions; a link goes on naming its target.

    Until the new bytes are on disk the old file stays as it is. Raises UsageError when the file
    changed since it was read, or cannot be written.
    """
    assert document.path is not None, "standard input is no file"
    target = document.path.resolve()
    try:
        if target.read_bytes() != document.data:
            raise UsageError(f"{document.display} changed while it was analysed; it was left alone")
        if not os.access(target, os.W_OK):
            raise UsageError(f"cannot write {document.display}: it is read-only")
        _replace(target, document.encoded())
    except OSError as error:
        raise UsageError(f"cannot write {document.display}: {error.strerror}") from error


def _replace(target: Path, data: bytes) -> None:
    status = target.stat()
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            with contextlib.suppress(OSError):  # only root may give a file away
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(file.fileno(), status.st_mode & 0o7777)
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last; a file system that cannot do that has no better."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
