"""Linting many files: which processes do what, and putting together what they tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Union

from triton_mutlint.cache.files import FileCache
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.lowering.triton_api import preload
from triton_mutlint.process.confined import confine, limit
from triton_mutlint.process.forked import Lost, Processes
from triton_mutlint.process.inputs import Inputs
from triton_mutlint.run.kernel import failed
from triton_mutlint.types import (
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    Location,
    SourceFile,
    Stage,
    Status,
    Target,
)

_DEFINES = re.compile(r"^\s*@.*jit\b|\bjit\(", re.MULTILINE)  # a kernel, where others mention the word
_WORTHWHILE = 6  # jit functions: fewer of them take less than what a second process costs
_GRACE = 1.0  # seconds that a kernel may take beyond its limit: it is ended from within where that can be done
_LOADING = 35.0  # seconds until a file is loaded; what it computes is ended from within after 20
_FOREIGN = re.compile(r"LLVM ERROR: (\S+) created with unregistered dialect")
_OTHER_GPU = "it is written for another GPU: name that by --target, or by `target` in the spec"


@dataclass(frozen=True)
class Part:
    """Every `of`-th kernel of the file number `file`, from the one numbered `first`, but for those in `done`.

    Those in `delicate` have ended a process: nothing is tried with them that need not be.
    """

    file: int
    first: int = 0
    of: int = 1
    done: frozenset[int] = frozenset()
    delicate: frozenset[int] = frozenset()

    def wants(self, index: int) -> bool:
        return index % self.of == self.first and index not in self.done


@dataclass(frozen=True)
class KernelStep:
    """The kernel with this number is being analysed, for these targets, or has a report.

    `answer` is what else is to be known of it, packed.
    """

    index: int
    targets: tuple[Target, ...] = ()
    report: KernelReport | None = None
    answer: str = ""


Step = Union[FileResult, KernelStep]  # noqa: UP007 - evaluated at run time; first the file
Work = Callable[[SourceFile, Part], Iterator[Step]]


@dataclass
class _File:
    """What is known of one file so far."""

    source: SourceFile
    result: FileResult | None = None
    is_done: bool = False  # `result` is all there is to know
    parts: int = 0  # that are not done
    reports: dict[int, KernelReport] = field(default_factory=dict)
    noted: Inputs = field(default_factory=lambda: Inputs(environment={}))  # what was read for it

    def load(self, result: FileResult) -> None:
        """Raises ValueError for what is not about this file: a process may say anything."""
        if any(kernel.location.file != self.source.display for kernel in result.functions):
            raise ValueError("it is about another file")
        self.result = result if result.source is self.source else result.of(self.source)  # from another process

    def take(self, step: KernelStep) -> Kernel:
        """The kernel that a step is about. Raises ValueError if that is none of this file."""
        if self.result is None or not 0 <= step.index < len(self.result.listed):
            raise ValueError("it is about no kernel of the file")
        kernel = self.result.listed[step.index]
        if step.report is not None:
            if (step.report.name, step.report.location) != (kernel.name, kernel.location):
                raise ValueError("it is about another kernel")
            self.reports[step.index] = step.report
        return kernel

    def end(self, noted: Inputs | None) -> None:
        """Note that one of its parts is done, and what was read for it."""
        self.parts -= 1
        if noted is not None:
            self.noted.add(noted)

    def lose(self, part: Part, lost: Lost) -> Part | None:
        """Give up the kernel that a lost process was at, or the file where it was not at one; what is left to do."""
        at = lost.last
        self.noted.spoiled += 1
        said = "".join(f"\n{line}" for line in lost.printed)
        if self.result is None or not isinstance(at, KernelStep) or at.report is not None:
            location = Location(self.source.display, 1)
            failure = Failure(Stage.LOAD, f"loading {self.source.display}: {lost.reason}{said}", location, crashed=True)
            self.result, self.is_done = FileResult.failed(self.source, failure), True
            self.parts -= 1
            return None
        if not lost.is_late and at.index not in part.delicate:
            return replace(part, done=part.done | self.reports.keys(), delicate=part.delicate | {at.index})
        kernel = self.result.listed[at.index]
        failure = Failure(Stage.LOWER, f"{kernel.name}: {lost.reason}{said}", kernel.location, crashed=True)
        if (foreign := _FOREIGN.search(said)) is not None:  # Triton ends the process over that
            failure = Failure(Stage.LOWER, f"`{foreign[1]}` is not known for this target", kernel.location, _OTHER_GPU)
        self.reports[at.index] = failed(kernel, failure, at.targets)
        return replace(part, done=part.done | self.reports.keys())

    def outcome(self) -> FileResult:
        """All there is to know; what a process kept to itself is a failure."""
        if self.result is None:
            self.lose(Part(0), Lost("its process told nothing of it"))
        assert self.result is not None, "or it is lost"
        if self.is_done:
            return self.result
        for index, kernel in enumerate(self.result.kernels):
            if index not in self.reports:
                failure = Failure(Stage.LOWER, f"{kernel.name}: its process told nothing of it", kernel.location,
                                  crashed=True)
                self.reports[index] = failed(kernel, failure)
                self.noted.spoiled += 1
        reports: list[tuple[Kernel | None, KernelReport]] = [
            (kernel, self.reports[i]) for i, kernel in enumerate(self.result.listed) if i in self.reports]
        reports += [(None, KernelReport(name, _definition(self.source, name, failure), Status.FAILED, failure=failure))
                    for name, failure in self.result.failures if name]
        return replace(self.result, reports=tuple(reports))


def lint_files(sources: Sequence[SourceFile], work: Work, request: Request, progress: Progress, jobs: int = 0,
               cache: FileCache | None = None, warm_up: Callable[[], None] = preload,
               tell: Callable[[Kernel, str], None] = lambda kernel, answer: None) -> tuple[FileResult, ...]:
    """The result of each source, in their order; how many processes take part makes no difference to it.

    What `cache` knows is not done again. Without `jobs`, all is done in this process. `tell` is told of answers.
    """
    known = [None if cache is None else cache.find(source) for source in sources]
    files = [_File(source, is_done=found is not None) for source, found in zip(sources, known, strict=True)]
    pending = {number: file for number, file in enumerate(files) if not file.is_done}
    if any(_DEFINES.search(file.source.text) for file in pending.values()):
        warm_up()
    if sum(file.source.text.count("jit") for file in pending.values()) < _WORTHWHILE:
        jobs = min(jobs, 1)
    parts = _parts(pending, jobs)

    def does(part: Part) -> Iterator[Step]:
        for step in work(files[part.file].source, part):
            yield step.detached() if jobs and isinstance(step, FileResult) else step

    def take(part: Part, step: Step) -> None:
        file = files[part.file]
        if isinstance(step, FileResult):
            file.load(step)
            return
        kernel = file.take(step)
        if step.report is None:
            progress(sum(not f.parts for f in files), len(files), f"{file.source.display}: {kernel.name}")
        elif step.answer:
            tell(kernel, step.answer)

    def lose(part: Part, lost: Lost) -> list[Part]:
        rest = files[part.file].lose(part, lost)
        return [] if rest is None else [rest]

    with Processes(parts, jobs, Step, does, partial(_seconds, request), take, lose, bounds(request),
                   done=lambda part, noted: files[part.file].end(noted)) as processes:
        _read(files, known)
        processes.finish()
    outcomes = [file.outcome() for file in files]
    if cache is not None:
        for number, file in pending.items():
            cache.keep(outcomes[number], file.noted)
    return tuple(outcomes)


def _read(files: Sequence[_File], known: Sequence[Callable[[], FileResult] | None]) -> None:
    """Read what is known already, while others work."""
    for file, result in zip(files, known, strict=True):
        file.result = None if result is None else result()


def _seconds(request: Request, step: Step | None) -> float:
    """That may pass after a step."""
    if isinstance(step, KernelStep) and step.report is None:
        return request.timeout + _GRACE
    return min(_LOADING, request.timeout + 2 * _GRACE)


def bounds(request: Request) -> Callable[[Iterable[int]], None]:
    """What a process that executes linted code is kept in."""
    return confine if request.is_confined else limit


def _parts(files: Mapping[int, _File], jobs: int) -> list[Part]:
    """Work for several processes, the largest first; a file that would keep one of them at the end is shared.

    One process takes the files in their order.
    """
    lengths = {number: len(file.source.text) for number, file in files.items()}
    total = sum(lengths.values())
    parts: list[tuple[float, Part]] = []
    for number, length in lengths.items():
        of = files[number].parts = min(jobs, -(-length * jobs * 2 // total)) if jobs > 1 else 1
        parts.extend((length / of, Part(number, first, of)) for first in range(of))
    return [part for _, part in (sorted(parts, key=lambda p: -p[0]) if jobs > 1 else parts)]


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
