"""What rules find, and the report of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from triton_mutlint.basics import Severity
from triton_mutlint.types.op import OpReport
from triton_mutlint.types.report import KernelReport
from triton_mutlint.types.source import Location
from triton_mutlint.types.target import Target


@dataclass(frozen=True)
class Related:
    """A second place that explains a finding (the declaration, each write)."""

    message: str
    location: Location


class ListKind(str, Enum):
    """The lists in users' files that a fix can edit."""

    SPEC_MUTATES = "the spec's `mutates`"
    COMMENT_MUTATES = "the `mutates` comment"
    RESTORE_VALUE = "`restore_value`"
    RESET_TO_ZERO = "`reset_to_zero`"
    IGNORE = "the `ignore` comment"
    MUTATES_ARGS = "`mutates_args`"


@dataclass(frozen=True)
class Change:
    """One name to put into a list of the user's, or to take out: what would settle a finding.

    `location` is that of the list (the spec's key, the comment) or of the decorator it belongs to;
    an empty `name` stands for the whole list. `order` are the names of the kernel's parameters.
    """

    kind: ListKind
    name: str
    add: bool
    location: Location
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a rule says of one place.

    `subject` is the place of the declaration, decorator or signature that the finding is about, where it is one of
    several parameters: text tells of those of one subject together.
    """

    rule: str  # "TML101"
    name: str  # "undeclared-mutation"
    severity: Severity
    message: str
    location: Location
    kernel: str | None = None
    op: str | None = None
    parameter: str | None = None
    suppressed: bool = False
    related: tuple[Related, ...] = ()
    help: str = ""
    suppressed_by: str = ""  # "comment", "spec" or "baseline"
    changes: tuple[Change, ...] = ()  # what would settle it
    unfixed: str = ""  # why `--fix` leaves it, where one might expect that it does not
    subject: Location | None = None


@dataclass(frozen=True)
class Environment:
    triton: str | None  # None when no kernel needed it
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True)
class Report:
    """Everything one run found, each list by place; equal inputs give equal reports."""

    environment: Environment
    kernels: tuple[KernelReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: int = 0  # files that hold kernels
    helpers: int = 0
    notes: tuple[str, ...] = ()
    ops: tuple[OpReport, ...] = ()

    @property
    def active(self) -> tuple[Finding, ...]:
        """The findings that nobody suppressed."""
        return tuple(finding for finding in self.findings if not finding.suppressed)
