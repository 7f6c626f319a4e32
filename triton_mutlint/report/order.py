"""The order in which everything is reported, whatever order it was found in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from triton_mutlint.types import Access, Finding, IndirectWrite, KernelReport, OpaqueOp, Report, UnanalyzableOp

Placed = TypeVar("Placed", IndirectWrite, OpaqueOp, UnanalyzableOp)


def kernels(report: Report) -> list[KernelReport]:
    """By file, line and name."""
    return sorted(report.kernels, key=lambda k: (k.location.file, k.location.line, k.name, k.location.column))


def findings(report: Report) -> list[Finding]:
    """By file, line, column, rule, and then what tells two findings of one place apart."""
    return sorted(
        report.findings,
        key=lambda f: (f.location, f.rule, f.kernel or "", f.op or "", f.parameter or "", f.message),
    )


def active(report: Report) -> list[Finding]:
    """The findings that nobody suppressed."""
    return [finding for finding in findings(report) if not finding.suppressed]


def accesses(found: Iterable[Access]) -> list[Access]:
    """Each once, by place."""
    return sorted(set(found), key=lambda a: (a.location, a.kind.value, a.op, a.path))


def placed(found: Iterable[Placed]) -> list[Placed]:
    """Each once, by place and then by all their fields."""
    return sorted(set(found), key=lambda item: (item.location, item.op, repr(item)))
