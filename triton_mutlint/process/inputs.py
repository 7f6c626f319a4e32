"""What a run reads of the world around it, noted so that its result can be kept and known to hold still.

Whoever reads a source, looks for one in a folder or lists a folder says so here; variables of the
environment note themselves. Nothing is noted, and nothing costs anything, outside `recording()`.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from triton_mutlint.process.stamps import (
    ALL,
    Look,
    Stamp,
    content_of,
    digest_of,
    found_at,
    stamped,
    still,
)

_OWN = frozenset({"TRITON_DEFAULT_FP_FUSION", "TRITON_INTERPRET", "TRITON_DISABLE_LINE_INFO"})  # set by this tool
_SHORT = frozenset({errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EIO})
_EVERYTHING = ""  # stands for all variables of the environment


@dataclass
class Noted:
    """What an answer comes from, each with what it held then: files, what was found where one looked, and variables of
    the environment by digests of their values."""

    files: dict[str, Stamp] = field(default_factory=dict)
    looks: dict[Look, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def now(self, ask: Callable[[str, Stamp], Stamp | None] = still,
            look_at: Callable[[Look], str] = found_at) -> Noted | None:
        """The same with today's stamps, if all of it holds still; else None.

        `ask` and `look_at` may remember their answers.
        """
        if any(variable_digest(name) != digest for name, digest in self.variables.items()):
            return None
        if any(look_at(look) != found for look, found in self.looks.items()):
            return None
        files = {}
        for path, stamp in self.files.items():
            if (today := ask(path, stamp)) is None:
                return None
            files[path] = today
        return Noted(files, self.looks, self.variables)


@dataclass
class Inputs(Noted):
    """What a run has noted so far; `torn` if that says nothing of the next run.

    One path may have held two things within the run. `spoiled` counts what was due to time or chance.
    """

    torn: bool = False
    spoiled: int = 0
    environment: dict[Any, Any] = field(default_factory=lambda: dict(environment()), repr=False)  # at first

    def add(self, other: Noted) -> None:
        """Take in what another process noted for the same run."""
        for path, stamp in other.files.items():
            self.torn |= self.files.setdefault(path, stamp).digest != stamp.digest
        for look, found in other.looks.items():
            self.torn |= self.looks.setdefault(look, found) != found
        for name, digest in other.variables.items():
            self.torn |= self.variables.setdefault(name, digest) != digest
        if isinstance(other, Inputs):
            self.torn |= other.torn
            self.spoiled += other.spoiled

    def without(self, path: str = "") -> Noted:
        """What is noted, without one of the files."""
        return Noted({p: stamp for p, stamp in self.files.items() if p != path}, self.looks, self.variables)


_current: Inputs | None = None


@contextlib.contextmanager
def recording() -> Iterator[Inputs]:
    """Notes everything that is read in the block, in this process, into the inputs given."""
    environs: list[Any] = [os.environ, *filter(None, [getattr(os, "environb", None)])]
    kind = type(os.environ)
    noting = _noting(kind if _current is None else kind.__bases__[0])
    try:
        for environ in environs:
            environ.__class__ = noting
        with _into(inputs := Inputs()):
            yield inputs
    finally:
        for environ in environs:
            environ.__class__ = kind


def apart() -> contextlib.AbstractContextManager[Inputs | None]:
    """Gives what the block alone reads, for another process to take in; None if nothing is noted."""
    return _into(None if _current is None else Inputs(environment=_current.environment))


@contextlib.contextmanager
def _into(inputs: Inputs | None) -> Iterator[Inputs | None]:
    global _current
    outer, _current = _current, inputs
    try:
        yield inputs
    finally:
        _current = outer


def take_in(inputs: Noted | None) -> None:
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


def spoil_if_short(error: BaseException) -> None:
    """The same of what failed for want of something that there may be enough of next time."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SHORT):
        spoil()


def read(path: str | os.PathLike[str], *, named: bool = False) -> bytes:
    """The bytes of a file, noted. Raises OSError, which is noted as well.

    A pipe or a device is refused, as it would be waited for, unless the file is one that an option has `named`.
    """
    if _current is None:
        return content_of(path, named=named)
    name = os.path.abspath(path)  # noqa: PTH100 - links stay: they are what the run saw
    stamp = Stamp("")
    try:
        data, stamp = stamped(name, named=named)
        return data
    finally:
        _current.torn |= _current.files.setdefault(name, stamp).digest != stamp.digest


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


def note_name(folder: str | os.PathLike[str], name: str = ALL) -> None:
    """Note what a folder has of this name: a source, a package, a folder, a link or a file.

    Without a name, it is all sources and folders that stand there; with LISTING, everything.
    """
    if _current is None:
        return
    look = (os.path.abspath(folder), name)  # noqa: PTH100
    if look not in _current.looks:
        _current.looks[look] = found_at(look)


def note_path(path: str) -> None:
    """Note whether there is a file or folder of this name, and where it leads."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    if name:
        note_name(folder, name)


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

    def __getitem__(self: Any, key: str | bytes) -> str | bytes:  # noqa: N807
        if isinstance(key, (str, bytes)):
            _variable(os.fsdecode(key))
        value: str | bytes = kind.__getitem__(self, key)
        return value

    def __iter__(self: Any) -> Iterator[str | bytes]:  # noqa: N807
        _variable(_EVERYTHING)
        names: Iterator[str | bytes] = kind.__iter__(self)
        return names

    return type("_NotingEnviron", (kind,), {"__getitem__": __getitem__, "__iter__": __iter__})


def _variable(name: str) -> None:
    if _current is not None and name not in _current.variables and name not in _OWN:
        _current.variables[name] = variable_digest(name, _current.environment)
