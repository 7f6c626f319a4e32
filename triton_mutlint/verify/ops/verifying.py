"""One run of `verify --ops`: analyse, run, compare; returns data and prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from triton_mutlint.config.request import Progress, Request
from triton_mutlint.run.plan import Specs
from triton_mutlint.run.run import run, sources_of
from triton_mutlint.types import Failure, Location, Report, Stage
from triton_mutlint.verify.model import OpOutcome, Outcome, VerifyReport
from triton_mutlint.verify.ops.judging import outcome_of
from triton_mutlint.verify.ops.reproducer import write_reproducer
from triton_mutlint.verify.ops.subjects import OpSubject, is_wanted, named, subject_of
from triton_mutlint.verify.pool import run_jobs
from triton_mutlint.verify.verifying import require
from triton_mutlint.verify.wire import Finished, Settings


def verify_ops(request: Request, settings: Settings, paths: Sequence[str], output: Path | None,
               progress: Progress) -> VerifyReport:
    """Hold the declaration of every op, and the analysis, against what the op does.

    Reproducers of disagreements go into `output`, or beside the op's file. Raises UsageError for an argument or a
    spec that cannot be used, and where torch or NumPy is missing.
    """
    require(settings.device)
    asked = [named(argument, request.cwd) for argument in request.arguments]
    request = replace(request, arguments=tuple(dict.fromkeys(path for path, _ in asked)))
    report = run(request, progress)
    sources, failures = sources_of(request)
    by_name, specs = {source.display: source for source in sources}, Specs(request)
    subjects = [subject_of(op, by_name[op.location.file], request, specs, settings, paths) for op in report.ops
                if any(is_wanted(op.name, wanted) for _, wanted in asked) and op.location.file in by_name]
    outcomes = tuple(_outcomes(_once_each(subjects), settings, output, progress))
    return VerifyReport(settings.device, report.environment.triton, (),
                        (*failures, *_not_found(asked, report)), outcomes)


def _not_found(asked: Sequence[tuple[str, str]], report: Report) -> Iterator[tuple[str, Failure]]:
    names = [op.name for op in report.ops]
    for path, wanted in asked:
        if wanted and not any(is_wanted(name, wanted) for name in names):
            message = f"no op {wanted!r} is registered here; there are: {', '.join(names) or 'none'}"
            yield f"{path}:{wanted}", Failure(Stage.LOAD, message, Location(path, 1))


def _once_each(subjects: Sequence[OpSubject]) -> Iterator[OpSubject]:
    """An op that is registered again can be called but once: as the last registration has it."""
    last = {subject.report.name: subject for subject in subjects}
    for subject in subjects:
        again = last[subject.report.name] is not subject
        yield OpSubject(subject.report, refused="it is registered again, and that one is called") if again else subject


def _outcomes(subjects: Iterator[OpSubject], settings: Settings, output: Path | None,
              progress: Progress) -> Iterator[OpOutcome]:
    listed = list(subjects)
    jobs = [subject.job for subject in listed if subject.job is not None]
    count = 0

    def done(number: int, finished: Finished) -> None:
        nonlocal count
        count += 1
        progress(count, len(jobs), f"ran {jobs[number].name}")

    progress(0, len(jobs), f"running {jobs[0].name}" if jobs else "")
    found = iter(run_jobs(jobs, done))
    for subject in listed:
        outcome = outcome_of(subject, next(found) if subject.job is not None else None, settings.device)
        if outcome.outcome is Outcome.FAILED and subject.job is not None:
            folder = output or Path(subject.job.roots[-1], subject.job.display).parent
            outcome = replace(outcome, reproducer=write_reproducer(subject.job, outcome, folder))
        yield outcome
