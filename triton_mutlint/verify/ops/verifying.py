"""One run of `verify --ops`: analyse, run, compare; returns data and prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from triton_mutlint.config.request import Progress, Request
from triton_mutlint.run.judge import report_on
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import Specs
from triton_mutlint.run.run import compiling, run, sources_of
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import Failure, Location, Report, SourceFile, Stage, StageError, UsageError
from triton_mutlint.verify.jobs import run_jobs
from triton_mutlint.verify.model import OpOutcome, Outcome, VerifyReport
from triton_mutlint.verify.ops.judging import model_outcome, outcome_of
from triton_mutlint.verify.ops.reproducer import write_reproducer
from triton_mutlint.verify.ops.subjects import OpSubject, importable, named, subject_of
from triton_mutlint.verify.ops.wire import FAKE, ModelJob, OpRun
from triton_mutlint.verify.verifying import require
from triton_mutlint.verify.wire import Settings


def verify_ops(request: Request, settings: Settings, paths: Sequence[str], output: Path | None,
               progress: Progress) -> VerifyReport:
    """Hold the declaration of every op, and the analysis, against what the op does.

    Reproducers of disagreements go into `output`, or beside the op's file. Raises UsageError for an argument or a
    spec that cannot be used, and where torch or NumPy is missing.
    """
    require(settings.device)
    asked = [named(argument, request.cwd) for argument in request.arguments]
    request = replace(request, arguments=tuple(dict.fromkeys(path for path, _ in asked)), functions=True)
    sources, failures = sources_of(request)
    with compiling():
        report = report_on(Run(request, progress), sources, failures, request.jobs)
    by_name, specs = {source.display: source for source in sources}, Specs(request)
    subjects = [subject_of(op, by_name[op.location.file], request, specs, settings, paths,
                           [k for k in report.kernels if k.name in set(op.kernels)])
                for op in report.ops
                if any(op.is_called(wanted) if wanted else op.kernels or not op.complete or op.form != "function"
                       for _, wanted in asked) and op.location.file in by_name]
    outcomes = tuple(_outcomes(_once_each(subjects), settings, output, progress))
    return VerifyReport(settings.device, report.environment.triton, (),
                        (*failures, *_unread(sources), *_not_found(asked, report)), outcomes)


def verify_model(request: Request, settings: Settings, paths: Sequence[str], model: str,
                 progress: Progress) -> VerifyReport:
    """Run the model that `module:factory` makes by each path, and compare it with eager.

    The ops of its file, and of the arguments of the request, are analysed: those with findings are named. Raises
    UsageError for a model that is not found.
    """
    require(settings.device)
    place, factory = named(model, request.cwd)
    if not factory:
        raise UsageError(f"--model {model}: write module:factory, where factory() gives (module, example inputs)")
    file = (request.cwd / place).resolve()
    report = run(replace(request, arguments=(str(file), *request.arguments)), progress)
    root, module = importable(file)
    known = find_spec("onnxruntime") is not None
    ways = [OpRun(path) for path in (*(p for p in paths if p != FAKE), *(["onnx"] if known else []))]
    job = ModelJob(module, factory, (str(root), str(request.cwd)), tuple(ways), settings)
    (finished,) = run_jobs([job], progress)
    outcome = model_outcome(model, Location(display_path(file, request.cwd), 1), job, finished, report.findings)
    return VerifyReport(settings.device, report.environment.triton, ops=(outcome,))


def _unread(sources: Sequence[SourceFile]) -> Iterator[tuple[str, Failure]]:
    """The files that are no Python."""
    for source in sources:
        try:
            source.tree  # noqa: B018 - it raises
        except StageError as error:
            yield source.display, error.failure


def _not_found(asked: Sequence[tuple[str, str]], report: Report) -> Iterator[tuple[str, Failure]]:
    names = [op.name for op in report.ops]
    for path, wanted in asked:
        if wanted and not any(op.is_called(wanted) for op in report.ops):
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
    found = iter(run_jobs(jobs, progress))
    for subject in listed:
        outcome = outcome_of(subject, next(found) if subject.job is not None else None, settings.device)
        if outcome.outcome is Outcome.FAILED and subject.job is not None:
            folder = output or Path(subject.job.roots[-1], subject.job.display).parent
            outcome = replace(outcome, reproducer=write_reproducer(subject.job, outcome, folder))
        yield outcome
