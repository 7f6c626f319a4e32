"""The counts at the end of a report."""

from __future__ import annotations

from dataclasses import dataclass

from triton_mutlint.model import Report, Severity, Status


@dataclass(frozen=True)
class Summary:
    """`errors`, `warnings` and `infos` count the findings that are not suppressed."""

    files: int
    kernels: int
    analyzed: int
    failed: int
    errors: int
    warnings: int
    infos: int
    suppressed: int


def summarize(report: Report) -> Summary:
    failed = sum(kernel.status is Status.FAILED for kernel in report.kernels)
    active = [finding.severity for finding in report.findings if not finding.suppressed]
    return Summary(
        files=report.files,
        kernels=len(report.kernels),
        analyzed=len(report.kernels) - failed,
        failed=failed,
        errors=active.count(Severity.ERROR),
        warnings=active.count(Severity.WARNING),
        infos=active.count(Severity.INFO),
        suppressed=len(report.findings) - len(active),
    )
