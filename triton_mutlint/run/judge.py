"""From the results of files to the report of a run: the ops, and what the rules say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.contracts.baseline import Baseline, read_baseline
from triton_mutlint.contracts.declarations import declaration_of, read_declarations
from triton_mutlint.contracts.snapshot import Snapshot, read_snapshot
from triton_mutlint.lowering.triton_api import newer_than_tested, triton_version
from triton_mutlint.process.confined import unavailable
from triton_mutlint.rules.engine import judge
from triton_mutlint.rules.rule import KernelSubject, RunSubject
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import Specs
from triton_mutlint.source.discover import display_path
from triton_mutlint.source.python_text import read_source
from triton_mutlint.source.registrars import registering
from triton_mutlint.spec.model import Declared, KernelSpec, Spec
from triton_mutlint.spec.stale import elsewhere, stale_entries, stale_globals
from triton_mutlint.types import (
    Environment,
    Failure,
    FileResult,
    Finding,
    KernelReport,
    Location,
    OpReport,
    Origin,
    Report,
    SourceFile,
    StageError,
)

_SHOWN = 8  # ops that a message lists


def report_on(run: Run, sources: Sequence[SourceFile], failures: Sequence[tuple[str, Failure]],
              jobs: int = 0) -> Report:
    """The report of a run, stage by stage: files and kernels, torch ops, findings.

    Of a file of which some kernels or ops are named, nobody asked for the others.
    """
    run.check(sources)
    found, passing = registering(sources, run.request.registering)
    if not found:
        return _reported(run, run.files(sources, jobs), failures)
    from triton_mutlint.run.ops import follow  # here: few files register ops

    with follow(run, sources, found, passing) as finish:
        files = run.files(sources, jobs)
        followed = finish(files)
    ops, noted = followed.ordered(), followed.notes()
    asked = {file.source.display: {failure.wanted for _, failure in file.failures}
             for file in files if file.source.kernels}
    wanted = tuple(op for op in ops if any(map(op.is_called, asked.get(op.location.file, [op.name]))))
    return _reported(run, [_with_ops(file, ops) for file in files], failures, wanted, noted)


def _with_ops(file: FileResult, ops: Sequence[OpReport]) -> FileResult:
    """A file, where what was asked for by name and is no kernel may be an op."""
    here = [op for op in ops if op.location.file == file.source.display]
    hint = f"it registers {', '.join(op.name for op in here[:_SHOWN])}{', …' if len(here) > _SHOWN else ''}"
    return replace(file, failures=tuple(
        (name, replace(failure, hint=failure.hint or hint) if failure.wanted else failure)
        for name, failure in file.failures if not any(op.is_called(failure.wanted) for op in here)
    )) if here else file


def _reported(run: Run, files: Sequence[FileResult], failures: Sequence[tuple[str, Failure]],
              ops: tuple[OpReport, ...] = (), op_notes: tuple[str, ...] = ()) -> Report:
    reports = sorted((r for f in files for _, r in f.reports), key=lambda r: (r.location, r.name))
    helpers = sorted((h.location, h.name) for f in files for h in f.helpers if h.is_helper)
    listed = helpers if run.request.helpers else []
    notes = [f"helper, analysed where it is called: {at.file}:{at.line} {name}" for at, name in listed]
    lowered = any(report.origin is not Origin.COMPILED for report in reports)
    newer = newer_than_tested() if lowered else ""
    open_ = unavailable() if run.request.confine == "auto" else ""  # linted code could do more than it should
    open_ = open_ and f"linted code is not confined: {open_}; docs/security.md says what that means"
    return Report(
        Environment(triton_version() if lowered else None, tuple(dict.fromkeys(t for r in reports for t in r.targets))),
        tuple(reports), _findings(run, files, failures, ops),
        files=sum(bool(f.reports or f.helpers or f.failures) for f in files), helpers=len(helpers),
        notes=(*filter(None, (newer, open_)), *notes, *(n for f in files for n in f.notes),
               *op_notes),
        ops=ops,
    )


def _findings(run: Run, files: Sequence[FileResult], failures: Sequence[tuple[str, Failure]],
              ops: tuple[OpReport, ...]) -> tuple[Finding, ...]:
    """What the rules say of the linted files, and of the arguments that could not be read."""
    request, specs, subjects = run.request, run.specs, []
    linted = tuple(file.source for file in files)
    for file in files:
        helped = (*linted, *_helping(file, linted, request.cwd)) if any(k.is_tuned for k in file.kernels) else linted
        for kernel, report in file.reports:
            entry = specs.entry(kernel) if kernel else None
            declaration = declaration_of(kernel, file.source, entry) if kernel else None
            subjects.append(KernelSubject(
                report, kernel, declaration, has_spec_entry=entry is not None,
                is_relied_on=report.failure is not None and _is_relied_on(report, entry, file.source, specs),
                allowed=entry.allow if entry else (), sources=helped,
            ))
    unnamed = [(file.source.display, failure) for file in files for name, failure in file.failures if not name]
    return judge(RunSubject(
        tuple(subjects), linted, (*failures, *unnamed),
        tuple(stale(files, request, specs)), request.cwd, request.arguments, *compared_with(request),
        lambda allowed: _may_be_elsewhere(allowed, files, request, specs), ops=ops,
    ), request.config)


def _is_relied_on(report: KernelReport, entry: KernelSpec | None, source: SourceFile, specs: Specs) -> bool:
    """Whether the user gave the arguments of a kernel, or declared what it writes; `entry` is its own, if known."""
    name, line = report.name, report.location.line
    if entry is None and (spec := specs.of(source)) is not None:  # it may not have loaded
        entry = spec.entry_for(source.path, name.rpartition(".")[2], name, line)
    given = entry is not None and (entry.args or entry.compact is not None or entry.mutates is not None)
    return bool(given) or line in read_declarations(source).by_line


def _helping(file: FileResult, linted: Sequence[SourceFile], cwd: Path) -> Iterator[SourceFile]:
    """The files beside those linted from which something was loaded: a kernel's helpers may stand there."""
    known = {source.path for source in linted}
    for path in file.sources:
        if path not in known:
            try:
                display = display_path(path, cwd)
                yield SourceFile(path, display, read_source(path, display))
            except StageError:  # gone since: its helpers stay unread
                continue


def _may_be_elsewhere(allowed: Declared, files: Sequence[FileResult], request: Request, specs: Specs) -> bool:
    """Whether the entry of an `allow` may hold for a kernel of a file that was not linted as a whole."""
    spec = next((s for s in specs.read.values() if s.file == allowed.location.file), None)
    own = [f.source for f in files if spec is not None and specs.of(f.source) is spec]
    return spec is not None and bool(own) and elsewhere(str(allowed.path[1]), own, _root(spec, request))


def compared_with(request: Request) -> tuple[Snapshot | None, Baseline | None]:
    """What contracts and findings are compared with; raises UsageError for a file that cannot be read."""
    snapshot, baseline = (given and request.cwd / given for given in (request.snapshot, request.baseline))
    return (None if snapshot is None else read_snapshot(snapshot, display_path(snapshot, request.cwd)),
            None if baseline is None else read_baseline(baseline, display_path(baseline, request.cwd)))


def stale(files: Sequence[FileResult], request: Request, specs: Specs) -> Iterator[tuple[str, Location]]:
    """What each spec says that holds for nothing."""
    for spec in specs.read.values():
        using = [file for file in files if specs.of(file.source) is spec]
        root = _root(spec, request)
        yield from stale_entries(spec, using, root)
        if not request.true_import:  # what was really imported, and from where, is not known
            yield from stale_globals(spec, using, root)


def _root(spec: Spec, request: Request) -> Path:
    """The folder in which kernels may stand that a spec names."""
    return request.cwd if request.spec else (request.cwd / spec.file).parent
