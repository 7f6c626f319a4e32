"""One run: discover, load, plan, analyse, judge; returns data and prints nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from triton_mutlint.contracts.declarations import declaration_of
from triton_mutlint.contracts.stale_entries import stale_entries
from triton_mutlint.lowering import Lowerer, parse_target, resolve_targets
from triton_mutlint.lowering.triton_api import column_base, locates_calls, triton_version
from triton_mutlint.model import (
    ArgType,
    Environment,
    Failure,
    Finding,
    KernelReport,
    LoadedKernel,
    LoadResult,
    Location,
    Report,
    SourceFile,
    Stage,
    StageError,
    Status,
    Target,
    UsageError,
)
from triton_mutlint.pipeline import Tools, analyze_kernel, failed
from triton_mutlint.places import SourcePlaces
from triton_mutlint.request import Request
from triton_mutlint.rules.run import judge
from triton_mutlint.rules.subject import KernelSubject, RunSubject
from triton_mutlint.signature.infer import infer
from triton_mutlint.signature.inferred import Inferred
from triton_mutlint.signature.plan import build_plan
from triton_mutlint.signature.repair import repair
from triton_mutlint.signature.spec import KernelSpec, Spec, find_spec, load_spec
from triton_mutlint.source.discover import discover, source_from_stdin
from triton_mutlint.source.load import load

Progress = Callable[[int, int, str], None]  # kernels done, kernels in all, what is at work
Failures = tuple[tuple[str, Failure], ...]


@dataclass(frozen=True)
class LintedFile:
    """One file with the spec that holds for it, what loading gave, and a report per kernel."""

    source: SourceFile
    spec: Spec | None
    result: LoadResult
    reports: tuple[tuple[LoadedKernel | None, KernelReport], ...] = ()

    def entry(self, kernel: LoadedKernel) -> KernelSpec | None:
        """The spec's entry for a kernel of this file."""
        if self.spec is None:
            return None
        return self.spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line)


@dataclass
class _Specs:
    """Finds the spec of each file, reading every spec once."""

    request: Request
    read: dict[Path, Spec] = field(default_factory=dict)

    def of(self, source: SourceFile) -> Spec | None:
        """Raises SpecError for a spec that cannot be used."""
        if not self.request.use_spec:
            return None
        path = self.request.spec or find_spec(source.path)
        if path is None:
            return None
        if path not in self.read:
            inside = path.is_absolute() and path.is_relative_to(self.request.cwd)
            self.read[path] = load_spec(path, str(path.relative_to(self.request.cwd)) if inside else str(path))
        return self.read[path]


def run(request: Request, progress: Progress | None = None) -> Report:
    """The report of one run.

    Raises UsageError for a spec, a target or an option that cannot be used; whatever goes wrong
    with a file or a kernel is in the report.
    """
    sources, failures = _discover(request)
    if not sources:
        return Report(Environment(None), findings=_judge((), failures, request))
    return _Run(request, progress or _silent).report(sources, failures)


def _silent(done: int, total: int, label: str) -> None:
    """No progress wanted."""


class _Run:
    """The state of one run: everything that kernels share."""

    def __init__(self, request: Request, progress: Progress) -> None:
        self._request, self._progress = request, progress
        self._specs = _Specs(request)
        self._lowerer = Lowerer()
        self._default_targets: tuple[Target, ...] | None = None
        self._used_targets: dict[Target, None] = {}

    def report(self, sources: Sequence[SourceFile], failures: Failures) -> Report:
        specs = [self._specs.of(source) for source in sources]  # a wrong spec ends the run before any work
        loaded = [self._load(s, spec) for s, spec in zip(sources, specs, strict=True)]
        total = sum(len(file.result.kernels) for file in loaded)
        tools = self._tools(sources)
        files, done = [], 0
        for file in loaded:
            files.append(self._lint(file, tools, done, total))
            done += len(file.result.kernels)
        reports = sorted((r for f in files for _, r in f.reports), key=lambda r: (r.location, r.name))
        holding = [f for f in files if f.reports or f.result.helpers or f.result.failures]
        return Report(
            Environment(triton_version(), tuple(self._used_targets)), tuple(reports),
            _judge(files, failures, self._request), files=len(holding),
            helpers=sum(len(f.result.helpers) for f in files),
        )

    def _load(self, source: SourceFile, spec: Spec | None) -> LintedFile:
        self._progress(0, 0, f"loading {source.display}")
        try:
            result = load(source, globals_=spec.globals if spec else {}, true_import=self._request.true_import)
        except Exception as error:  # the file's own Python runs in there; one file must not end the run
            result = LoadResult(failures=(("", _defect(Stage.LOAD, error, Location(source.display, 1))),),
                                sources=(source.path,))
        return LintedFile(source, spec, result)

    def _tools(self, sources: Sequence[SourceFile]) -> Tools:
        displays = {str(s.path): s.display for s in sources}
        texts = {str(s.path): s.text for s in sources}
        places = SourcePlaces(self._request.cwd, displays, texts, column_base(), locates_calls())
        return Tools(self._lowerer, places, repair, self._request.opaque_asm)

    def _lint(self, file: LintedFile, tools: Tools, done: int, total: int) -> LintedFile:
        reports: list[tuple[LoadedKernel | None, KernelReport]] = []
        for i, kernel in enumerate(file.result.kernels):
            self._progress(done + i, total, f"{file.source.display}: {kernel.name}")
            reports.append((kernel, self._analyze(file, kernel, tools)))
        for name, failure in file.result.failures:
            if name:
                place = failure.location or Location(file.source.display, 1)
                reports.append((None, KernelReport(name, place, Status.FAILED, failure=failure)))
        return LintedFile(file.source, file.spec, file.result, tuple(reports))

    def _analyze(self, file: LintedFile, kernel: LoadedKernel, tools: Tools) -> KernelReport:
        entry = file.entry(kernel)
        targets = self._targets(entry)
        visible = {h.name: h for h in (*file.result.helpers, *file.result.kernels)}

        def guess(asked: LoadedKernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
            return infer(asked, known, helpers=visible) if len(known) < len(asked.parameters) else {}

        stage = Stage.SIGNATURE
        try:
            plan = build_plan(kernel, entry, file.spec, inferred=guess, max_variants=self._request.max_variants)
            stage = Stage.ANALYZE
            return analyze_kernel(kernel, plan, targets, tools)
        except StageError as error:
            return failed(kernel, error.failure, targets)
        except UsageError:
            raise
        except Exception as error:  # the kernel's own heuristics and globals run in there
            return failed(kernel, _defect(stage, error, kernel.location), targets)

    def _targets(self, entry: KernelSpec | None) -> tuple[Target, ...]:
        """Named on the command line, else by the kernel's spec entry, else active or default."""
        if entry is not None and entry.targets and not self._request.targets:
            targets = tuple(parse_target(t.name, "spec") for t in entry.targets)
        else:
            if self._default_targets is None:
                self._default_targets = resolve_targets(self._request.targets)
            targets = self._default_targets
        self._used_targets.update(dict.fromkeys(targets))
        return targets


def _defect(stage: Stage, error: Exception, location: Location) -> Failure:
    """An exception that no stage expected, as a failure of the one kernel or file it happened in."""
    if os.environ.get("TRITON_MUTLINT_DEBUG"):
        raise error
    hint = "if the source is sound, please report this; TRITON_MUTLINT_DEBUG=1 shows the traceback"
    return Failure(stage, f"{type(error).__name__}: {error}", location, hint)


def _discover(request: Request) -> tuple[tuple[SourceFile, ...], Failures]:
    """The files to lint, standard input among them where `-` was given."""
    named = tuple(a for a in request.arguments if a != "-")
    sources, failures = discover(named, request.cwd, request.config.exclude) if named else ((), ())
    if request.stdin_text is None:
        return sources, failures
    filename = Path(request.stdin_filename or "<stdin>")
    buffer = source_from_stdin(request.stdin_text.encode(), filename, request.cwd)
    return (buffer, *(s for s in sources if s.path != buffer.path)), failures


def _judge(files: Sequence[LintedFile], failures: Failures, request: Request) -> tuple[Finding, ...]:
    subjects = []
    for file in files:
        for kernel, report in file.reports:
            entry = file.entry(kernel) if kernel else None
            subjects.append(KernelSubject(
                report, kernel, declaration_of(kernel, file.source, entry) if kernel else None,
                has_spec_entry=entry is not None,
                allow=frozenset(d.name for d in entry.allow) if entry else frozenset(),
            ))
    unnamed = [(file.source.display, failure) for file in files for name, failure in file.result.failures if not name]
    return judge(RunSubject(
        tuple(subjects), tuple(file.source for file in files), (*failures, *unnamed),
        tuple(_stale(files, request)), request.cwd,
    ), request.config)


def _stale(files: Sequence[LintedFile], request: Request) -> Iterator[tuple[str, Location]]:
    """What each spec says that holds for nothing."""
    specs = {id(file.spec): file.spec for file in files if file.spec is not None}
    for spec in specs.values():
        own = [file for file in files if file.spec is spec]
        kernels = [k for file in own for k in (*file.result.kernels, *file.result.helpers)]
        failed = [name for file in own for name, _ in file.result.failures if name]
        root = request.cwd if request.spec else (request.cwd / spec.file).parent
        yield from stale_entries(spec, [file.source for file in own], kernels, failed, root)
