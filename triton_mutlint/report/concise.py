"""One finding a line, `path:line:column: severity: CODE message`, as compilers print it and editors read it."""

from __future__ import annotations

from triton_mutlint.basics import flat, one_line
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import FIXABLE
from triton_mutlint.types import Report


def render(report: Report, options: RenderOptions | None = None) -> str:
    """Findings that are not suppressed; nothing at all when there are none."""
    fixes = options.fixes if options else {}
    return "".join(
        f"{flat(f.location.file)}:{f.location.line}:{f.location.column}: {f.severity.value}: {f.rule}"
        f"{f' {FIXABLE}' if f in fixes else ''} {one_line(f.message)}\n" for f in report.active)
