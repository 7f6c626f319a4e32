"""One run of `verify`: analyse, run, compare; and a script that shows a failure again."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from pprint import pformat

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
from triton_mutlint.verify.jobs import Cases, cases_of, run_jobs, subject_of
from triton_mutlint.verify.model import Agreement, KernelOutcome, Outcome, ParameterOutcome, VerifyReport, VerifySubject
from triton_mutlint.verify.wire import Difference, Finished, Job, RunCase, RunResult, Settings
from triton_mutlint.version import __version__


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
    subjects: list[tuple[VerifySubject, tuple[Path, ...]]] = []
    for file in files:
        for kernel, report in file.reports:
            subject = VerifySubject(report)
            if kernel is not None:
                cases = run.answers.get((kernel.location, kernel.name), Cases())
                subject = subject_of(kernel, report, cases, settings, run.specs)
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


_ADDRESSED = (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)


def outcome_of(subject: VerifySubject, finished: Finished | None, device: str) -> KernelOutcome:
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
    outside: Counter[str] = Counter()
    for result in good:
        outside.update(result.outside)
    return KernelOutcome(
        report.name, report.location, outcome, device, parameters if good else (), len(job.runs), len(good),
        problems_of(finished.results, finished.given_up), tuple(sorted(outside.items())), finished.refused,
        read_outside=sum(r.read_outside for r in good), leaked=tuple(leaked), differences=_largest(good),
        seconds=sum(r.seconds for r in finished.results),
    )


def _trusted(result: RunResult, device: str) -> RunResult:
    """On a GPU a write beside one tensor may have hit another: such a run shows nothing unexpected for certain."""
    if device == "cpu" or not result.outside:
        return result
    return replace(result, changed=(), through=(), leaked=(), differences=())


def failing_run(job: Job, outcome: KernelOutcome, finished: Finished) -> RunCase | None:
    """The first run that shows the failure of `outcome`."""
    for result in finished.results:
        missed = {*result.changed, *result.leaked} - set(job.variant_of(result.run).written)
        through = set(result.through) - set(job.variant_of(result.run).through)
        if result.status == "ok" and (missed | through) & {*outcome.missed, *outcome.leaked}:
            return job.runs[result.run]
    return None


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
    may = predicted is not Mutation.UNWRITTEN and not outside
    if seen:
        agreement = Agreement.CONFIRMED if may else Agreement.MISSED
    else:
        agreement = Agreement.UNCONFIRMED if may else Agreement.UNTOUCHED
    first = job.runs[(outside or seen)[0]] if seen else None
    return ParameterOutcome(parameter.name, parameter.type, predicted, when, agreement, len(seen), first=first)


def problems_of(results: Sequence[RunResult], given_up: int) -> tuple[tuple[str, str, int], ...]:
    """The runs that gave nothing, as (status, message, how many)."""
    counts = Counter((r.status, r.message) for r in results if r.status != "ok")
    left_out = (("skipped", "left out after those", given_up),) if given_up else ()
    return (*((status, message, count) for (status, message), count in counts.most_common()), *left_out)


def _largest(good: list[RunResult]) -> tuple[Difference, ...]:
    """Per output, the run on clones that was furthest from the run in place."""
    found: dict[str, Difference] = {}
    for result in good:
        for apart in result.differences:
            if apart.parameter not in found or apart.largest > found[apart.parameter].largest:
                found[apart.parameter] = apart
    return tuple(found[name] for name in sorted(found))


SCRIPT = '''\
"""{title} (triton-mutlint {version}). Run it: it needs triton-mutlint, torch and NumPy.

{what}
"""

from {module} import replay
{imports}

JOB = {job}
{rest}
if __name__ == "__main__":
    raise SystemExit(replay({arguments}))
'''


def write_reproducer(job: Job, case: RunCase | None, sources: tuple[Path, ...], outcome: KernelOutcome,
                     output: Path | None) -> str:
    """Write the script and return its path. Raises UsageError where that cannot be done.

    It goes into `output`, or beside the kernel's file.
    """
    names = ", ".join(dict.fromkeys((*outcome.missed, *outcome.leaked)))
    what = f"`{job.kernel}` of {job.display} writes {names}: {case}." if case else f"`{job.kernel}` writes {names}."
    root = Path(os.path.commonpath([str(p.parent if not p.is_dir() else p) for p in sources]))
    texts = {str(p.relative_to(root)): p.read_text(encoding="utf-8", errors="replace") for p in sources if p.is_file()}
    texts[str(Path(job.path).relative_to(root))] = job.text
    only = replace(job, path=str(Path(job.path).relative_to(root)), text="", runs=(case,) if case else job.runs)
    script = SCRIPT.format(
        title="A write that was not predicted", version=__version__, what=what.replace('"""', "'''"), module=__name__,
        imports="from triton_mutlint.verify.wire import Job, RunCase, Settings, VariantCase",
        job=pformat(only, width=118), rest=f"SOURCES = {pformat(texts, width=118)}\n", arguments="SOURCES, JOB")
    return write_script(output or Path(job.path).parent, job.kernel, job.line, script)


def write_script(folder: Path, name: str, line: int, script: str) -> str:
    """Write the script that shows what `name`, in `line` of its file, does. Raises UsageError where it cannot be."""
    path = folder / f"mutlint_{re.sub(r'[^A-Za-z0-9_]', '_', name)}_{line}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return str(path)


def replay(sources: dict[str, str], job: Job) -> int:
    """Run what a reproducer holds, and print what its run showed; 1 if it shows a failure again."""
    with tempfile.TemporaryDirectory(prefix="mutlint-") as name:
        for relative, text in sources.items():
            path = Path(name) / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        path = Path(name) / job.path
        there = replace(job, path=str(path), text=path.read_text(encoding="utf-8"))
        finished = run_jobs([there])[0]
    lines = [line for result in finished.results for line in _shown(job, result)]
    print("\n".join(lines or [finished.refused or "nothing ran"]))  # noqa: T201 - a script's result
    return int(any("not predicted" in line for line in lines))


def _shown(job: Job, result: RunResult) -> list[str]:
    run, variant = job.runs[result.run], job.variant_of(result.run)
    if result.status != "ok":
        return [f"{run}: {result.status}: {result.message}"]
    told = (
        (result.changed, variant.written, "written"),
        (result.leaked, variant.written, "written though only clones were passed"),
        (result.through, variant.through, "written through"),
    )
    lines = [f"{run}: {name} is {what}{'' if name in predicted else ', which was not predicted'}"
             for names, predicted, what in told for name in names]
    return lines or [f"{run}: nothing is written"]
