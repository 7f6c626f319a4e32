"""What a run reads of the world around it, noted so that its result can be kept and known to hold still.

Whoever reads a source, looks for one in a folder or lists a folder says so here; variables of the
environment note themselves. Nothing is noted, and nothing costs anything, outside `recording()`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from triton_mutlint.process.stamps import (
    ALL,
    ANY,
    LISTING,
    Look,
    Signature,
    Stamp,
    digest_of,
    folder_stamp,
    found_at,
    refuse_irregular,
    signature_of,
)

_OWN = frozenset({"TRITON_DEFAULT_FP_FUSION", "TRITON_INTERPRET", "TRITON_DISABLE_LINE_INFO"})  # set by this tool
_EVERYTHING = ""  # stands for all variables of the environment


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
        signature = signature_of(name)
        with open(name, "rb") as file:  # noqa: PTH123 - a hot path
            data = file.read()
        digest = digest_of(data)
        return data
    finally:
        _note(_current.files, name, Stamp(digest, signature if digest else ()))


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
        name = ANY + missing if name.startswith(ANY) else missing
    look = (where, name)
    if look not in _current.looks:
        _current.looks[look] = found_at(look)
    return look


def note_path(path: str) -> None:
    """Note whether there is a file or folder of this name, which need be no source."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    if name:
        note_name(folder, ANY + name)


def note_listing(path: str) -> None:
    """Note everything that a folder holds."""
    note_name(path, LISTING)


def _note(into: dict[str, Stamp], name: str, stamp: Stamp) -> None:
    assert _current is not None, "only called while recording"
    if into.setdefault(name, stamp).digest != stamp.digest:
        _current.torn = True


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
