"""What a run reads of the world around it, noted so that its result can be kept and known to hold still.

Whoever reads a source, looks for one in a folder or lists a folder says so here; variables of the
environment note themselves. Nothing is noted, and nothing costs anything, outside `recording()`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

# Files that decide what is linted or what an import means without being Python.
_MARKS = frozenset({".git", "pyproject.toml", "setup.py", "setup.cfg", "triton-mutlint.yaml", "triton-mutlint.yml",
                    "triton-mutlint.toml", "pyvenv.cfg"})
_SETTLED = 100_000_000  # ns after which a change would show in a file's times: far above any clock's step
_OWN = frozenset({"TRITON_DEFAULT_FP_FUSION", "TRITON_INTERPRET", "TRITON_DISABLE_LINE_INFO"})  # set by this tool
_EVERYTHING = ""  # stands for all variables of the environment

Signature = tuple[int, ...]
Look = tuple[str, str]  # a folder that exists, and a name in it; ALL for whatever is there
ALL, LISTING = "", "/"  # all sources and folders; everything
_ANY = "/"  # begins a name that need be no source's


@dataclass(frozen=True)
class Stamp:
    """What a file or folder held: `digest` is empty where there was none, or it could not be read.

    A file whose `signature` (times, size, number) is still the same has not changed; without one, only
    its content tells.
    """

    digest: str
    signature: Signature = ()


@dataclass
class Inputs:
    """What was read, each with what it held then; `torn` if that says nothing of the next run.

    One path may have held two things within the run. `spoiled` counts what was due to time or chance.
    `data` are those of the files that linted code opened itself. `looks` are the names that were looked for,
    by `look`, each with what was found; a folder whose stamp is the same need not be looked in again.
    """

    files: dict[str, Stamp] = field(default_factory=dict)
    folders: dict[str, Stamp] = field(default_factory=dict)
    looks: dict[Look, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)  # name -> digest of its value
    data: dict[str, None] = field(default_factory=dict)
    torn: bool = False
    spoiled: int = 0
    environment: dict[Any, Any] = field(default_factory=lambda: dict(environment()), repr=False)  # at first
    _told: tuple[int, ...] = (0, 0, 0, 0, 0)

    def add(self, other: Inputs) -> None:
        """Take in what another process noted for the same run."""
        self.torn |= other.torn
        self.spoiled += other.spoiled
        for path, stamp in other.files.items():
            self.torn |= self.files.setdefault(path, stamp).digest != stamp.digest
        for path, stamp in other.folders.items():
            if self.folders.setdefault(path, stamp).digest != stamp.digest:
                self.folders[path] = _CHANGING
        for name, digest in other.variables.items():
            self.torn |= self.variables.setdefault(name, digest) != digest
        for look, found in other.looks.items():
            self.torn |= self.looks.setdefault(look, found) != found
        self.data.update(other.data)

    def news(self) -> Inputs:
        """What was added since this was asked last."""
        noted: tuple[dict[Any, Any], ...] = (
            self.files, self.folders, self.looks, self.variables, self.data)
        told, self._told = self._told, tuple(map(len, noted))
        spoiled, self.spoiled = self.spoiled, 0
        files, folders, looks, variables, data = (
            dict(islice(found.items(), start, None)) for found, start in zip(noted, told, strict=True))
        return Inputs(files, folders, looks, variables, data, self.torn, spoiled, {})


_current: Inputs | None = None
_CHANGING = Stamp("changing", ())  # of a folder that changed during the run: what was looked for there is asked again


@contextlib.contextmanager
def recording() -> Iterator[Inputs]:
    """Notes everything that is read in the block, in this process, into the inputs given."""
    global _current
    outer, _current = _current, Inputs()
    environ: Any = os.environ
    kind = type(environ)
    try:
        environ.__class__ = _noting(kind if outer is None else kind.__bases__[0])
        yield _current
    finally:
        environ.__class__ = kind
        _current = outer


def spoils() -> int:
    """How often `spoil` was called so far."""
    return 0 if _current is None else _current.spoiled


@contextlib.contextmanager
def apart() -> Iterator[Inputs | None]:
    """Gives what the block alone reads, for another process to take in; None if nothing is noted."""
    global _current
    outer = _current
    if outer is not None:
        _current = Inputs(environment=outer.environment)
    try:
        yield _current
    finally:
        _current = outer


def take_in(inputs: Inputs | None) -> None:
    """Add to what is noted here what another process has read for this run."""
    if _current is not None and inputs is not None:
        _current.add(inputs)


def current() -> Inputs | None:
    """What has been noted so far, where something is."""
    return _current


def spoil() -> None:
    """Say that a result is not to be kept: it is due to time or chance, not to what was read."""
    if _current is not None:
        _current.spoiled += 1


def read(path: str | os.PathLike[str], *, named: bool = False) -> bytes:
    """The bytes of a file, noted. Raises OSError, which is noted as well.

    A pipe or a device is refused, as it would be waited for, unless the file is one that an option has `named`.
    """
    if _current is None:
        if not named:
            refuse_irregular(path)
        return Path(path).read_bytes()
    name = os.path.abspath(path)  # noqa: PTH100 - links stay: they are what the run saw
    signature: Signature = ()
    digest = ""
    try:
        if not named:
            refuse_irregular(name)
        signature = _signature(name)
        with open(name, "rb") as file:  # noqa: PTH123 - a hot path
            data = file.read()
        digest = digest_of(data)
        return data
    finally:
        _note(_current.files, name, Stamp(digest, signature if digest else ()))


def refuse_irregular(path: str | os.PathLike[str]) -> None:
    """Raises OSError for what is no regular file, or is not there."""
    mode = os.stat(path).st_mode  # noqa: PTH116 - a hot path
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
        kind = next((kind for is_kind, kind in kinds if is_kind(mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file", os.fspath(path))


def note_file(path: str | os.PathLike[str]) -> None:
    """Note what a file holds that something else reads, or that is looked for in vain."""
    if _current is not None and os.path.abspath(path) not in _current.files:  # noqa: PTH100
        with contextlib.suppress(OSError):
            read(path)


def note_data(path: str | os.PathLike[str]) -> None:
    """Note a file that linted code opens itself."""
    note_path(os.fspath(path))
    if _current is not None and os.path.isfile(path):  # noqa: PTH113 - a pipe or device would be waited for
        note_file(path)
        _current.data[os.path.abspath(path)] = None  # noqa: PTH100


def note_folder(path: str | os.PathLike[str]) -> Look | None:
    """Note all sources and folders that stand in a folder."""
    return note_name(path, ALL)


def note_name(folder: str | os.PathLike[str], name: str) -> Look | None:
    """Note what a folder has of this name: a source, a package, a folder or a file; gives what was noted.

    Where there is no such folder, it is its absence that is noted.
    """
    if _current is None:
        return None
    where = os.path.abspath(folder)  # noqa: PTH100
    while where not in _current.folders:
        stamp = folder_stamp(where)
        if stamp.digest or where == os.path.dirname(where):  # noqa: PTH120
            _current.folders[where] = stamp
            break
        where, missing = os.path.split(where)
        name = _ANY + missing if name.startswith(_ANY) else missing
    look = (where, name)
    if look not in _current.looks:
        _current.looks[look] = found_at(look)
    return look


def note_path(path: str) -> None:
    """Note whether there is a file or folder of this name, which need be no source."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    if name:
        note_name(folder, _ANY + name)


def note_listing(path: str) -> None:
    """Note everything that a folder holds."""
    note_name(path, LISTING)


def is_loose(look: Look) -> bool:
    """Whether linted code looked there itself, for anything."""
    return look[1].startswith(_ANY)


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
    if look[1].startswith(_ANY):
        path = os.path.join(look[0], look[1].removeprefix(_ANY))  # noqa: PTH118
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
        signature = _signature(path)
        with open(path, "rb") as file:  # noqa: PTH123
            return Stamp(digest_of(file.read()), signature)
    except OSError:
        return Stamp("")


def folder_stamp(path: str) -> Stamp:
    try:
        signature = _signature(path)
        with os.scandir(path) as entries:
            shown = sorted(filter(None, map(_shown, entries)))
        return Stamp(digest_of("\0".join(shown).encode("utf-8", "surrogateescape")), signature)
    except OSError:
        return Stamp("")


def digest_of(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _note(into: dict[str, Stamp], name: str, stamp: Stamp) -> None:
    assert _current is not None, "only called while recording"
    if into.setdefault(name, stamp).digest != stamp.digest:
        _current.torn = True


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


def _signature(path: str) -> Signature:
    """Times, size and number, where a later change of the content would show in them."""
    signature = _raw_signature(path)
    if not 0 <= max(signature[:2]) < time.time_ns() - _SETTLED:
        return ()
    return signature


# ------------------------------------------------------------------ the environment


def environment() -> dict[Any, Any]:
    """What `os.environ` holds, undecoded and unnoted."""
    data: dict[Any, Any] = vars(os.environ)["_data"]
    return data


def variable_digest(name: str, given: dict[Any, Any] | None = None) -> str:
    """What a variable of the environment holds, now or in what is `given`; `` stands for all of them."""
    data = environment() if given is None else given
    if name == _EVERYTHING:
        return digest_of(repr(sorted(data.items())).encode())
    value = data.get(vars(os.environ)["encodekey"](name))
    return "" if value is None else digest_of(b"=" + (value if isinstance(value, bytes) else value.encode()))


def _noting(kind: Any) -> type:
    """`os.environ`'s class, noting which variables are asked for."""

    def __getitem__(self: Any, key: str) -> str:  # noqa: N807
        if isinstance(key, str):
            _variable(key)
        value: str = kind.__getitem__(self, key)
        return value

    def __iter__(self: Any) -> Iterator[str]:  # noqa: N807
        _variable(_EVERYTHING)
        names: Iterator[str] = kind.__iter__(self)
        return names

    return type("_NotingEnviron", (kind,), {"__getitem__": __getitem__, "__iter__": __iter__})


def _variable(name: str) -> None:
    if _current is not None and name not in _current.variables and name not in _OWN:
        _current.variables[name] = variable_digest(name, _current.environment)
