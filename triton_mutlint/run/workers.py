"""Linting many files: which processes do what, and putting together what they give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Union

from triton_mutlint.cache.files import FileCache, Reads
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.lowering.triton_api import preload
from triton_mutlint.process.forked import Lost, in_processes
from triton_mutlint.process.stamps import Look
from triton_mutlint.run.kernel import failed
from triton_mutlint.types import (
    Failure,
    FileResult,
    KernelReport,
    Location,
    SourceFile,
    Stage,
    Status,
    Target,
)

_LOWERED = re.compile(r"^\s*@.*jit\b|\bjit\(", re.MULTILINE)  # what makes it likely that Triton is needed
_WORTHWHILE = 6  # jit functions: fewer of them take less than what a second process costs
_GRACE = 5.0  # seconds that a kernel may take beyond its limit: it is ended from within where that can be done
_LOADING = 35.0  # seconds until a file is loaded; what it computes is ended from within after 20


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
class At:
    """The kernel with this number is being analysed, for these targets."""

    index: int
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Reported:
    """The kernel with this number has a report."""

    index: int
    report: KernelReport


@dataclass(frozen=True)
class Read:
    """The part is done, having looked at these files and folders; `is_all` if nothing else decided.

    `spoiled` says that time ran out for some kernel.
    """

    reads: Reads
    is_all: bool
    spoiled: bool


Step = Union[FileResult, At, Reported, Read]  # noqa: UP007 - evaluated at run time; first the file, detached
Work = Callable[[SourceFile, Part], Iterator[Step]]


@dataclass
class _File:
    """What is known of one file so far; `at` is the kernel that each of its parts is at."""

    source: SourceFile
    result: FileResult | None = None
    is_done: bool = False
    reports: dict[int, KernelReport] = field(default_factory=dict)
    at: dict[int, At] = field(default_factory=dict)
    reads: tuple[dict[str, None], dict[Look, None]] = field(default_factory=lambda: ({}, {}))
    is_lasting: bool = True  # nothing but what was read decided

    def take(self, part: Part, step: Step) -> None:
        if isinstance(step, FileResult):
            self.result = step.of(self.source)
        elif isinstance(step, At):
            self.at[part.first] = step
        elif isinstance(step, Read):
            self.is_lasting &= step.is_all and not step.spoiled
            self.reads[0].update(dict.fromkeys(step.reads[0]))
            self.reads[1].update(dict.fromkeys(step.reads[1]))
        else:
            self.reports[step.index] = step.report
            del self.at[part.first]

    def lose(self, part: Part, lost: Lost) -> Iterator[Part]:
        """Give up the kernel that a lost process was at, or the file where it was not at one; the rest goes on."""
        at, self.is_lasting = self.at.pop(part.first, None), False
        said = "".join(f"\n{line}" for line in lost.printed)
        if self.result is None or at is None:
            location = Location(self.source.display, 1)
            failure = Failure(Stage.LOAD, f"loading {self.source.display}: {lost.reason}{said}", location, crashed=True)
            self.result, self.is_done = FileResult.failed(self.source, failure), True
            return
        kernel = self.result.kernels[at.index]
        failure = Failure(Stage.LOWER, f"{kernel.name}: {lost.reason}{said}", kernel.location, crashed=True)
        self.reports[at.index] = failed(kernel, failure, at.targets)
        yield replace(part, done=part.done | self.reports.keys())

    def outcome(self) -> FileResult:
        assert self.result is not None, "every file is loaded, or has failed to"
        if self.is_done:
            return self.result
        reports = [(kernel, self.reports[i]) for i, kernel in enumerate(self.result.kernels) if i in self.reports]
        return replace(self.result, reports=(*reports, *((None, r) for r in unloaded_kernels(self.result))))


class _Files:
    """What parts tell of the files of a run, told on to who waits; a file is done when its last part is."""

    def __init__(self, files: Sequence[_File], progress: Progress) -> None:
        self._files, self._progress = files, progress
        self._left: dict[int, int] = {}
        self._done = sum(file.is_done for file in files)

    def expect(self, parts: Sequence[Part]) -> None:
        self._left = dict(Counter(part.file for part in parts))

    def take(self, part: Part, step: Step) -> None:
        file = self._files[part.file]
        file.take(part, step)
        if isinstance(step, At):
            assert file.result is not None, "a file is loaded before it is analysed"
            name = file.result.kernels[step.index].name
            self._progress(self._done, len(self._files), f"{file.source.display}: {name}")
        elif isinstance(step, Read):
            self._part_done(part)

    def lose(self, part: Part, lost: Lost) -> tuple[Part, ...]:
        instead = tuple(self._files[part.file].lose(part, lost))
        if not instead:
            self._part_done(part)
        return instead

    def _part_done(self, part: Part) -> None:
        self._left[part.file] -= 1
        self._done += not self._left[part.file]


def lint_files(sources: Sequence[SourceFile], work: Work, request: Request, progress: Progress,
               cache: FileCache | None = None) -> tuple[FileResult, ...]:
    """The result of each source, in their order; how many processes take part makes no difference to it.

    What `cache` knows is not done again.
    """
    files = [_File(source) for source in sources]
    if cache is not None:
        for file in files:
            file.result = cache.find(file.source)
            file.is_done = file.result is not None
    open_ = [number for number, file in enumerate(files) if not file.is_done]

    def does(part: Part) -> Iterator[Step]:
        yield from work(sources[part.file], part)

    _do(open_, files, does, request, progress)
    if cache is not None:
        for file in (files[number] for number in open_):
            if file.is_lasting:
                cache.keep(file.outcome(), (tuple(file.reads[0]), tuple(file.reads[1])))
    return tuple(file.outcome() for file in files)


def _do(open_: Sequence[int], files: Sequence[_File], does: Callable[[Part], Iterator[Step]], request: Request,
        progress: Progress) -> None:
    """Everything that is to be done of the files with these numbers, in processes apart: linted code may end them."""
    if not open_:
        return
    if any(_LOWERED.search(files[n].source.text) for n in open_):
        preload()
    told = _Files(files, progress)
    jobs = request.jobs if sum(files[n].source.text.count("jit") for n in open_) >= _WORTHWHILE else 1
    parts = _parts({n: len(files[n].source.text) for n in open_}, jobs)
    told.expect(parts)

    def seconds(step: Step | None) -> float:
        return request.timeout + _GRACE if isinstance(step, At) else _LOADING

    in_processes(parts, jobs, does, seconds, told.take, told.lose)


def _parts(lengths: Mapping[int, int], jobs: int) -> list[Part]:
    """Work for several processes, the largest first; a file that would keep one of them at the end is shared.

    One process takes the files in their order.
    """
    if jobs == 1:
        return [Part(number) for number in lengths]
    total = sum(lengths.values())
    parts: list[tuple[float, Part]] = []
    for number, length in lengths.items():
        of = min(jobs, -(-length * jobs * 2 // total))
        parts.extend((length / of, Part(number, first, of)) for first in range(of))
    return [part for _, part in sorted(parts, key=lambda p: -p[0])]


def unloaded_kernels(file: FileResult) -> Iterator[KernelReport]:
    """A report on each kernel of a file that could not be loaded."""
    for name, failure in file.failures:
        if name:
            yield KernelReport(name, _definition(file.source, name, failure), Status.FAILED, failure=failure)


def _definition(source: SourceFile, name: str, failure: Failure) -> Location:
    """The `def` line of a kernel that did not load: the one around or nearest before the failing line."""
    line = failure.location.line if failure.location else 1
    functions = source.functions.values()
    found = [node for node in functions if node.name == name.rpartition(".")[2]]
    if not found and failure.location and failure.location.file == source.display:  # named by assignment
        found = [n for n in functions if n.lineno <= line <= (n.end_lineno or n.lineno)]
    around = [n for n in found if n.lineno <= line <= (n.end_lineno or n.lineno)] or found
    if not around:
        return Location(source.display, line)
    node = max(around, key=lambda n: n.lineno)
    return Location(source.display, node.lineno, node.col_offset + 1)
