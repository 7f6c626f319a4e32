"""Workflow commands that GitHub Actions turns into annotations."""

from __future__ import annotations

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.types import Finding, Report, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, options: RenderOptions | None = None) -> str:
    """An annotation per finding that is not suppressed; nothing when there are none."""
    return "".join(_annotation(f) for f in report.active)


def _annotation(finding: Finding) -> str:
    place = finding.location
    title = f"{finding.rule} {finding.name}"
    properties = {"file": place.file, "line": str(place.line), "col": str(place.column), "title": title}
    shown = ",".join(f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}"
                     for key, value in properties.items())
    message = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    return f"::{_COMMANDS[finding.severity]} {shown}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
