"""Jit functions that other linted files call: helpers, unless something launches them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.run.plan import Specs
from triton_mutlint.source.discover import Excluded, searched
from triton_mutlint.source.jit.launched import launched_in
from triton_mutlint.spec.model import pattern_parts
from triton_mutlint.types import FileResult, Kernel, Location


def settled(files: Sequence[FileResult], request: Request, specs: Specs) -> tuple[FileResult, ...]:
    """The files of one run, with what is a kernel only as long as one looks at its file alone made a helper.

    A file by itself cannot tell. What is asked here was kept with each file; only where it makes a difference, the
    files without kernels that the run was given are searched for launches.
    """
    called = {place for file in files for place in file.calls}
    launched = frozenset[str]().union(*(file.launched for file in files))
    found = [_Helpers(file, called, launched, specs) for file in files]
    names = frozenset[str]().union(*(helpers.names for helpers in found))
    if not names:
        return tuple(files)
    launched |= launched_in(_others(files, request), names)
    return tuple(_Helpers(file, called, launched, specs).settled() for file in files)


def _others(files: Sequence[FileResult], request: Request) -> list[Path]:
    """The files that the run was given and that hold no kernels."""
    config, linted = request.config, {file.source.path for file in files}
    excluded = Excluded(config.exclude, config.root or request.cwd, config.force_exclude)
    arguments = [argument for argument in request.arguments if argument != "-"]
    return [path for path in searched(arguments, request.cwd, excluded) if path not in linted]


class _Helpers:
    """The functions of one file that are helpers because another file calls them."""

    def __init__(self, file: FileResult, called: Set[tuple[str, int]], launched: Set[str], specs: Specs) -> None:
        self._file, self._called, self._launched = file, called, launched
        unloaded = [report for kernel, report in file.reports if kernel is None]
        self._lines = Counter([k.location.line for k in file.kernels] + [r.location.line for r in unloaded])
        self._kernels: list[Kernel] = []
        self._unloaded: list[str] = []
        if not file.source.kernels:  # else they were asked for by name
            self._kernels = [
                k for k in file.kernels if self._is_one(k.location, k.name) and not _is_given(specs, k)]
            self._unloaded = [r.name for r in unloaded if self._is_one(r.location, r.name)]

    def _is_one(self, at: Location, name: str) -> bool:
        is_called = at.file == self._file.source.display and (str(self._file.source.path), at.line) in self._called
        return is_called and _own(name) not in self._launched and self._lines[at.line] == 1

    @property
    def names(self) -> frozenset[str]:
        return frozenset(map(_own, (*(k.name for k in self._kernels), *self._unloaded)))

    def settled(self) -> FileResult:
        """The file without them among its kernels."""
        file = self._file
        helpers = (*file.helpers, *(replace(k, is_helper=True) for k in self._kernels))
        return replace(
            file, kernels=tuple(k for k in file.kernels if k not in self._kernels),
            helpers=tuple(sorted(helpers, key=lambda k: k.location)),
            failures=tuple((name, failure) for name, failure in file.failures if name not in self._unloaded),
            reports=tuple(
                (kernel, report) for kernel, report in file.reports
                if kernel not in self._kernels and not (kernel is None and report.name in self._unloaded)))


def _own(name: str) -> str:
    return name.rpartition(".")[2]


def _is_given(specs: Specs, kernel: Kernel) -> bool:
    """Whether the spec has an entry for just this function, so that somebody wants it to be analysed."""
    entry = specs.entry(kernel)
    return entry is not None and pattern_parts(entry.pattern)[1] in (kernel.name, kernel.qualname)
