"""Holds what a kernel's runs showed against its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from triton_mutlint.types import KernelReport, Mutation, ParameterKind, ParameterReport
from triton_mutlint.verify.model import Agreement, KernelOutcome, Outcome, ParameterOutcome, Subject
from triton_mutlint.verify.wire import Difference, Finished, Job, RunResult

_ADDRESSED = (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)


def outcome_of(subject: Subject[KernelReport, Job], finished: Finished | None, device: str) -> KernelOutcome:
    """The outcome of one kernel; `finished` is None where nothing was run."""
    report, job = subject.report, subject.job
    if job is None or finished is None:
        outcome = Outcome.NO_VERDICT if report.failure is not None else Outcome.NOT_RUN
        return KernelOutcome(report.name, report.location, outcome, device, refused=subject.refused,
                             failure=report.failure)
    good = [_trusted(r, device) for r in finished.results if r.status == "ok"]
    parameters = _parameters(report, job, good)
    leaked = sorted({name for r in good for name in r.leaked if name not in job.variant_of(r.run).written})
    failed = bool(leaked) or any(p.agreement is Agreement.MISSED for p in parameters)
    outcome = Outcome.FAILED if failed else Outcome.RAN if good else Outcome.NOT_RUN
    return KernelOutcome(
        report.name, report.location, outcome, device, parameters if good else (), len(job.runs),
        **said_of(finished, finished.results, good), leaked=tuple(leaked), differences=_largest(good),
        read_outside=sum(r.read_outside for r in good))


def _trusted(result: RunResult, device: str) -> RunResult:
    """On a GPU a write beside one tensor may have hit another: such a run shows nothing unexpected for certain."""
    if device == "cpu" or not result.outside:
        return result
    return replace(result, changed=(), through=(), leaked=(), differences=())


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
    left_out = (("skipped", "left out after those", finished.given_up),) if finished.given_up else ()
    outside: Counter[str] = Counter()
    for result in good:
        outside.update(result.outside)
    return {"compared": len(good), "outside": tuple(sorted(outside.items())), "refused": finished.refused,
            "problems": (*((status, message, count) for (status, message), count in counts.most_common()), *left_out)}


def _largest(good: list[RunResult]) -> tuple[Difference, ...]:
    """Per output, the run on clones that was furthest from the run in place."""
    found: dict[str, Difference] = {}
    for result in good:
        for apart in result.differences:
            if apart.parameter not in found or apart.largest > found[apart.parameter].largest:
                found[apart.parameter] = apart
    return tuple(found[name] for name in sorted(found))
