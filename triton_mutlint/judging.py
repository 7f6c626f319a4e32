"""From reports and declarations to findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_mutlint.contracts.allowed import Allowed, allowed_by
from triton_mutlint.contracts.baseline import Baseline
from triton_mutlint.contracts.baseline_file import read_baseline
from triton_mutlint.contracts.declarations import declaration_of, read_declarations
from triton_mutlint.contracts.snapshot import Snapshot, read_snapshot
from triton_mutlint.model import (
    Failure,
    Finding,
    KernelReport,
    LoadedKernel,
    LoadResult,
    Location,
    OpReport,
    SourceFile,
    StageError,
)
from triton_mutlint.request import Request
from triton_mutlint.rules.run import judge
from triton_mutlint.rules.subject import KernelSubject, RunSubject
from triton_mutlint.source.discover import display_path
from triton_mutlint.source.text import read_source
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.stale import elsewhere, stale_entries, stale_globals


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

    def relied_on(self, report: KernelReport, entry: KernelSpec | None) -> bool:
        """Whether the user gave the arguments of a kernel, or declared what it writes; `entry` is its own, if known."""
        name, line = report.name, report.location.line
        if entry is None and self.spec is not None:  # it may not have loaded
            entry = self.spec.entry_for(self.source.path, name.rpartition(".")[2], name, line)
        given = entry is not None and (entry.args or entry.compact is not None or entry.mutates is not None)
        return bool(given) or line in read_declarations(self.source).by_line


def findings_of(
    files: Sequence[LintedFile], failures: Sequence[tuple[str, Failure]], request: Request,
    ops: Sequence[OpReport] = (),
) -> tuple[Finding, ...]:
    """What the rules say of the linted files, and of the arguments that could not be read."""
    subjects = []
    linted = tuple(file.source for file in files)
    for file in files:
        helped = (*linted, *_helping(file, linted, request.cwd)) if any(map(_is_tuned, file.result.kernels)) else linted
        for kernel, report in file.reports:
            entry = file.entry(kernel) if kernel else None
            declaration = declaration_of(kernel, file.source, entry) if kernel else None
            subjects.append(KernelSubject(
                report, kernel, declaration, has_spec_entry=entry is not None,
                is_relied_on=report.failure is not None and file.relied_on(report, entry),
                allow=frozenset(d.name for d in entry.allow) if entry else frozenset(), allowed=allowed_by(entry),
                sources=helped,
            ))
    unnamed = [(file.source.display, failure) for file in files for name, failure in file.result.failures if not name]
    return judge(RunSubject(
        tuple(subjects), linted, (*failures, *unnamed),
        tuple(_stale(files, request)), request.cwd, request.arguments, snapshot_of(request), baseline_of(request),
        lambda allowed: _may_be_elsewhere(allowed, files, request), ops=tuple(ops),
    ), request.config)


def _is_tuned(kernel: LoadedKernel) -> bool:
    return kernel.autotune is not None and len(kernel.autotune.configs) > 1


def _helping(file: LintedFile, linted: Sequence[SourceFile], cwd: Path) -> Iterator[SourceFile]:
    """The files beside those linted from which something was loaded: a kernel's helpers may stand there."""
    known = {source.path for source in linted}
    for path in file.result.sources:
        if path not in known:
            try:
                display = display_path(path, cwd)
                yield SourceFile(path, display, read_source(path, display))
            except StageError:  # gone since: its helpers stay unread
                continue


def _may_be_elsewhere(allowed: Allowed, files: Sequence[LintedFile], request: Request) -> bool:
    """Whether the entry of an `allow` may hold for a kernel of a file that was not linted as a whole."""
    own = [f for f in files if f.spec is not None and f.spec.file == allowed.location.file]
    specs = [f.spec for f in own if f.spec is not None]
    return any(elsewhere(allowed.pattern, [f.source for f in own], _root(spec, request)) for spec in specs[:1])


def snapshot_of(request: Request) -> Snapshot | None:
    """What contracts are compared with; raises UsageError for a file that cannot be read."""
    if request.snapshot is None:
        return None
    path = request.cwd / request.snapshot
    return read_snapshot(path, display_path(path, request.cwd))


def baseline_of(request: Request) -> Baseline | None:
    """The findings that are accepted; raises UsageError for a file that cannot be read."""
    if request.baseline is None:
        return None
    path = request.cwd / request.baseline
    return read_baseline(path, display_path(path, request.cwd))


def _stale(files: Sequence[LintedFile], request: Request) -> Iterator[tuple[str, Location]]:
    """What each spec says that holds for nothing."""
    specs = {id(file.spec): file.spec for file in files if file.spec is not None}
    for spec in specs.values():
        own = [file for file in files if file.spec is spec]
        kernels = [k for file in own for k in (*file.result.kernels, *file.result.helpers)]
        failed = [name for file in own for name, _ in file.result.failures if name]
        yield from stale_entries(spec, [file.source for file in own], kernels, failed, _root(spec, request))
        if not request.true_import:  # what was really imported, and from where, is not known
            loaded = {path for file in own for path in file.result.sources}
            yield from stale_globals(spec, [file.source for file in own], loaded, _root(spec, request))


def _root(spec: Spec, request: Request) -> Path:
    """The folder in which kernels may stand that a spec names."""
    return request.cwd if request.spec else (request.cwd / spec.file).parent
