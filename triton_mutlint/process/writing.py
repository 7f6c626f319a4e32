"""Writing files."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from triton_mutlint.basics import UsageError


def write_file(path: Path, content: str | bytes, name: str = "", within: Path | None = None) -> None:
    """Write `path`, `name` in messages, whole or not at all: the old file stays until the new one is on disk.

    A path below the folder `within` must not lead out of it by a link. Raises UsageError.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():  # a pipe or device has no old content to keep
            path.write_bytes(data)
            return
        target = path.resolve()  # a link keeps pointing at the file it names
        is_below = within is not None and Path(os.path.abspath(path)).is_relative_to(within)  # noqa: PTH100 - by name
        if within is not None and is_below and not target.is_relative_to(within.resolve()):
            raise UsageError(f"cannot write {name or path}: by a link, it is {target}, outside of {within}")
        replace_file(target, data)
    except OSError as error:
        raise UsageError(f"cannot write {name or path}: {error.strerror}") from error


def replace_file(target: Path, data: bytes, *, lasting: bool = True) -> None:
    """Put a new file with the old one's mode, owner and attributes in its place; on disk at once if `lasting`.

    Raises OSError.
    """
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        _be_like(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _be_like(old: Path, new: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        about = old.stat()
        with contextlib.suppress(OSError):  # one may give nothing away
            os.chown(new, about.st_uid, about.st_gid)
        shutil.copystat(old, new)
        os.utime(new)  # it is new all the same
