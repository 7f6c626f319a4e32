"""Writing files."""

from __future__ import annotations

import os
from pathlib import Path

from triton_mutlint.basics import UsageError


def write_file(path: Path, text: str) -> None:
    """Write `path` whole or not at all: the old file stays until the new one is complete."""
    try:
        if path.exists() and not path.is_file():  # a pipe or device has no old content to keep
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
            return
        _replace(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    import tempfile

    target = path.resolve()  # a link keeps pointing at the file it names
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:  # noqa: PTH123
            file.write(text)
        temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
