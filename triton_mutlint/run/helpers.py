"""Jit functions that other linted files call: helpers, unless something launches them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence, Set
from dataclasses import replace

from triton_mutlint.config.request import Request
from triton_mutlint.run.plan import Specs, given_files
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
    found = [_helpers(file, called, launched, specs) for file in files]
    names = frozenset(_name(one) for helpers in found for one in helpers)
    if not names:
        return tuple(files)
    linted = {file.source.path for file in files}
    launched = launched_in([path for path in given_files(request) if path not in linted], names)
    return tuple(_without(file, [one for one in helpers if _name(one) not in launched])
                 for file, helpers in zip(files, found, strict=True))


def _helpers(file: FileResult, called: Set[tuple[str, int]], launched: Set[str], specs: Specs) -> list[Kernel | str]:
    """The functions of one file that another file calls and nothing launches; by name, those that did not load."""
    if file.source.kernels:  # they were asked for by name
        return []
    places: list[tuple[Kernel | str, Location]] = [(kernel, kernel.location) for kernel in file.kernels]
    places += [(report.name, report.location) for kernel, report in file.reports if kernel is None]
    lines = Counter(at.line for _, at in places)
    return [one for one, at in places
            if at.file == file.source.display and (str(file.source.path), at.line) in called and lines[at.line] == 1
            and _name(one) not in launched and not _is_given(specs, one)]


def _name(one: Kernel | str) -> str:
    return (one if isinstance(one, str) else one.name).rpartition(".")[2]


def _is_given(specs: Specs, one: Kernel | str) -> bool:
    """Whether the spec has an entry for just this function, so that somebody wants it to be analysed."""
    if isinstance(one, str):
        return False
    entry = specs.entry(one)
    return entry is not None and pattern_parts(entry.pattern)[1] in (one.name, one.qualname)


def _without(file: FileResult, helpers: Collection[Kernel | str]) -> FileResult:
    """The file with these among its helpers, no more among its kernels."""
    moved = [replace(k, is_helper=True) for k in file.kernels if k in helpers]
    return replace(
        file, kernels=tuple(k for k in file.kernels if k not in helpers),
        helpers=tuple(sorted((*file.helpers, *moved), key=lambda k: k.location)),
        failures=tuple((name, failure) for name, failure in file.failures if name not in helpers),
        reports=tuple((k, report) for k, report in file.reports if (report.name if k is None else k) not in helpers))
