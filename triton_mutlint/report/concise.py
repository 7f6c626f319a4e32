"""One finding a line, `path:line:column: severity: CODE message`, as compilers print it and editors read it."""

from __future__ import annotations

from triton_mutlint.basics import flat, one_line
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import FIXABLE
from triton_mutlint.types import Finding, Report


def render(report: Report, options: RenderOptions | None = None) -> str:
    """Findings that are not suppressed; nothing at all when there are none."""
    fixes = options.fixes if options else {}
    return "".join(_line(f, f in fixes) for f in report.active)


def _line(finding: Finding, is_fixable: bool) -> str:
    place, mark = finding.location, f" {FIXABLE}" if is_fixable else ""
    return (f"{flat(place.file)}:{place.line}:{place.column}: {finding.severity.value}: {finding.rule}{mark} "
            f"{one_line(finding.message)}\n")
