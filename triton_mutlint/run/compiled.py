"""A run over kernels as Triton compiled them, held against sources where they are given.

Needs no Triton. All that has been compiled of one `def` is one kernel, each compilation a variant of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from triton_mutlint.analysis.verdict import AnalyzedVariant, judge, merged
from triton_mutlint.compiled.model import CompiledKernel
from triton_mutlint.compiled.reading import ReadKernel, choices_of, read_effects
from triton_mutlint.compiled.trace import kernels_in
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.process.inputs import spoil
from triton_mutlint.rules.autotune.rerun import reruns_of
from triton_mutlint.run.judge import report_on
from triton_mutlint.run.kernel import limits, updated_in
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.run.workers import Part, Step
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import (
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    Location,
    Origin,
    Report,
    SourceFile,
    StageError,
    Status,
    Target,
)

_MOST_TOLD_APART = 64  # variants of one kernel that are told apart by what they were compiled with
_NAMELESS = "its `def` cannot be had: parameters are called as the IR calls its arguments"


@dataclass
class _Kernel:
    """What was read of one kernel so far: each variant that differs, and how many there are of it."""

    first: ReadKernel
    variants: dict[object, AnalyzedVariant] = field(default_factory=dict)
    targets: dict[Target, None] = field(default_factory=dict)
    count: int = 0


@dataclass
class Compiled:
    """The kernels that the arguments of a run hold as IR, and what could not be read of them."""

    request: Request
    failures: list[tuple[str, Failure]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _kernels: dict[tuple[str, int, str], _Kernel] = field(default_factory=dict)
    _by_base: dict[int, SourcePlaces] = field(default_factory=dict)

    def read(self, progress: Progress) -> None:
        """What cannot be read of a file is noted, and the rest goes on."""
        paths = [(self.request.cwd / argument).expanduser() for argument in self.request.arguments]
        for done, (name, found) in enumerate(found for path in paths for found in kernels_in(path, self.request.cwd)):
            progress(done, 0, name)
            try:
                if isinstance(found, CompiledKernel):
                    self._add(found)
                elif isinstance(found, str):
                    self.notes.append(found)
                else:
                    self.failures.append((name, found))
            except StageError as error:
                self.failures.append((name, error.failure))

    def _add(self, kernel: CompiledKernel) -> None:
        read = read_effects(kernel, self._places, self.request.opaque_asm)
        known = self._kernels.setdefault((read.file or kernel.label, read.line, read.signature.name), _Kernel(read))
        known.count += 1
        if read.target is not None:
            known.targets[read.target] = None
        choices = choices_of(kernel, read)
        updated = updated_in(read.variant.effects) if self.request.declared else frozenset()
        with limits():
            inlined = parse(kernel.texts["ttir"]) if updated and "ttir" in kernel.texts else read.module
            backend = read.target.backend if read.target else ""
            reruns = reruns_of(inlined, read.signature.owners, backend, updated) if updated else {}
        apart = choices if len(known.variants) < _MOST_TOLD_APART else ()
        known.variants.setdefault(repr((read.variant.arguments, read.variant.effects, reruns, apart)),
                                  replace(read.variant, choices=(*choices, ("entry", kernel.entry)), reruns=reruns))

    def _places(self, column_base: int) -> SourcePlaces:
        if column_base not in self._by_base:
            self._by_base[column_base] = SourcePlaces(self.request.cwd, {}, column_base)
        return self._by_base[column_base]

    def reports(self) -> list[tuple[str, KernelReport]]:
        """The verdict on each kernel, with the file that it was compiled from as its IR names it."""
        return [(file, self._report(Location(self._places(1).display(file), max(line, 1)), kernel))
                for (file, line, _), kernel in self._kernels.items()]

    def _report(self, place: Location, kernel: _Kernel) -> KernelReport:
        variants, signature = [*kernel.variants.values()], kernel.first.signature
        notes = () if signature.is_named else (_NAMELESS,)
        base = KernelReport(signature.name, place, Status.ANALYZED, Origin.COMPILED, kernel.count, kernel.count,
                            targets=tuple(kernel.targets), notes=notes)
        positions = dict(signature.positions)
        for name in (name.partition(".")[0] for variant in variants for name in variant.arguments):
            positions.setdefault(name, len(positions))
        return merged(base, [v.effects for v in variants], judge(variants, frozenset(), {}, positions))


class DeclaredRun(Run):
    """A run over sources whose kernels are not analysed: `reports` has the verdicts on those that were compiled.

    Each comes with the file that its IR names. What is not among the kernels of the sources gets a result of its own.
    """

    def __init__(self, request: Request, progress: Progress, reports: Sequence[tuple[str, KernelReport]]) -> None:
        super().__init__(request, progress)
        self._reports = reports

    def files(self, sources: Sequence[SourceFile], jobs: int = 0,
              question: Question | None = None) -> tuple[FileResult, ...]:
        """The sources with the verdicts on those of their kernels that were compiled, and what else was."""
        met: set[int] = set()
        files = [self._held(file, met) for file in super().files(sources, jobs, question)]
        return (*files, *_beside(report for i, (_, report) in enumerate(self._reports) if i not in met))

    def steps(self, source: SourceFile, part: Part, question: Question | None = None) -> Iterator[Step]:
        yield self.load(source)

    def _held(self, file: FileResult, met: set[int]) -> FileResult:
        """The file with the verdicts on those of its kernels that were compiled, also of those that were not loaded."""
        reports: list[tuple[Kernel | None, KernelReport]] = []
        idle = []
        for kernel, known in file.reports:  # which tell of no analysis
            index = self._index(file.source.path, known.name, known.location.line)
            if index is not None:
                met.add(index)
                reports.append((kernel, replace(self._reports[index][1], location=known.location)))
            elif kernel is None:
                reports.append((None, known))
            else:
                idle.append(known.name)
        notes = (f"{file.source.display}: not compiled: {', '.join(idle)}",) if idle else ()
        return replace(file, reports=tuple(reports), notes=(*file.notes, *notes))

    def _index(self, path: Path, name: str, line: int) -> int | None:
        """The number of the verdict on a kernel: by its file and name, else, where that is clear, by the file's name.

        The line tells kernels of one name apart; a file may have been edited since.
        """
        named = [(i, file, report) for i, (file, report) in enumerate(self._reports) if report.name == name]
        near = ([one for one in named if Path(one[1]).resolve() == path]
                or [one for one in named if Path(one[1]).name == path.name])
        exact = [i for i, _, report in near if report.location.line == line]
        found = exact or [i for i, _, _ in near]
        return found[0] if len(found) == 1 else None


def _beside(reports: Iterable[KernelReport]) -> Iterator[FileResult]:
    """A result for each file that the reports are on: its source is not at hand."""
    by_file: dict[str, list[KernelReport]] = {}
    for report in reports:
        by_file.setdefault(report.location.file, []).append(report)
    for display, found in by_file.items():
        yield FileResult(SourceFile(Path(display), display, ""), reports=tuple((None, report) for report in found))


def report_compiled(request: Request, progress: Progress, sources: Sequence[SourceFile],
                    failures: Sequence[tuple[str, Failure]]) -> Report:
    """The report on what the arguments hold as IR, held against what `sources` declare.

    Raises UsageError for a spec or an option that cannot be used.
    """
    spoil()  # what is compiled changes whenever a kernel runs
    compiled = Compiled(request)
    compiled.read(progress)
    over = replace(request, arguments=request.declared, cache_dir=None)
    report = report_on(DeclaredRun(over, progress, compiled.reports()), sources, (*compiled.failures, *failures),
                       request.jobs)
    return replace(report, notes=(*compiled.notes, *report.notes))
