"""A file that shows a failure again, with nothing of the project around it."""

from __future__ import annotations

from pathlib import Path

from triton_mutlint.verify.model import KernelOutcome
from triton_mutlint.verify.wire import Job, RunCase


def write_reproducer(job: Job, case: RunCase | None, sources: tuple[Path, ...], outcome: KernelOutcome,
                     output: Path | None) -> str:
    return ""
