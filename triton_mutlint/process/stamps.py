"""What files and folders hold, told by stamps, and what stands where one looks."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

# Files that decide what is linted or what an import means without being Python.
_MARKS = frozenset({".git", "pyproject.toml", "setup.py", "setup.cfg", "triton-mutlint.yaml", "triton-mutlint.yml",
                    "triton-mutlint.toml", "pyvenv.cfg"})
_SETTLED = 100_000_000  # ns after which a change would show in a file's times: far above any clock's step

Signature = tuple[int, ...]
Look = tuple[str, str]  # a folder that exists, and a name in it; ALL for whatever is there
ALL, LISTING = "", "/"  # all sources and folders; everything
ANY = "/"  # begins a name that need be no source's


@dataclass(frozen=True)
class Stamp:
    """What a file or folder held: `digest` is empty where there was none, or it could not be read.

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


def is_loose(look: Look) -> bool:
    """Whether linted code looked there itself, for anything."""
    return look[1].startswith(ANY)


def found_at(look: Look) -> str:
    """What stands where one looks: nothing of ALL, whose stamp tells."""
    if look[1] == ALL:
        return ""
    if look[1] == LISTING:
        try:
            names = set(os.listdir(look[0])) - {"__pycache__"}  # noqa: PTH208
            return digest_of("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))
        except OSError:
            return "none"
    if look[1].startswith(ANY):
        path = os.path.join(look[0], look[1].removeprefix(ANY))  # noqa: PTH118
        return f"{os.path.lexists(path):d}{os.path.exists(path):d}{os.path.isdir(path):d}"  # noqa: PTH110, PTH112
    base = os.path.join(*look)  # noqa: PTH118 - a hot path
    is_source, is_package = os.path.isfile(base + ".py"), os.path.isfile(os.path.join(base, "__init__.py"))  # noqa: PTH113, PTH118
    return f"{is_source:d}{is_package:d}{os.path.isdir(base):d}{os.path.exists(base):d}"  # noqa: PTH110, PTH112


def looks_still(looks: Mapping[Look, str], folders: Mapping[str, Stamp],
                ask: Callable[[str, Stamp, bool], Stamp | None] | None = None) -> dict[str, Stamp] | None:
    """The stamps that the folders would get now if all looks find what they found; else None.

    `ask` stands for `still` where somebody remembers its answers.
    """
    now = {folder: (ask or still)(folder, stamp, True) for folder, stamp in folders.items()}
    changed = {folder for folder, stamp in now.items() if stamp is None}
    for look, found in looks.items():
        # A folder's stamp tells of sources and folders in it, and of nothing else.
        asked = look[0] in changed or is_loose(look)
        if asked and ((look[1] == ALL and look[0] in changed) or found_at(look) != found):
            return None
    return {folder: stamp or folder_stamp(folder) for folder, stamp in now.items()}


def still(path: str, stamp: Stamp, folder: bool = False) -> Stamp | None:
    """The stamp that a file or folder would get now if it holds what `stamp` says, else None."""
    if stamp.signature:
        try:
            if _raw_signature(path) == stamp.signature:
                return stamp
        except OSError:
            return None
    now = folder_stamp(path) if folder else file_stamp(path)
    return now if now.digest == stamp.digest else None


def file_stamp(path: str) -> Stamp:
    try:
        refuse_irregular(path)
        signature = signature_of(path)
        with open(path, "rb") as file:  # noqa: PTH123
            return Stamp(digest_of(file.read()), signature)
    except OSError:
        return Stamp("")


def folder_stamp(path: str) -> Stamp:
    try:
        signature = signature_of(path)
        with os.scandir(path) as entries:
            shown = sorted(filter(None, map(_shown, entries)))
        return Stamp(digest_of("\0".join(shown).encode("utf-8", "surrogateescape")), signature)
    except OSError:
        return Stamp("")


def digest_of(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _shown(entry: os.DirEntry[str]) -> str:
    """An entry of a folder as far as it matters: its name and kind, and where a link leads."""
    name = entry.name
    if entry.is_symlink():
        return f"{name}>{os.readlink(entry.path)}"  # noqa: PTH115
    if name in _MARKS or name.endswith(".py"):
        return name
    if entry.is_dir() and not name.startswith(".") and name != "__pycache__":
        return f"{name}/"
    return ""


def _raw_signature(path: str) -> Signature:
    found = os.stat(path)  # noqa: PTH116 - a hot path
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def signature_of(path: str) -> Signature:
    """Times, size and number, where a later change of the content would show in them."""
    signature = _raw_signature(path)
    if not 0 <= max(signature[:2]) < time.time_ns() - _SETTLED:
        return ()
    return signature
