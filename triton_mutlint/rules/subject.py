"""What the rules look at: one kernel with what was declared of it, and one run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from triton_mutlint.contracts.allowed import Allowed
from triton_mutlint.contracts.baseline import Baseline
from triton_mutlint.contracts.declarations import Declaration
from triton_mutlint.contracts.portable import covered
from triton_mutlint.contracts.snapshot import Snapshot
from triton_mutlint.contracts.suppressions import Suppression
from triton_mutlint.types import (
    AccessKind,
    Failure,
    Kernel,
    KernelReport,
    Location,
    OpReport,
    ParameterReport,
    Related,
    Severity,
    SourceFile,
)

_VERBS = {AccessKind.READ: "read", AccessKind.WRITE: "written", AccessKind.ATOMIC: "updated"}
WRITING = (AccessKind.WRITE, AccessKind.ATOMIC)


def places(parameter: ParameterReport, kinds: Collection[AccessKind] = tuple(AccessKind)) -> list[Related]:
    """Where a parameter is accessed in one of these ways."""
    found = sorted({(a.location, _VERBS[a.kind], a.op) for a in parameter.accesses if a.kind in kinds})
    return [Related(f"{verb} here by {op}", place) for place, verb, op in found]


def condition(parameter: ParameterReport) -> str:
    """Under which compile-time values a parameter is written, to follow the verb."""
    return f" when {' or '.join(parameter.when)}" if parameter.when else ""


@dataclass(frozen=True)
class KernelSubject:
    """One kernel: the verdict, the loaded function (None if it did not load), what is declared.

    `allow` holds the codes that its spec entry allows, `allowed` the same with their places; `sources`
    the files in which its helpers may stand (`judge` fills in those of the run). `is_relied_on` says that the user gave
    its arguments, or declared what it writes.
    """

    report: KernelReport
    kernel: Kernel | None = None
    declaration: Declaration | None = None
    has_spec_entry: bool = False
    allow: frozenset[str] = frozenset()
    sources: tuple[SourceFile, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    is_relied_on: bool = False

    @property
    def failure_severity(self) -> Severity | None:
        """How bad it is that the kernel has no verdict; None for the severity of the rule that says so.

        The tool's own guesses and stand-ins may be at fault, unless the user said something of the kernel, which cannot
        be held now, or it ended the process.
        """
        failure = self.report.failure
        return None if self.is_relied_on or (failure is not None and failure.crashed) else Severity.WARNING

    def parameter(self, name: str) -> ParameterReport | None:
        """The report of the parameter called `name`, as flattened (`ptrs.0`)."""
        return next((p for p in self.report.parameters if p.name == name), None)

    def place_of(self, parameter: str) -> Location:
        """Where a parameter stands in the signature; the `def` if that is not known."""
        if self.kernel is not None:
            arguments = self.kernel.node.args
            base = parameter.partition(".")[0]
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if argument.arg == base:
                    return Location(self.report.location.file, argument.lineno, argument.col_offset + 1)
        return self.report.location


@dataclass(frozen=True)
class RunSubject:
    """One run: its kernels, the files they were linted from, and what went wrong outside them.

    `failures` are those that no kernel's report carries, by file or kernel name. `spec_unused` are
    messages about spec entries that hold for nothing. `cwd` is what displayed paths are relative
    to. `matched`, `active` and `known` are filled in by `judge`: the suppressions that were needed, each
    with the code it suppressed; by file the codes of the rules that are on; the names of all rules by their
    codes. `arguments` are
    those of the run, as typed; `snapshot` and `baseline` what it is to be compared with, if anything.
    `may_be_elsewhere` tells whether the entry of an `allow` may hold for kernels that were not linted.
    """

    kernels: tuple[KernelSubject, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()
    spec_unused: tuple[tuple[str, Location], ...] = ()
    cwd: Path = Path()
    arguments: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    baseline: Baseline | None = None
    may_be_elsewhere: Callable[[Allowed], bool] = lambda allowed: False
    matched: frozenset[tuple[Suppression, str]] = frozenset()
    active: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    known: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ops: tuple[OpReport, ...] = ()

    def covered(self, files: Collection[str], folder: Path) -> frozenset[str]:
        """Which of `files` (relative to `folder`) this run looked at as a whole."""
        return covered(files, folder, self.sources, self.arguments, self.cwd, self.is_complete)

    def is_complete(self, source: SourceFile) -> bool:
        """Whether every kernel of `source` was asked for and has a verdict."""
        failed = {loc.file for _, failure in self.failures if (loc := failure.location) is not None}
        failed |= {name for name, _ in self.failures}
        failed |= {k.report.location.file for k in self.kernels if k.report.failure is not None}
        return not source.kernels and source.display not in failed
