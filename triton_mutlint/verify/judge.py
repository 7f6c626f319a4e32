"""Holds what runs showed against what was predicted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from triton_mutlint.types import KernelReport, Mutation, ParameterKind, ParameterReport
from triton_mutlint.verify.model import Agreement, Finished, KernelOutcome, Outcome, ParameterOutcome, Subject
from triton_mutlint.verify.wire import Difference, Job, RunCase, RunResult

_ADDRESSED = (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)


def outcome_of(subject: Subject, finished: Finished | None, device: str) -> KernelOutcome:
    """The outcome of one kernel; `finished` is None where nothing was run."""
    report, job = subject.report, subject.job
    if job is None or finished is None:
        outcome = Outcome.NO_VERDICT if report.failure is not None else Outcome.NOT_RUN
        return KernelOutcome(report.name, report.location, outcome, device, refused=subject.refused,
                             failure=report.failure)
    good = [_trusted(r, device) for r in finished.results if r.status == "ok"]
    parameters = _parameters(report, job, good)
    leaked = sorted({name for r in good for name in r.leaked if name not in _changed_as_predicted(job, r)})
    failed = bool(leaked) or any(p.agreement is Agreement.MISSED for p in parameters)
    outcome = Outcome.FAILED if failed else Outcome.RAN if good else Outcome.NOT_RUN
    outside: Counter[str] = Counter()
    for result in good:
        outside.update(result.outside)
    return KernelOutcome(
        report.name, report.location, outcome, device, parameters if good else (), len(job.runs), len(good),
        _problems(finished), tuple(sorted(outside.items())), sum(r.read_outside for r in good), tuple(leaked),
        _largest(good), finished.refused, seconds=sum(r.seconds for r in finished.results),
    )


def _trusted(result: RunResult, device: str) -> RunResult:
    """On a GPU a write beside one tensor may have hit another: such a run shows nothing unexpected for certain."""
    if device == "cpu" or not result.outside:
        return result
    return replace(result, changed=(), through=(), leaked=(), differences=())


def failing_run(job: Job, outcome: KernelOutcome, finished: Finished) -> RunCase | None:
    """The first run that shows the failure of `outcome`."""
    for result in finished.results:
        missed = {*result.changed, *result.leaked} - set(_predicted(job, result))
        through = set(result.through) - set(job.variants[job.runs[result.run].variant].through)
        if result.status == "ok" and (missed | through) & {*outcome.missed, *outcome.leaked}:
            return job.runs[result.run]
    return None


def _predicted(job: Job, result: RunResult) -> tuple[str, ...]:
    return job.variants[job.runs[result.run].variant].written


_changed_as_predicted = _predicted


def _parameters(report: KernelReport, job: Job, good: list[RunResult]) -> tuple[ParameterOutcome, ...]:
    found = [_parameter(p, job, good) for p in report.parameters if p.kind in _ADDRESSED]
    named = {write.through for write in report.indirect_writes}
    through = {name for r in good for name in r.through}
    by_name = {p.name: p for p in report.parameters}
    found += [_through(by_name[n], n in named, job, good) for n in by_name if n in named | through]
    return tuple(found)


def _parameter(parameter: ParameterReport, job: Job, good: list[RunResult]) -> ParameterOutcome:
    seen = [r for r in good if parameter.name in r.changed or parameter.name in r.leaked]
    outside = [r for r in seen if parameter.name not in _predicted(job, r)]
    predicted, when = parameter.mutation, parameter.when
    if predicted is Mutation.UNWRITTEN and any(parameter.name in variant.written for variant in job.variants):
        predicted, when = Mutation.CONDITIONAL, ("launched as recorded",)  # a launch that the spec's lists leave out
    may = predicted is not Mutation.UNWRITTEN
    return ParameterOutcome(parameter.name, parameter.type, predicted, when,
                            _agreement(may and not outside, bool(seen)), len(seen),
                            first=job.runs[(outside or seen)[0].run] if seen else None)


def _through(parameter: ParameterReport, named: bool, job: Job, good: list[RunResult]) -> ParameterOutcome:
    seen = [r for r in good if parameter.name in r.through]
    outside = [r for r in seen if parameter.name not in job.variants[job.runs[r.run].variant].through]
    predicted = Mutation.WRITTEN if named else Mutation.UNWRITTEN
    return ParameterOutcome(parameter.name, parameter.type, predicted, (),
                            _agreement(named and not outside, bool(seen)), len(seen), through=True,
                            first=job.runs[(outside or seen)[0].run] if seen else None)


def _agreement(may: bool, seen: bool) -> Agreement:
    if seen:
        return Agreement.CONFIRMED if may else Agreement.MISSED
    return Agreement.UNCONFIRMED if may else Agreement.UNTOUCHED


def _problems(finished: Finished) -> tuple[tuple[str, str, int], ...]:
    counts = Counter((r.status, r.message) for r in finished.results if r.status != "ok")
    if finished.given_up:
        counts["skipped", "left out after those"] += finished.given_up
    return tuple((status, message, count) for (status, message), count in counts.most_common())


def _largest(good: list[RunResult]) -> tuple[Difference, ...]:
    """Per output, the run on clones that was furthest from the run in place."""
    found: dict[str, Difference] = {}
    for result in good:
        for apart in result.differences:
            if apart.parameter not in found or apart.largest > found[apart.parameter].largest:
                found[apart.parameter] = apart
    return tuple(found[name] for name in sorted(found))
