"""A run in this process, where a test can look on; runs proper do their work in processes of their own."""

from __future__ import annotations

from triton_mutlint.config.request import Request
from triton_mutlint.run.judge import report_on
from triton_mutlint.run.lint import Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.types import Report


def run_here(request: Request) -> Report:
    """The report that `engine.run` would give."""
    sources, failures = sources_of(request)
    with compiling():
        run = Run(request, lambda done, total, label: None)
        return report_on(run, sources, failures)
