"""What a rule is: metadata, its documentation and one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from triton_mutlint.rules.subject import KernelSubject, RunSubject
from triton_mutlint.types import Change, Finding, KernelReport, Location, OpReport, Related, Severity

KernelCheck = Callable[[KernelSubject], Iterable[Finding]]
RunCheck = Callable[[RunSubject], Iterable[Finding]]


def _no_kernel_findings(subject: KernelSubject) -> Iterable[Finding]:
    return ()


def _no_run_findings(run: RunSubject) -> Iterable[Finding]:
    return ()


def _always(run: RunSubject) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """One rule; `doc` is Markdown, its first line says in a sentence what the rule finds.

    `check` looks at one kernel, `check_run` at the whole run; a rule has one of them. `applies` is
    false for a run that lacks what the rule compares with: then it finds nothing, which says nothing.
    `has_strict` says that `--strict`, and a severity that the configuration sets, hold for its milder findings too.
    """

    code: str
    name: str
    default_severity: Severity
    doc: str
    check: KernelCheck = _no_kernel_findings
    check_run: RunCheck = _no_run_findings
    applies: Callable[[RunSubject], bool] = _always
    has_strict: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.doc.strip().splitlines()[0]

    def finding(
        self, message: str, location: Location, *, kernel: KernelReport | None = None, parameter: str | None = None,
        related: Iterable[Related] = (), help: str = "",  # noqa: A002 - the field's name
        severity: Severity | None = None,
        changes: Iterable[Change] = (), op: OpReport | None = None, unfixed: str = "",
        subject: Location | None = None,
    ) -> Finding:
        """A finding of this rule; `severity` only where it differs from the rule's own."""
        return Finding(
            self.code, self.name, severity or self.default_severity, message, location,
            kernel=kernel.name if kernel else None, op=op.name if op else None,
            parameter=parameter, related=tuple(related), help=help, changes=tuple(changes),
            unfixed=unfixed, subject=subject,
        )
