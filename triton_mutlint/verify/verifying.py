"""One run of `verify`: analyse, run, compare; returns data and prints nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.lowering.triton_api import triton_version
from triton_mutlint.run.lint import Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.types import Kernel, Target, UsageError, Variant
from triton_mutlint.verify.jobs import subject_of
from triton_mutlint.verify.judge import failing_run, outcome_of
from triton_mutlint.verify.model import KernelOutcome, Outcome, VerifyReport, VerifySubject
from triton_mutlint.verify.pool import run_jobs
from triton_mutlint.verify.reproducer import write_reproducer
from triton_mutlint.verify.wire import Settings


def verify(request: Request, settings: Settings, output: Path | None, progress: Progress) -> VerifyReport:
    """Hold the verdict on every kernel against its runs.

    Reproducers of failures go into `output`, or beside the kernel's file. Raises UsageError for a
    spec that cannot be used, and where torch or NumPy is missing.
    """
    require(settings.device)
    sources, failures = sources_of(request)
    seen: dict[Kernel, list[tuple[Variant, VariantEffects]]] = {}

    def observe(kernel: Kernel, variant: Variant, effects: VariantEffects, _: Target) -> None:
        seen.setdefault(kernel, []).append((variant, effects))

    with compiling():
        run = Run(request, progress, observe)
        files = run.files(sources) if sources else ()
        subjects: list[tuple[VerifySubject, tuple[Path, ...]]] = []
        for file in files:
            for kernel, report in file.reports:
                subject = VerifySubject(report)
                if kernel is not None:
                    subject = subject_of(file, kernel, report, tuple(seen.get(kernel, ())), settings, run.specs,
                                         partial(run.analyze, file, kernel))
                subjects.append((subject, file.sources))
    outcomes = _outcomes(subjects, settings, output, progress)
    unread = [(f.source.display, f.failure) for f in files if f.failure is not None]
    ordered = tuple(sorted(outcomes, key=lambda k: (k.location, k.name)))
    return VerifyReport(settings.device, triton_version() if files else None, ordered, (*failures, *unread))


def require(device: str) -> None:
    """Raises UsageError naming what runs need and is not installed."""
    missing = [name for name in ("torch", "numpy") if find_spec(name) is None]
    if missing:
        raise UsageError(f"verify runs kernels on torch tensors, and {' and '.join(missing)} "
                         f"{'is' if len(missing) == 1 else 'are'} not installed: pip install 'triton-mutlint[torch]'")
    if device == "cuda" and not Path(DEVICE_NODES[0]).exists():
        raise UsageError("--device cuda needs a GPU, and none is there; without it, kernels run under the interpreter")


def _outcomes(subjects: list[tuple[VerifySubject, tuple[Path, ...]]], settings: Settings, output: Path | None,
              progress: Progress) -> Iterator[KernelOutcome]:
    jobs = [subject.job for subject, _ in subjects if subject.job is not None]
    found = iter(run_jobs(jobs, progress))
    for subject, sources in subjects:
        finished = next(found) if subject.job is not None else None
        outcome = outcome_of(subject, finished, settings.device)
        if outcome.outcome is Outcome.FAILED and subject.job is not None and finished is not None:
            case = failing_run(subject.job, outcome, finished)
            outcome = replace(outcome, reproducer=write_reproducer(subject.job, case, sources, outcome, output))
        yield outcome
