"""What a rule is, and what it looks at: one kernel with what was declared of it, one torch op, or one run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_mutlint.basics import nearest
from triton_mutlint.contracts.baseline import Baseline
from triton_mutlint.contracts.declarations import KernelDeclaration
from triton_mutlint.contracts.portable import covered
from triton_mutlint.contracts.snapshot import Snapshot
from triton_mutlint.spec.model import Declared
from triton_mutlint.types import (
    AccessKind,
    Change,
    Failure,
    Finding,
    HostEffect,
    Kernel,
    KernelReport,
    Location,
    OpArgument,
    OpReport,
    ParameterReport,
    Related,
    Severity,
    SourceFile,
)

_VERBS = {AccessKind.READ: "read", AccessKind.WRITE: "written", AccessKind.ATOMIC: "updated"}
WRITING = (AccessKind.WRITE, AccessKind.ATOMIC)


@dataclass(frozen=True)
class KernelSubject:
    """One kernel: the verdict, the loaded function (None if it did not load), what is declared.

    `allowed` are the codes that its spec entry allows; `sources` the files in which its helpers may stand.
    `is_relied_on` says that the user gave its arguments, or declared what it writes.
    """

    report: KernelReport
    kernel: Kernel | None = None
    declaration: KernelDeclaration | None = None
    has_spec_entry: bool = False
    allowed: tuple[Declared, ...] = ()
    sources: tuple[SourceFile, ...] = ()
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

    `failures` are those that no kernel's report carries, by file or kernel name. `spec_unused` are messages about spec
    entries that hold for nothing. `cwd` is what displayed paths are relative to. `arguments` are those of the run, as
    typed; `snapshot` and `baseline` what it is to be compared with, if anything. `may_be_elsewhere` tells whether the
    entry of an `allow` may hold for kernels that were not linted.
    """

    kernels: tuple[KernelSubject, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()
    spec_unused: tuple[tuple[str, Location], ...] = ()
    cwd: Path = Path()
    arguments: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    baseline: Baseline | None = None
    may_be_elsewhere: Callable[[Declared], bool] = lambda allowed: False
    ops: tuple[OpReport, ...] = ()

    def covered(self, files: Collection[str], folder: Path) -> frozenset[str]:
        """Which of `files` (relative to `folder`) this run looked at as a whole."""
        return covered(files, folder, self.sources, self.arguments, self.cwd, self.is_complete)

    def is_complete(self, source: SourceFile) -> bool:
        """Whether every kernel of `source` was asked for and has a verdict."""
        failed = {place.file for _, failure in self.failures if (place := failure.location) is not None}
        failed |= {name for name, _ in self.failures}
        failed |= {k.report.location.file for k in self.kernels if k.report.failure is not None}
        return not source.kernels and source.display not in failed


@dataclass(frozen=True)
class Rule:
    """One rule; `doc` is Markdown, its first line says in a sentence what the rule finds.

    `check` looks at one kernel, `check_op` at one torch op, `check_run` at the whole run. `applies` is false for a run
    that lacks what the rule compares with: then it finds nothing, which says nothing. `has_strict` says that
    `--strict`, and a severity that the configuration sets, hold for its milder findings too.
    """

    code: str
    name: str
    default_severity: Severity
    doc: str
    check: Callable[[KernelSubject], Iterable[Finding]] = lambda subject: ()
    check_op: Callable[[OpReport], Iterable[Finding]] = lambda op: ()
    check_run: Callable[[RunSubject], Iterable[Finding]] = lambda run: ()
    applies: Callable[[RunSubject], bool] = lambda run: True
    has_strict: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.doc.strip().splitlines()[0]

    def finding(
        self, message: str, location: Location, *, kernel: KernelReport | None = None, op: OpReport | None = None,
        parameter: str | None = None, related: Iterable[Related] = (), help: str = "",  # noqa: A002 - the field's name
        severity: Severity | None = None, changes: Iterable[Change] = (), unfixed: str = "",
        subject: Location | None = None,
    ) -> Finding:
        """A finding of this rule; `severity` only where it differs from the rule's own."""
        return Finding(
            self.code, self.name, severity or self.default_severity, message, location,
            kernel=kernel.name if kernel else None, op=op.name if op else None, parameter=parameter,
            related=tuple(related), help=help, changes=tuple(changes), unfixed=unfixed, subject=subject,
        )


def places(parameter: ParameterReport, kinds: Collection[AccessKind] = tuple(AccessKind)) -> list[Related]:
    """Where a parameter is accessed in one of these ways."""
    found = sorted({(a.location, _VERBS[a.kind], a.op) for a in parameter.accesses if a.kind in kinds})
    return [Related(f"{verb} here by {op}", place) for place, verb, op in found]


def misnamed(name: str, known: Sequence[str], listed: Collection[str]) -> tuple[str, str]:
    """Which of the parameters `known` a name in a list may mean, or "", and what to do about it."""
    meant = nearest(name, known, 0.5) or ""
    meant = "" if meant in listed else meant
    return meant, f"did you mean `{meant}`?" if meant else f"remove `{name}`; the parameters are {', '.join(known)}"


def condition(parameter: ParameterReport) -> str:
    """Under which compile-time values a parameter is written, to follow the verb."""
    return f" when {parameter.condition}" if parameter.condition else ""


_SHOWN = 4  # places of one argument


def related(op: OpReport, argument: OpArgument) -> Iterator[Related]:
    """The declaration, then each place where the argument is written, with the calls that lead there."""
    if op.declaration.place != op.location:
        yield Related("declared here", op.declaration.place)
    for effect in argument.effects[:_SHOWN]:
        yield from steps(effect)


def steps(effect: HostEffect) -> Iterator[Related]:
    """From the op's function to the store."""
    for frame in effect.path:
        yield Related(f"called in `{frame.function}`", Location(frame.file, frame.line))
    yield Related(effect.text, effect.location)
    if effect.access is not None:
        yield Related(f"the {effect.access.op} in `{effect.kernel}`", effect.access.location)


def unfixed(op: OpReport) -> str:
    """Why no fix edits the op's declaration; empty where one does."""
    return {"define": "schemas are not edited", "jax": "aliases are not edited"}.get(op.form, "")


def declares(op: OpReport) -> str:
    """Where the names are written, as the user calls it."""
    if op.declaration.of_torch:
        return "torch's schema"
    return {"define": "the schema", "jax": "`input_output_aliases`"}.get(op.form, "`mutates_args`")
