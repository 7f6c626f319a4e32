"""Linting the files that hold kernels: load, plan and analyse each, then judge them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from triton_mutlint.cache.files import FileCache
from triton_mutlint.cache.store import Store
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.contracts.allowed import check_allowed
from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.lowering.target import resolve_targets
from triton_mutlint.lowering.triton_api import column_base, locates_calls, newer_than_tested, triton_version
from triton_mutlint.process.collector import collector_paused, out_of_collections
from triton_mutlint.process.harmless import harmless
from triton_mutlint.process.inputs import current, spoils
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.rules import NAMES
from triton_mutlint.run.helpers import settled
from triton_mutlint.run.judge import findings_of
from triton_mutlint.run.kernel import Observe, Tools, analyze_kernel, failed, ignore
from triton_mutlint.run.launch_plans import LaunchPlans
from triton_mutlint.run.op_kernels import OpKernels
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.run.plan import Specs, load_file, plan_kernel, shown, unexpected
from triton_mutlint.run.workers import At, Part, Read, Reported, Step, lint_files, unloaded_kernels
from triton_mutlint.signature.repairing.repair import repair
from triton_mutlint.source.slicing.tracing import traced
from triton_mutlint.source.text import has_ops
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.types import (
    Environment,
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    OpReport,
    Report,
    SourceFile,
    Stage,
    StageError,
    Target,
    UsageError,
    parse_target,
)

if TYPE_CHECKING:  # few files register ops
    from triton_mutlint.host.op.run import OpTask
    from triton_mutlint.run.ops import Step as OpStep


def lint(request: Request, sources: Sequence[SourceFile], failures: Sequence[tuple[str, Failure]],
         progress: Progress) -> Report:
    """The report on `sources`; `failures` are the arguments that could not be read.

    Raises UsageError for a spec or a target that cannot be used.
    """
    run = Run(request, progress)
    with collector_paused():
        return run.report(run.outcomes(sources), tuple(failures))


class Run:
    """The state of one run: everything that kernels share; `observe` is told of every variant that it analyses."""

    def __init__(self, request: Request, progress: Progress, observe: Observe = ignore) -> None:
        self._request, self._progress, self._observe = request, progress, observe
        self.specs = Specs(request)
        self._lowerer = Lowerer()
        self._sources: Sequence[SourceFile] = ()
        self._default_targets: tuple[Target, ...] | None = None
        self._used_targets: dict[Target, None] = {}

    def files(self, sources: Sequence[SourceFile]) -> tuple[FileResult, ...]:
        """The files with their kernels, ready for more, and a report on each.

        Raises UsageError for a spec that cannot be used.
        """
        self._check_specs(sources)
        loaded: list[FileResult] = []
        for source in sources:
            self._progress(0, 0, f"loading {source.display}")
            loaded.append(self._load(source))
        total = sum(len(file.kernels) for file in loaded)
        files: list[FileResult] = []
        done = 0
        with out_of_collections():
            for file in loaded:
                files.append(self._lint(file, done, total))
                done += len(file.kernels)
        return settled(files, self._request, self.specs)

    def outcomes(self, sources: Sequence[SourceFile]) -> tuple[FileResult, ...]:
        """The files as rules look at them; processes apart load and analyse them.

        Raises UsageError for a spec or a target that cannot be used.
        """
        self._check_specs(sources)
        cache = self._cache(sources)
        files = settled(lint_files(sources, self.work, self._request, self._progress, cache), self._request, self.specs)
        if cache is not None:
            cache.trim()
        return files

    def _cache(self, sources: Sequence[SourceFile]) -> FileCache | None:
        """Where verdicts are kept; nowhere if another text stands for a file that others may import."""
        request = self._request
        overlaid = bool(request.texts) or (request.stdin_text is not None and len(sources) > 1)
        if request.cache_dir is None or request.true_import or overlaid or current() is None:
            return None
        return FileCache(Store(request.cache_dir), request, sources, self.specs.digest_of)

    def _check_specs(self, sources: Sequence[SourceFile]) -> None:
        """A wrong spec ends the run before any work, and so does a target that cannot be used."""
        for source in sources:
            self.specs.of(source)
        for used in self.specs.read.values():
            check_allowed(used, NAMES)
            for entry in used.kernels:
                for target in () if self._request.targets else entry.targets:
                    parse_target(target.name, "spec")
        if self._request.targets:
            self._targets(None)
        self._sources = sources

    def work(self, source: SourceFile, part: Part) -> Iterator[Step]:
        """Analyse what `part` asks of a file, and tell of each step."""
        before = spoils()
        file = self._load(source)
        yield file.detached()
        with out_of_collections():
            for index, kernel in enumerate(file.kernels):
                if part.wants(index):
                    entry = self.specs.entry(kernel)
                    yield At(index, self._targets(entry))
                    yield Reported(index, self.analyze(file, kernel, entry))
        files, looks, is_all = file.reads() if file.reads else ((str(source.path),), (), True)
        yield Read((files, looks), is_all, spoils() > before)

    def report(self, files: Sequence[FileResult], failures: tuple[tuple[str, Failure], ...]) -> Report:
        """The report on what `files` gave, with what the rules say of it."""
        reports = sorted((r for f in files for _, r in f.reports), key=lambda r: (r.location, r.name))
        ops, notes = self._ops(files, reports)
        holding = [f for f in files if f.reports or f.helpers or f.failures]
        targets = dict.fromkeys(t for f in files for _, r in f.reports for t in r.targets)
        newer = newer_than_tested() if reports else ""
        environment = Environment(triton_version() if reports else None, tuple({**targets, **self._used_targets}))
        return Report(
            environment, tuple(reports),
            findings_of(files, failures, self._request, self.specs, ops), files=len(holding),
            helpers=sum(h.is_helper for f in files for h in f.helpers),
            notes=(*filter(None, [newer]), *self._helpers(files), *(n for f in files for n in f.notes), *notes),
            ops=ops,
        )

    def _ops(self, files: Sequence[FileResult],
             reports: Sequence[KernelReport]) -> tuple[tuple[OpReport, ...], tuple[str, ...]]:
        """The torch ops that the files register, each followed to the kernels that it launches, and notes.

        Of a file of which some kernels are named, nobody asked for the ops.
        """
        request, registrars = self._request, self._request.config.registrars
        holding = [f.source for f in files if not f.source.kernels and has_ops(f.source.text, registrars)]
        if not holding:
            return (), ()
        from triton_mutlint.run.ops import follow

        self._progress(0, 0, "following torch ops")
        found = follow(holding, partial(self._followed, files, reports, holding), request.timeout)
        self._used_targets.update(dict.fromkeys(found.targets))
        return found.ordered(), found.notes()

    def _followed(self, files: Sequence[FileResult], reports: Sequence[KernelReport], holding: Sequence[SourceFile],
                  task: OpTask) -> Iterator[OpStep]:
        """Follow the ops of the files in `holding`, and tell of each step."""
        from triton_mutlint.host.op.run import OpsOf
        from triton_mutlint.run.ops import Used

        request = self._request
        plans = LaunchPlans(self._load, self.specs, request.max_variants)
        kernels = OpKernels(reports, self._named, plans.beyond)
        known = {f.source.path: f.source for f in files}
        ops = OpsOf(holding, request.cwd, known, request.config.registrars, kernels, request.timeout)
        yield from ops.steps(task)
        yield Used(tuple(self._used_targets))

    def _named(self, source: SourceFile) -> list[KernelReport]:
        """Verdicts on the kernels that `source` names: ones that an op launches in a file that was not linted."""
        file = self._lint(self._load(source), 0, 0)
        self._used_targets.update(dict.fromkeys(t for _, report in file.reports for t in report.targets))
        return [report for _, report in file.reports]

    def _helpers(self, files: Sequence[FileResult]) -> tuple[str, ...]:
        """A line per helper, where they are asked for."""
        if not self._request.helpers:
            return ()
        found = sorted((h.location, h.qualname) for f in files for h in f.helpers if h.is_helper)
        return tuple(f"helper, analysed where it is called: {at.file}:{at.line} {name}" for at, name in found)

    def _load(self, source: SourceFile) -> FileResult:
        return load_file(source, self.specs.of(source), self._request)

    @cached_property
    def _tools(self) -> Tools:
        """Made for the first kernel: it asks the installed Triton how it prints locations."""
        sources = {str(s.path): s for s in self._sources}
        places = SourcePlaces(self._request.cwd, sources, column_base(), locates_calls())
        return Tools(self._lowerer, places, repair, self._request.opaque_asm, self._observe)

    def _lint(self, file: FileResult, done: int, total: int) -> FileResult:
        reports: list[tuple[Kernel | None, KernelReport]] = []
        for i, kernel in enumerate(file.kernels):
            self._progress(done + i, total, f"{file.source.display}: {kernel.name}")
            reports.append((kernel, self.analyze(file, kernel, self.specs.entry(kernel))))
        return replace(file, reports=(*reports, *((None, report) for report in unloaded_kernels(file))))

    def analyze(self, file: FileResult, kernel: Kernel, entry: KernelSpec | None) -> KernelReport:
        """The verdict on one kernel of a file of this run, with the arguments that `entry` gives."""
        targets = self._targets(entry)
        stage = Stage.SIGNATURE
        try:
            with watched(self._request.timeout), harmless():
                with traced():  # heuristics and configs are functions of the kernel's file
                    plan = plan_kernel(kernel, entry, self.specs.of(file.source), file, self._request.max_variants)
                stage = Stage.ANALYZE
                return analyze_kernel(kernel, plan, targets, self._tools)
        except TooLongError as error:
            return failed(kernel, _too_long(error, kernel), targets)
        except StageError as error:
            return failed(kernel, shown(error.failure, self._request.cwd), targets)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # the kernel's own heuristics and globals run in there
            return failed(kernel, unexpected(stage, error, kernel.location), targets)

    def _targets(self, entry: KernelSpec | None) -> tuple[Target, ...]:
        """Named on the command line, else by the kernel's spec entry, else active or default."""
        if entry is not None and entry.targets and not self._request.targets:
            targets = tuple(parse_target(t.name, "spec") for t in entry.targets)
        else:
            if self._default_targets is None:
                self._default_targets = resolve_targets(self._request.targets)
            targets = self._default_targets
        return targets


def _too_long(error: TooLongError, kernel: Kernel) -> Failure:
    hint = ("`tl.static_range` and recursion by constexpr repeat what they hold: give smaller constexprs in the "
            "spec, fewer variants (--max-variants) or more time (--timeout)")
    return Failure(Stage.LOWER, f"{kernel.name} is {error}", kernel.location, hint, lacks="arguments")
