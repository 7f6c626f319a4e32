"""Entries on disk, by name: written whole or not at all, checked when read, the least used dropped first."""

from __future__ import annotations

import contextlib
import os
import stat
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from triton_mutlint.packing import pack, unpack
from triton_mutlint.process.writing import replace_file

T = TypeVar("T")

LIMIT = 256 << 20  # bytes of all entries together
_MAGIC = b"triton-mutlint cache 1\n"
_DIGEST = 32
_KINDS = ("runs", "files")
_TAG = "CACHEDIR.TAG"
_OWN_FILES = {_TAG: "Signature: 8a477f597d28d172789f06886806bc55\n", ".gitignore": "*\n"}


class Store:
    """Entries below one folder, which is made when something is first kept.

    Nothing here raises for what the disk does: an entry that cannot be read is not there, one that cannot
    be written is not kept, and `problem` then says why.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self.problem = folder, ""
        self._limit, self._grown = limit, False

    def get(self, kind: str, name: str) -> bytes | None:
        """What was kept under a name; None where nothing is, or it is damaged, or others could have put it there."""
        if self._foreign:
            return None
        path = self.folder / kind / name
        try:
            data = path.read_bytes() if path.is_file() else b""  # a pipe would be waited for
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        content = data[start:]
        if data[:start] != _MAGIC + _checksum(kind, name, content):
            return None
        with contextlib.suppress(OSError):  # it may be for reading only
            os.utime(path)
        return content

    def put(self, kind: str, name: str, content: bytes) -> None:
        """Keep something under a name, in place of what was."""
        self.problem = self.problem or self._foreign
        if self.problem:
            return
        try:
            folder = self._made(kind)
            replace_file(folder / name, _MAGIC + _checksum(kind, name, content) + content, lasting=False)
        except OSError as error:
            self.problem = f"{error.strerror or error}"
        self._grown = True

    def find(self, kind: str, name: str, type_: type[T]) -> T | None:
        """What was kept under a name, of this type; None for anything else."""
        data = self.get(kind, name)
        try:
            found: T | None = None if data is None else unpack(data, type_)
            return found
        except ValueError:
            return None  # another version's, or nobody's

    def keep(self, kind: str, name: str, value: object) -> None:
        """Keep a value of frozen types (packing.py)."""
        self.put(kind, name, pack(value).encode())

    def trim(self) -> None:
        """Drop what was used least recently until the limit holds."""
        if not self._grown:
            return
        self._grown = False
        entries = self.entries()
        total = sum(about.st_size for about in entries.values())
        if total <= self._limit:
            return
        for path, about in sorted(entries.items(), key=lambda item: item[1].st_mtime):
            if total <= self._limit * 0.9:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            total -= about.st_size

    def clear(self) -> int:
        """Remove every entry, and the folders if nothing else is in them; how many entries there were.

        Raises OSError for an entry that cannot be removed.
        """
        entries = self.entries()
        for path in entries:
            path.unlink(missing_ok=True)
        if self.is_own():
            for name in _OWN_FILES:
                (self.folder / name).unlink(missing_ok=True)
        for folder in (*(self.folder / kind for kind in _KINDS), self.folder):
            with contextlib.suppress(OSError):
                folder.rmdir()
        return len(entries)

    def entries(self) -> dict[Path, os.stat_result]:
        """All entries, in no order; what a run that was killed has left of one is one, too."""
        found = {}
        for kind in _KINDS if self.is_own() else ():
            with contextlib.suppress(OSError):
                for path in list((self.folder / kind).iterdir()):
                    with contextlib.suppress(OSError):
                        found[path] = path.stat()
        return found

    @cached_property
    def _foreign(self) -> str:
        """Why what the folder holds may be somebody else's, or nothing."""
        for folder in (self.folder, *(self.folder / kind for kind in _KINDS)):
            with contextlib.suppress(OSError):  # not there yet
                about = folder.stat()
                if about.st_uid != os.geteuid():
                    return "it belongs to another user"
                if about.st_mode & stat.S_IWOTH:
                    return "everybody may write to it"
        with contextlib.suppress(OSError):
            if not self.is_own() and any(self.folder.iterdir()):
                return "it holds other things: give the cache a folder of its own"
        return ""

    def is_own(self) -> bool:
        """Whether the folder was made by a store, and can be searched."""
        try:
            return (self.folder / _TAG).is_file()
        except OSError:
            return False

    def _made(self, kind: str) -> Path:
        folder = self.folder / kind
        if not folder.is_dir():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        for name, text in _OWN_FILES.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text, encoding="utf-8")
        return folder


def default_folder() -> Path:
    """Where caches of a user go on this platform."""
    home = Path("~").expanduser()
    if os.uname().sysname == "Darwin":
        base = home / "Library" / "Caches"
    else:
        given = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(given) if os.path.isabs(given) else home / ".cache"  # noqa: PTH117
    return base / "triton-mutlint"


def _checksum(kind: str, name: str, content: bytes) -> bytes:
    """Of the content as the entry of this name: in place of another one it is damage."""
    return blake2b(f"{kind}/{name}\0".encode() + content, digest_size=_DIGEST).digest()
