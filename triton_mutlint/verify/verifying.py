"""One run of `verify`: kernels are analysed and run, and what the runs showed is held against the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.config.request import Progress, Request
from triton_mutlint.lowering.triton_api import triton_version
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.types import (
    FileResult,
    Kernel,
    KernelReport,
    Mutation,
    ParameterKind,
    ParameterReport,
    Target,
    UsageError,
    Variant,
)
from triton_mutlint.verify.jobs import Cases, cases_of, subject_of
from triton_mutlint.verify.model import Agreement, Outcome, ParameterOutcome, R, Subject, Verified, VerifyReport
from triton_mutlint.verify.reproducer import write_reproducer
from triton_mutlint.verify.running.server import run_jobs
from triton_mutlint.verify.wire import LEFT_OUT, Difference, Finished, Job, OpJob, RunResult, Settings

J = TypeVar("J", Job, OpJob)
_ADDRESSED = (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)


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


def held(subjects: Sequence[Subject[R, J]], judge: Callable[[Subject[R, J], Finished | None, str], Verified],
         settings: Settings, output: Path | None, progress: Progress) -> Iterator[Verified]:
    """The outcome of each, by what its runs showed; a failure is written down as a script that shows it again."""
    found = iter(run_jobs([subject.job for subject in subjects if subject.job is not None], progress))
    for subject in subjects:
        finished = next(found) if subject.job is not None else None
        outcome = judge(subject, finished, settings.device)
        if outcome.outcome is Outcome.FAILED and subject.job is not None and finished is not None:
            script = write_reproducer(subject.job, subject.sources, outcome, finished, output)
            outcome = replace(outcome, reproducer=script)
        yield outcome


# --------------------------------------------------------------------------- what runs showed of a kernel


def outcome_of(subject: Subject[KernelReport, Job], finished: Finished | None, device: str) -> Verified:
    """The outcome of one kernel; `finished` is None where nothing was run."""
    report, job = subject.report, subject.job
    if job is None or finished is None:
        outcome = Outcome.NO_VERDICT if report.failure is not None else Outcome.NOT_RUN
        return Verified(report.name, report.location, outcome, device, refused=subject.refused,
                             failure=report.failure)
    # On a GPU a write beside one tensor may have hit another: such a run shows nothing unexpected for certain.
    good = [r if device == "cpu" or not r.outside else replace(r, changed=(), through=(), leaked=(), differences=())
            for r in finished.results if r.status == "ok"]
    parameters = _parameters(report, job, good)
    leaked = sorted({name for r in good for name in r.leaked if name not in job.variant_of(r.run).written})
    failed = bool(leaked) or any(p.agreement is Agreement.MISSED for p in parameters)
    outcome = Outcome.FAILED if failed else Outcome.RAN if good else Outcome.NOT_RUN
    return Verified(
        report.name, report.location, outcome, device, parameters if good else (), len(job.runs),
        **said_of(finished, finished.results, good), leaked=tuple(leaked), differences=_largest(good),
        read_outside=sum(r.read_outside for r in good))


def _parameters(report: KernelReport, job: Job, good: list[RunResult]) -> tuple[ParameterOutcome, ...]:
    """What each parameter's memory and what its addresses lead to were predicted to be, and were."""
    named = {write.through for write in report.indirect_writes}
    through = named.union(*(r.through for r in good))
    found = []
    for p in report.parameters:
        if p.kind not in _ADDRESSED:
            continue
        predicted, when = p.mutation, p.when
        if predicted is Mutation.UNWRITTEN and any(p.name in variant.written for variant in job.variants):
            predicted, when = Mutation.CONDITIONAL, ("launched as recorded",)  # which the spec's lists leave out
        seen = [r.run for r in good if p.name in r.changed or p.name in r.leaked]
        outside = [run for run in seen if p.name not in job.variant_of(run).written]
        found.append(_parameter(p, job, predicted, when, seen, outside))
    for p in report.parameters:
        if p.name in through:
            predicted = Mutation.WRITTEN if p.name in named else Mutation.UNWRITTEN
            seen = [r.run for r in good if p.name in r.through]
            outside = [run for run in seen if p.name not in job.variant_of(run).through]
            found.append(replace(_parameter(p, job, predicted, (), seen, outside), through=True))
    return tuple(found)


def _parameter(parameter: ParameterReport, job: Job, predicted: Mutation, when: tuple[str, ...], seen: list[int],
               outside: list[int]) -> ParameterOutcome:
    """`seen` are the runs that showed a write, `outside` those among them whose variant was predicted to make none."""
    agreement = agreed(predicted is not Mutation.UNWRITTEN and not outside, bool(seen))
    first = job.runs[(outside or seen)[0]] if seen else None
    return ParameterOutcome(parameter.name, parameter.type, predicted, when, agreement, len(seen), first=first)


def agreed(may: bool, seen: bool) -> Agreement:
    """How the prediction that something may be written, or is not, fared."""
    if seen:
        return Agreement.CONFIRMED if may else Agreement.MISSED
    return Agreement.UNCONFIRMED if may else Agreement.UNTOUCHED


def said_of(finished: Finished, runs: Sequence[RunResult], good: Sequence[RunResult]) -> dict[str, Any]:
    """What is said of whatever was run: the runs that count, of which the `good` ones gave something to compare."""
    counts = Counter((r.status, r.message) for r in runs if r.status != "ok")
    outside: Counter[str] = Counter()
    for result in good:
        outside.update(result.outside)
    problems = sorted(((*said, count) for said, count in counts.most_common()), key=lambda one: one[:2] == LEFT_OUT)
    return {"compared": len(good), "outside": tuple(sorted(outside.items())), "refused": finished.refused,
            "problems": tuple(problems)}


def _largest(good: list[RunResult]) -> tuple[Difference, ...]:
    """Per output, the run on clones that was furthest from the run in place."""
    found: dict[str, Difference] = {}
    for result in good:
        for apart in result.differences:
            if apart.parameter not in found or apart.largest > found[apart.parameter].largest:
                found[apart.parameter] = apart
    return tuple(found[name] for name in sorted(found))
