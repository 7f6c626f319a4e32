"""Rendering a report: one module per format, each `render(report, options) -> str`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from triton_mutlint.basics import inert, visible

if TYPE_CHECKING:  # the names alone must cost nothing: `--help` lists them
    from triton_mutlint.report.options import RenderOptions
    from triton_mutlint.types import Report

# Format name -> module; imported when asked for, so that JSON never waits for rich.
FORMATS = {
    name: f"triton_mutlint.report.{'terminal.text' if name == 'text' else name}"
    for name in ("text", "concise", "json", "sarif", "github", "junit", "markdown")
}
FIXES_SHOWN = ("text", "concise", "sarif")  # formats that say what `--fix` would do


def render(name: str, report: Report, options: RenderOptions) -> str:
    """`report` in the format `name`, a key of FORMATS."""
    found = report.kernels or report.ops or report.findings or report.notes or report.environment.targets
    if name == "text" and not options.color and not found:
        # Without rich, which takes longer to import than such a run.
        from triton_mutlint.report.terminal.summary import sentence

        return "" if options.quiet else f"{sentence(report)}\n"
    text: str = importlib.import_module(FORMATS[name]).render(report, options)
    if name in ("json", "sarif"):
        return text.replace("##[", "\\u0023#[")
    text = text if name == "text" else visible(text)  # the text report's own escapes are colours
    return text.replace("##[", "## [") if name == "github" else inert(text)
