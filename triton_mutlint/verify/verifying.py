"""One run of `verify`: analyse, run, compare; returns data and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.lowering.triton_api import triton_version
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.types import FileResult, Kernel, KernelReport, Target, UsageError, Variant
from triton_mutlint.verify.jobs import Cases, cases_of, subject_of
from triton_mutlint.verify.judging import outcome_of
from triton_mutlint.verify.model import KernelOutcome, OpOutcome, Outcome, R, Subject, VerifyReport
from triton_mutlint.verify.reproducer import write_reproducer
from triton_mutlint.verify.running.server import run_jobs
from triton_mutlint.verify.wire import Finished, Job, OpJob, Settings

J = TypeVar("J", Job, OpJob)
Judged = TypeVar("Judged", KernelOutcome, OpOutcome)


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

    def ask(file: FileResult, kernel: Kernel, report: KernelReport) -> Cases:
        """In the process of the kernel's file."""
        return cases_of(file, kernel, report, tuple(seen.get(kernel, ())), run.specs,
                        partial(run.analyze, file, kernel))

    run = Run(request, progress, observe)
    with compiling():
        files = run.files(sources, settings.jobs, Question(ask, Cases)) if sources else ()
    subjects: list[Subject[KernelReport, Job]] = []
    for file in files:
        for kernel, report in file.reports:
            cases = run.answers.get((report.location, report.name), Cases())
            subjects.append(Subject(report) if kernel is None else
                            subject_of(file, kernel, report, cases, settings, run.specs))
    outcomes = held(subjects, outcome_of, settings, output, progress)
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


def held(subjects: Sequence[Subject[R, J]], judge: Callable[[Subject[R, J], Finished | None, str], Judged],
         settings: Settings, output: Path | None, progress: Progress) -> Iterator[Judged]:
    """The outcome of each, by what its runs showed; a failure is written down as a script that shows it again."""
    found = iter(run_jobs([subject.job for subject in subjects if subject.job is not None], progress))
    for subject in subjects:
        finished = next(found) if subject.job is not None else None
        outcome = judge(subject, finished, settings.device)
        if outcome.outcome is Outcome.FAILED and subject.job is not None and finished is not None:
            script = write_reproducer(subject.job, subject.sources, outcome, finished, output)
            outcome = replace(outcome, reproducer=script)
        yield outcome
