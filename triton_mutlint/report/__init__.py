"""Rendering a report: one module per format, each `render(report, options) -> str`."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from triton_mutlint.model import Report
from triton_mutlint.report.options import RenderOptions

Renderer = Callable[[Report, RenderOptions], str]

# Format name -> module; imported when asked for, so that JSON never waits for rich.
FORMATS = {
    name: f"triton_mutlint.report.{name}"
    for name in ("text", "concise", "json", "sarif", "github", "junit", "markdown")
}


def render(name: str, report: Report, options: RenderOptions) -> str:
    """`report` in the format `name`, a key of FORMATS."""
    renderer: Renderer = importlib.import_module(FORMATS[name]).render
    return renderer(report, options)
