"""A spec as frozen data: what it says of each kernel, and where it says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from triton_mutlint.spec.nodes import KeyPath, Node
from triton_mutlint.types import EMPTY, ArgType, Location

_LINE = re.compile(r"(.*[^:]):(\d+)")
_GLOB = re.compile(r"[*?\[]")
_NO_LOCATION = Location("", 1)

SpecValue = Node | ArgType  # as written in a file, or already an argument type (the Python API)


def pattern_parts(pattern: str) -> tuple[str, str, int | None]:
    """The parts of `path.py::name:line`: the file ("" for any), the name, and the line (None for any)."""
    file, _, name = pattern.rpartition("::")
    with_line = _LINE.fullmatch(name)
    return (file, with_line[1], int(with_line[2])) if with_line else (file, name, None)


@dataclass(frozen=True)
class Declared:
    """A name that a spec declares (`mutates`, `allow`, `target`), where, and under which key."""

    name: str
    location: Location
    path: KeyPath = ()


@dataclass(frozen=True)
class ArgSpec:
    """What a spec gives for one parameter: `values` are its variants, at least one.

    `parameter` is a name in a kernel's `args` and a pattern in `defaults`.
    """

    parameter: str
    values: tuple[SpecValue, ...]
    location: Location = _NO_LOCATION
    path: KeyPath = ()


@dataclass(frozen=True)
class KernelSpec:
    """One entry of `kernels`; `pattern` is its key: `name`, a glob, `path.py::name`, `name:line`.

    `mutates` is None when the entry declares nothing, which differs from declaring no parameter.
    `compact` is the whole signature in one string, given instead of `args`.
    """

    pattern: str
    location: Location = _NO_LOCATION
    path: KeyPath = ()
    args: tuple[ArgSpec, ...] = ()
    compact: Node | None = None
    mutates: tuple[Declared, ...] | None = None
    mutates_location: Location | None = None
    allow: tuple[Declared, ...] = ()
    targets: tuple[Declared, ...] = ()
    verify: Mapping[str, Any] | None = None

    @property
    def file_pattern(self) -> str:
        """The part before `::`, empty when the entry holds for any file."""
        return pattern_parts(self.pattern)[0]

    @property
    def is_glob(self) -> bool:
        """Whether the entry may hold for kernels of several names or files."""
        return _GLOB.search(self.pattern) is not None

    def arg(self, parameter: str) -> ArgSpec | None:
        """What is given for `parameter` by name."""
        return next((arg for arg in self.args if arg.parameter == parameter), None)

    def rank(self, path: Path, name: str, qualname: str, line: int) -> tuple[int, ...] | None:
        """How specifically the entry names this kernel, or None if it does not; larger is more."""
        file_pattern, name_pattern, at = pattern_parts(self.pattern)
        if at not in (None, line) or (file_pattern and not PurePosixPath(path).match(file_pattern)):
            return None
        if not any(fnmatchcase(candidate, name_pattern) for candidate in (name, qualname or name)):
            return None
        exact = name_pattern in (name, qualname)
        literal = len(_GLOB.sub("", name_pattern))
        files = len(PurePosixPath(file_pattern).parts)
        qualified = exact and "." in name_pattern
        return (bool(files), exact, at is not None, qualified, files, literal)


@dataclass(frozen=True)
class GlobalSpec:
    """A value for a name that a kernel's file cannot give."""

    name: str
    value: Any
    location: Location


@dataclass(frozen=True)
class Spec:
    """A whole spec file; entries and defaults in file order."""

    file: str
    kernels: tuple[KernelSpec, ...] = ()
    default_types: tuple[ArgSpec, ...] = ()
    default_constexprs: tuple[ArgSpec, ...] = ()
    global_specs: tuple[GlobalSpec, ...] = ()
    ops: Mapping[str, Any] = EMPTY  # what `verify --ops` calls each op with, by its name

    @property
    def globals(self) -> Mapping[str, Any]:
        """The values of `globals` by dotted name, as plain Python."""
        return {spec.name: spec.value for spec in self.global_specs}

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[int, ...]]:
        """Indices into `kernels` by the literal kernel name of the entry, "" for globs."""
        found: dict[str, tuple[int, ...]] = {}
        for index, entry in enumerate(self.kernels):
            name = pattern_parts(entry.pattern)[1]
            key = "" if _GLOB.search(name) else name
            found[key] = (*found.get(key, ()), index)
        return found

    def entries_for(self, path: Path, name: str, qualname: str = "", line: int = 0) -> tuple[KernelSpec, ...]:
        """The most specific entries for a kernel, in file order; the first holds.

        `path.py::name` beats a name, a name beats a glob, and a longer path or glob a shorter one.
        """
        keys = dict.fromkeys((name, qualname or name, ""))
        candidates = [self.kernels[i] for i in sorted(i for k in keys for i in self._by_name.get(k, ()))]
        ranked = [(rank, entry) for entry in candidates if (rank := entry.rank(path, name, qualname, line)) is not None]
        best = max((rank for rank, _ in ranked), default=())
        return tuple(entry for rank, entry in ranked if rank == best)

    def entry_for(self, path: Path, name: str, qualname: str = "", line: int = 0) -> KernelSpec | None:
        """The entry that holds for a kernel, if any."""
        return next(iter(self.entries_for(path, name, qualname, line)), None)

    def default_for(self, parameter: str, *, is_value: bool) -> ArgSpec | None:
        """The first of `defaults` whose pattern fits: `constexpr` for values, `types` for the rest."""
        defaults = self.default_constexprs if is_value else self.default_types
        return next((arg for arg in defaults if fnmatchcase(parameter, arg.parameter)), None)
