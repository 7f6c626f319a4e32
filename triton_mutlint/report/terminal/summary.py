"""The counts at the end of a report."""

from __future__ import annotations

from triton_mutlint.basics import FAIL_LEVELS, NEVER, plural
from triton_mutlint.types import Finding, Report, Severity, Status

FIXABLE = "[*]"  # marks what `--fix` can settle


def summarize(report: Report) -> dict[str, int]:
    """Counts of a report, of findings those that are not suppressed."""
    failed = sum(kernel.status is Status.FAILED for kernel in report.kernels)
    active = [finding.severity for finding in report.active]
    return {"files": report.files, "kernels": len(report.kernels), "analyzed": len(report.kernels) - failed,
            "failed": failed, "errors": active.count(Severity.ERROR), "warnings": active.count(Severity.WARNING)}


def fails(finding: Finding, fail_on: str) -> bool:
    """Whether a finding makes the run fail: not suppressed, and at or above `fail_on`."""
    if fail_on == NEVER or finding.suppressed:
        return False
    return finding.severity.value in FAIL_LEVELS[: FAIL_LEVELS.index(fail_on) + 1]


def sentence(report: Report) -> str:
    """The summary in plain words: `3 kernels: 2 analysed, 1 failed · 1 error, 0 warnings`."""
    counts = summarize(report)
    if not report.kernels and not report.findings and not report.ops:
        helpers = f"; {plural(report.helpers, 'helper')}, analysed where called" if report.helpers else ""
        return f"no Triton kernels found{helpers}"
    infos = sum(finding.severity is Severity.INFO for finding in report.active)
    suppressed = len(report.findings) - len(report.active)
    failed = f", {counts['failed']} failed" if counts["failed"] else ""
    parts = [
        "" if report.ops and not report.kernels else
        f"{plural(counts['kernels'], 'kernel')}: {counts['analyzed']} analysed{failed}",
        plural(len(report.ops), "op") if report.ops else "",
        f"{plural(counts['errors'], 'error')}, {plural(counts['warnings'], 'warning')}",
        f"{infos} info" if infos else "",
        f"{suppressed} suppressed" if suppressed else "",
        plural(report.helpers, "helper") if report.helpers else "",
    ]
    return " · ".join(part for part in parts if part)


def advice(report: Report, fixable: int = 0) -> list[str]:
    """What can be done about the findings as a whole; `fixable` of them are marked as those that `--fix` can settle."""
    guessed = {(f.rule, f.kernel) for f in report.active if f.severity is Severity.WARNING}
    lacks = [k.failure.lacks for k in report.kernels
             if k.failure is not None and not guessed.isdisjoint((("TML901", k.name), ("TML902", k.name)))]
    lines = []
    if lowered := lacks.count("arguments"):
        what = f"{'its' if lowered == 1 else 'their'} arguments"
        lines.append(f"{plural(lowered, 'kernel')} not analysed: give {what} in a spec (triton-mutlint init)")
    if loaded := lacks.count("globals"):
        what = "what it needs" if loaded == 1 else "what they need"
        lines.append(f"{plural(loaded, 'kernel')} not loaded: give {what} under `globals` in a spec")
    if fixable:
        lines.append(f"{FIXABLE} {plural(fixable, 'finding')} can be fixed: triton-mutlint check --fix")
    return lines
