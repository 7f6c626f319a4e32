"""Writing files."""

from __future__ import annotations

import os
from pathlib import Path

from triton_mutlint.basics import UsageError


def write_file(path: Path, content: str | bytes, name: str = "") -> None:
    """Write `path`, `name` in messages, whole or not at all: the old file stays until the new one is on disk."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():  # a pipe or device has no old content to keep
            path.write_bytes(data)
            return
        _replace(path, data)
    except OSError as error:
        raise UsageError(f"cannot write {name or path}: {error.strerror}") from error


def _replace(path: Path, data: bytes) -> None:
    import tempfile

    target = path.resolve()  # a link keeps pointing at the file it names
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
