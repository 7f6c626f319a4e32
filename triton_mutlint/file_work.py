"""Linting many files: which processes do what, and putting together what they give."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from triton_mutlint.judging import LintedFile
from triton_mutlint.model import (
    Failure,
    KernelReport,
    LoadResult,
    Location,
    SourceFile,
    Stage,
    Status,
    Target,
)
from triton_mutlint.outcome import FileOutcome
from triton_mutlint.parallel import Lost, in_processes
from triton_mutlint.pipeline import failed
from triton_mutlint.request import Request
from triton_mutlint.signature.spec import Spec

Progress = Callable[[int, int, str], None]  # done, in all, what is at work
_WORTHWHILE = 6  # jit functions: what fewer of them take is less than what processes cost


@dataclass(frozen=True)
class Part:
    """Every `of`-th kernel of the file number `file`, from the one numbered `first`, but for those in `done`."""

    file: int
    first: int = 0
    of: int = 1
    done: frozenset[int] = frozenset()

    def wants(self, index: int) -> bool:
        return index % self.of == self.first and index not in self.done


@dataclass(frozen=True)
class Loaded:
    """The file was loaded: what it holds, `detached`."""

    result: LoadResult


@dataclass(frozen=True)
class At:
    """The kernel with this number is being analysed, for these targets."""

    index: int
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Reported:
    """The kernel with this number has a report."""

    index: int
    report: KernelReport


Item = Union[Loaded, At, Reported]  # noqa: UP007 - evaluated at run time
Work = Callable[[SourceFile, "Spec | None", Part], Iterator[Item]]


@dataclass
class _File:
    """What is known of one file so far; `at` is the kernel that each of its parts is at."""

    source: SourceFile
    result: LoadResult | None = None
    reports: dict[int, KernelReport] = field(default_factory=dict)
    at: dict[int, At] = field(default_factory=dict)

    def take(self, part: Part, item: Item) -> None:
        if isinstance(item, Loaded):
            self.result = item.result
        elif isinstance(item, At):
            self.at[part.first] = item
        else:
            self.reports[item.index] = item.report
            del self.at[part.first]

    def lose(self, part: Part, lost: Lost) -> Iterator[Part]:
        """Give up the kernel that a lost process was at, or the file where it was not at one; the rest goes on."""
        at = self.at.pop(part.first, None)
        hint = "run it by itself with --jobs 1: what ended the process may then be seen"
        if self.result is None or at is None:
            location = Location(self.source.display, 1)
            failure = Failure(Stage.LOAD, f"loading {self.source.display}: {lost.reason}", location, hint)
            self.result = LoadResult(failures=(("", failure),), sources=(self.source.path,))
            return
        kernel = self.result.kernels[at.index]
        failure = Failure(Stage.LOWER, f"{kernel.name}: {lost.reason}", kernel.location, hint)
        self.reports[at.index] = failed(kernel, failure, at.targets)
        yield replace(part, done=part.done | self.reports.keys())

    def outcome(self) -> FileOutcome:
        assert self.result is not None, "every file is loaded, or has failed to"
        reports = [(i, self.reports[i]) for i in range(len(self.result.kernels)) if i in self.reports]
        return FileOutcome(self.result, (*reports, *((None, r) for r in unloaded_kernels(self.source, self.result))))


def lint_files(sources: Sequence[SourceFile], specs: Sequence[Spec | None], work: Work, request: Request,
               progress: Progress) -> tuple[LintedFile, ...]:
    """A linted file per source, in their order; how many processes take part makes no difference to it."""
    files = [_File(source) for source in sources]
    finished: set[int] = set()

    def take(part: Part, item: Item) -> None:
        files[part.file].take(part, item)
        if isinstance(item, At):
            result = files[part.file].result
            assert result is not None, "a file is loaded before it is analysed"
            progress(len(finished), len(files), f"{sources[part.file].display}: {result.kernels[item.index].name}")

    def does(part: Part) -> Iterator[Item]:
        yield from work(sources[part.file], specs[part.file], part)

    jobs = request.jobs if sum(s.text.count("jit") for s in sources) >= _WORTHWHILE else 1
    if jobs < 2 or not hasattr(os, "fork"):
        for number in range(len(sources)):
            for item in does(Part(number)):
                take(Part(number), item)
            finished.add(number)
    else:
        in_processes(_parts(sources, jobs), jobs, does, request.timeout * 1.25 + 30, take,
                     lambda part, lost: files[part.file].lose(part, lost))
    return tuple(file.outcome().linted(source, spec) for file, source, spec in zip(files, sources, specs, strict=True))


def _parts(sources: Sequence[SourceFile], jobs: int) -> list[Part]:
    """Work for several processes, the largest first; a file that would keep one of them at the end is shared."""
    total = sum(len(source.text) for source in sources)
    parts: list[tuple[float, Part]] = []
    for number, source in enumerate(sources):
        of = min(jobs, -(-len(source.text) * jobs * 2 // total))
        parts.extend((len(source.text) / of, Part(number, first, of)) for first in range(of))
    return [part for _, part in sorted(parts, key=lambda p: -p[0])]


def unloaded_kernels(source: SourceFile, result: LoadResult) -> Iterator[KernelReport]:
    """A report on each kernel of a file that could not be loaded."""
    for name, failure in result.failures:
        if name:
            yield KernelReport(name, _definition(source, name, failure), Status.FAILED, failure=failure)


def _definition(source: SourceFile, name: str, failure: Failure) -> Location:
    """The `def` line of a kernel that did not load: the one around or nearest before the failing line."""
    line = failure.location.line if failure.location else 1
    found = [node for node in ast.walk(ast.parse(source.text))
             if isinstance(node, ast.FunctionDef) and node.name == name.rpartition(".")[2]]
    around = [n for n in found if n.lineno <= line <= (n.end_lineno or n.lineno)] or found
    if not around:
        return Location(source.display, line)
    node = max(around, key=lambda n: n.lineno)
    return Location(source.display, node.lineno, node.col_offset + 1)
