"""What files hold, told by stamps, and what stands where one looks."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

_SETTLED = 100_000_000  # ns after which a change would show in a file's times: far above any clock's step

_MOST = 256 << 20  # bytes of a file that is read

Signature = tuple[int, ...]
Look = tuple[str, str]  # a folder, and a name in it
ALL, LISTING = "", "/"  # in place of a name: all sources and folders; everything


@dataclass(frozen=True)
class Stamp:
    """What a file held: `digest` is empty where there was none, or it could not be read.

    A file whose `signature` (times, size, number) is still the same has not changed; without one, only
    its content tells.
    """

    digest: str
    signature: Signature = ()


def refuse_irregular(path: str | os.PathLike[str]) -> None:
    """Raises OSError for what is no regular file, or is not there."""
    mode = os.stat(path).st_mode  # noqa: PTH116 - a hot path
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
        kind = next((kind for is_kind, kind in kinds if is_kind(mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file", os.fspath(path))


def content_of(path: str | os.PathLike[str], *, named: bool = False) -> bytes:
    """The bytes of a file. Raises OSError, also for one that has no end, or is no regular file and was not `named`."""
    if not named:
        refuse_irregular(path)
    with open(path, "rb") as file:  # noqa: PTH123 - a hot path
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
    return data


def found_at(look: Look) -> str:
    """What stands where one looks."""
    folder, name = look
    if name in (ALL, LISTING):
        try:
            with os.scandir(folder) as entries:
                shown = sorted(filter(None, map(_shown, entries))) if name == ALL else sorted(e.name for e in entries)
        except OSError:
            return "none"
        return digest_of("\0".join(shown).encode("utf-8", "surrogateescape"))
    path = os.path.join(*look)  # noqa: PTH118 - a hot path
    mode, leads = _kind(os.lstat, path), ""
    if stat.S_ISLNK(mode):
        mode, leads = _kind(os.stat, path), os.readlink(path)  # noqa: PTH115
    is_package = stat.S_ISDIR(mode) and os.path.isfile(os.path.join(path, "__init__.py"))  # noqa: PTH113, PTH118
    return f"{os.path.isfile(path + '.py'):d}{is_package:d}{mode}>{leads}"  # noqa: PTH113


def _kind(ask: Callable[[str], os.stat_result], path: str) -> int:
    """What kind of thing stands there; 0 for nothing."""
    try:
        return stat.S_IFMT(ask(path).st_mode)
    except (OSError, ValueError):
        return 0


def still(path: str, stamp: Stamp) -> Stamp | None:
    """The stamp that a file would get now if it holds what `stamp` says, else None."""
    if stamp.signature:
        try:
            if _raw_signature(path) == stamp.signature:
                return stamp
        except OSError:
            return None
    now = file_stamp(path)
    return now if now.digest == stamp.digest else None


def file_stamp(path: str) -> Stamp:
    try:
        return stamped(path)[1]
    except OSError:
        return Stamp("")


def stamped(path: str, *, named: bool = False) -> tuple[bytes, Stamp]:
    """The bytes of a file, as `content_of` gives them, and its stamp."""
    signature = _signature(path)
    data = content_of(path, named=named)
    return data, Stamp(digest_of(data), signature)


def digest_of(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _shown(entry: os.DirEntry[str]) -> str:
    """An entry of a folder as far as it matters: the name of a source or folder, and where a link leads."""
    name = entry.name
    if entry.is_symlink():
        return f"{name}>{os.readlink(entry.path)}"  # noqa: PTH115
    if name.endswith(".py"):
        return name
    return f"{name}/" if entry.is_dir() and not name.startswith(".") and name != "__pycache__" else ""


def _raw_signature(path: str) -> Signature:
    found = os.stat(path)  # noqa: PTH116 - a hot path
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def _signature(path: str) -> Signature:
    """Times, size and number, where a later change of the content would show in them."""
    signature = _raw_signature(path)
    if not 0 <= max(signature[:2]) < time.time_ns() - _SETTLED:
        return ()
    return signature
