"""One finding a line, `path:line:column: CODE message`, as editors and grep like it."""

from __future__ import annotations

from triton_mutlint.model import Report
from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions


def render(report: Report, options: RenderOptions | None = None) -> str:
    """Findings that are not suppressed; nothing at all when there are none."""
    lines = [
        f"{flat(f.location.file)}:{f.location.line}:{f.location.column}: {f.rule} {flat(f.message)}\n"
        for f in order.findings(report)
        if not f.suppressed
    ]
    return "".join(lines)


def flat(text: str) -> str:
    """`text` on one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
