"""The files of a run that hold kernels: each is loaded, each kernel planned and analysed, and told from helpers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from triton_mutlint.cache.files import FileCache
from triton_mutlint.cache.store import Store
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.lowering.target import resolve_targets
from triton_mutlint.lowering.triton_api import column_base, deep_calls, preload
from triton_mutlint.packing import pack, unpack
from triton_mutlint.process.inputs import current
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.rules import NAMES
from triton_mutlint.run.kernel import Observe, Tools, analyze_kernel, compared, failed
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.run.plan import Specs, device_of, given_files, load_file, plan_kernel, shown, unexpected
from triton_mutlint.run.workers import KernelStep, Part, Step, lint_files
from triton_mutlint.source.jit.launched import launched_in
from triton_mutlint.source.slicing.tracing import traced
from triton_mutlint.spec.model import KernelSpec, pattern_parts
from triton_mutlint.spec.read import check_allowed
from triton_mutlint.types import (
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    Location,
    Plan,
    SourceFile,
    Stage,
    StageError,
    Status,
    Target,
    UsageError,
    parse_target,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Question:
    """What is to be known of each kernel besides its verdict: `ask` gives an answer of the type `kind`.

    With `of_listed` no kernel is analysed, and helpers are asked about as well if the run lists them.
    """

    ask: Callable[[FileResult, Kernel, KernelReport], Any]
    kind: Any
    of_listed: bool = False


class Run:
    """What the files of one run share; `observe` is told of every variant that is analysed in this process.

    `answers` has what `files` was told of each kernel, by its place and name.
    """

    def __init__(self, request: Request, progress: Progress, observe: Observe | None = None) -> None:
        self.request, self.progress, self._observe = request, progress, observe
        self.specs = Specs(request)
        self.answers: dict[tuple[Location, str], Any] = {}
        self._loaded: dict[tuple[Path, Target], FileResult] = {}  # for other targets than the first
        self._sources: Sequence[SourceFile] = ()

    def files(self, sources: Sequence[SourceFile], jobs: int = 0,
              question: Question | None = None) -> tuple[FileResult, ...]:
        """The files with a report on each kernel, analysed in `jobs` processes apart.

        Their kernels are but records then, and what is in the cache is not analysed again. Without `jobs`, all is done
        in this process, and the kernels can be worked with. With a `question`, nothing is taken from the cache.

        Raises UsageError for a spec or a target that cannot be used.
        """
        self.check(sources)
        cache = self._cache() if jobs and question is None else None

        def tell(kernel: Kernel, answer: str) -> None:
            assert question is not None, "or there is no answer"
            self.answers[kernel.location, kernel.name] = unpack(answer, question.kind)

        files = lint_files(sources, partial(self.steps, question=question), self.request, self.progress, jobs, cache,
                           self.warm_up, tell)
        if cache is not None:
            cache.trim()
        return without_helpers(files, self.request, self.specs)

    def warm_up(self) -> None:
        """What every file needs, before there is a process for each."""
        preload()
        self.tools.lowerer.prepare(self._default_targets)
        if self.request.torch:
            from triton_mutlint.lowering.torch_pass import preload as preload_torch  # as for comparisons

            preload_torch()

    def check(self, sources: Sequence[SourceFile]) -> None:
        """A wrong spec ends the run before any work, and so does a target that cannot be used."""
        self._sources = sources
        for source in sources:
            self.specs.of(source)
        for used in self.specs.read.values():
            check_allowed(used, NAMES)
            for entry in used.kernels:
                for target in () if self.request.targets else entry.targets:
                    parse_target(target.name, "spec")
        if self.request.targets:
            self._targets(None)

    def _cache(self) -> FileCache | None:
        """Where verdicts are kept; nowhere if another text stands for a file that others may import."""
        request = self.request
        overlaid = bool(request.texts) or (request.stdin_text is not None and len(self._sources) > 1)
        if request.cache_dir is None or request.true_import or overlaid or current() is None:
            return None
        return FileCache(Store(request.cache_dir), request, self._sources, self.specs.digest_of)

    def steps(self, source: SourceFile, part: Part, question: Question | None = None) -> Iterator[Step]:
        """Do what `part` asks of a file, and tell of each step."""
        only_listed = question is not None and question.of_listed
        with watched(self.request.timeout):
            file = self.load(source)
        yield file
        for index, kernel in enumerate(file.listed if only_listed and self.request.helpers else file.kernels):
            if not part.wants(index):
                continue
            entry, report = self.specs.entry(kernel), KernelReport(kernel.name, kernel.location, Status.ANALYZED)
            at = KernelStep(index, () if only_listed else self._targets(entry))
            if not only_listed:
                yield at
                report = self.analyze(file, kernel, entry, is_delicate=index in part.delicate)
            answer = ""
            if question is not None:
                yield at  # that takes its time, too
                answer = pack(question.ask(file, kernel, report))
            yield KernelStep(index, report=report, answer=answer)

    def load(self, source: SourceFile) -> FileResult:
        return load_file(source, self.specs.of(source), self.request)

    def plan(self, file: FileResult, kernel: Kernel, entry: KernelSpec | None) -> Plan:
        """The variants of one kernel of `file`; raises StageError."""
        try:
            with traced(), deep_calls():  # heuristics and configs are functions of the kernel's file
                return plan_kernel(kernel, entry, self.specs.of(file.source), file, self.request.max_variants)
        except (StageError, UsageError):
            raise
        except (Exception, SystemExit) as error:  # as they may raise anything
            raise StageError(unexpected(Stage.SIGNATURE, error, kernel.location)) from error

    def analyze(self, file: FileResult, kernel: Kernel, entry: KernelSpec | None, *,
                is_delicate: bool = False) -> KernelReport:
        """The verdict on one kernel of `file`, with the arguments that `entry` gives.

        With one that `is_delicate`, no other guesses are tried than those of its plan.
        """
        targets, tools = self._targets(entry), replace(self.tools, may_try=not is_delicate)

        def analyzed(compare: Observe | None = None) -> KernelReport:
            plan = self.plan(file, kernel, entry)
            elsewhere = dict(self._elsewhere(file, kernel, entry, targets))
            return analyze_kernel(kernel, plan, targets, replace(tools, compare=compare), elsewhere)

        work = analyzed
        if self.request.torch:
            work = partial(compared, analyzed)
        found = self.attempt(kernel, work)
        return failed(kernel, found, targets) if isinstance(found, Failure) else found

    def _elsewhere(self, file: FileResult, kernel: Kernel, entry: KernelSpec | None,
                   targets: Iterable[Target]) -> Iterator[tuple[Target, tuple[Kernel, Plan]]]:
        """What a kernel of `file` and its plan are where the file is loaded for these targets, if it is there then."""
        spec = self.specs.of(file.source)
        is_named = bool(self.request.targets or (entry is not None and entry.targets))
        for target in [one for one in targets if is_named and str(one) != device_of(spec, self.request)]:
            key = file.source.path, target
            if key not in self._loaded:
                only = replace(self.request, targets=(str(target),))
                self._loaded[key] = load_file(file.source, spec, only)
            other = self._loaded[key]
            for found in other.kernels:
                if (found.name, found.location) == (kernel.name, kernel.location):
                    yield target, (found, self.plan(other, found, entry))
                    break

    def attempt(self, kernel: Kernel, work: Callable[[], T]) -> T | Failure:
        """What `work` gives of a kernel, or why it gives nothing; it may take its time."""
        try:
            with watched(self.request.timeout):
                return work()
        except TooLongError as error:
            hint = ("`tl.static_range` and recursion by constexpr repeat what they hold: give smaller constexprs in "
                    "the spec, fewer variants (--max-variants) or more time (--timeout)")
            return Failure(Stage.LOWER, f"{kernel.name} is {error}", kernel.location, hint, lacks="arguments")
        except StageError as error:
            return shown(error.failure, self.request.cwd)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # the kernel's own heuristics and globals run in there
            return unexpected(Stage.ANALYZE, error, kernel.location)

    @cached_property
    def tools(self) -> Tools:
        """Made for the first kernel: it asks the installed Triton how it prints locations."""
        sources = {str(s.path): s for s in self._sources}
        places = SourcePlaces(self.request.cwd, sources, column_base())
        return Tools(Lowerer(), places, self.request.opaque_asm, self._observe)

    @cached_property
    def _default_targets(self) -> tuple[Target, ...]:
        return resolve_targets(self.request.targets)

    def _targets(self, entry: KernelSpec | None) -> tuple[Target, ...]:
        """Named on the command line, else by the kernel's spec entry, else active or default."""
        if entry is not None and entry.targets and not self.request.targets:
            return tuple(parse_target(t.name, "spec") for t in entry.targets)
        return self._default_targets


def without_helpers(files: Sequence[FileResult], request: Request, specs: Specs) -> tuple[FileResult, ...]:
    """The files of one run, with what is a kernel only as long as one looks at its file alone made a helper.

    A file by itself cannot tell. What is asked here was kept with each file; only where it makes a difference, the
    files without kernels that the run was given are searched for launches.
    """
    called = {place for file in files for place in file.calls}
    launched = frozenset[str]().union(*(file.launched for file in files))
    found = [_helpers(file, called, launched, specs) for file in files]
    names = frozenset(map(_name, chain(*found)))
    if not names:
        return tuple(files)
    linted = {file.source.path for file in files}
    launched = launched_in([path for path in given_files(request) if path not in linted], names)
    return tuple(_without(file, [one for one in helpers if _name(one) not in launched])
                 for file, helpers in zip(files, found, strict=True))


def _helpers(file: FileResult, called: Set[tuple[str, int]], launched: Set[str], specs: Specs) -> list[KernelReport]:
    """The reports on functions of one file, loaded or not, that another file calls and nothing launches."""
    if file.source.kernels:  # they were asked for by name
        return []
    here = [(k, report) for k, report in file.reports if k is None or not k.is_helper]
    lines = Counter(report.location.line for _, report in here)
    return [report for k, report in here
            if report.location.file == file.source.display and lines[report.location.line] == 1
            and (str(file.source.path), report.location.line) in called
            and _name(report) not in launched and not (k is not None and _is_given(specs, k))]


def _name(report: KernelReport) -> str:
    return report.name.rpartition(".")[2]


def _is_given(specs: Specs, kernel: Kernel) -> bool:
    """Whether the spec has an entry for just this function, so that somebody wants it to be analysed."""
    entry = specs.entry(kernel)
    return entry is not None and pattern_parts(entry.pattern)[1] in (kernel.name, kernel.qualname)


def _without(file: FileResult, helpers: Collection[KernelReport]) -> FileResult:
    """The file with these among its helpers, no more among its kernels."""
    gone = [k for k, report in file.reports if report in helpers]
    moved = [replace(k, is_helper=True) for k in gone if k is not None]
    unloaded = {report.name for k, report in file.reports if k is None and report in helpers}
    return replace(
        file, kernels=tuple(k for k in file.kernels if k not in gone),
        helpers=tuple(sorted((*file.helpers, *moved), key=lambda k: k.location)),
        failures=tuple((name, failure) for name, failure in file.failures if name not in unloaded),
        reports=tuple((k, report) for k, report in file.reports if report not in helpers))
