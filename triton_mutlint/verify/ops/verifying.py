"""One run of `verify --ops`: ops are analysed and run, and held against their declarations and against the analysis."""

from __future__ import annotations

import re
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
from triton_mutlint.types import (
    Failure,
    Finding,
    Location,
    OpArgument,
    OpMutation,
    OpReport,
    Report,
    SourceFile,
    Stage,
    StageError,
    UsageError,
)
from triton_mutlint.verify.model import (
    Agreement,
    Disagreement,
    Outcome,
    ParameterOutcome,
    PathOutcome,
    Subject,
    Verified,
    VerifyReport,
)
from triton_mutlint.verify.ops.subjects import importable, named, subject_of
from triton_mutlint.verify.running.server import run_jobs
from triton_mutlint.verify.verifying import agreed, held, require, said_of
from triton_mutlint.verify.wire import EAGER, EXHAUSTED, FAKE, ONNX, Finished, ModelJob, OpJob, RunResult, Settings

_Op = Subject[OpReport, OpJob]
_NO_FAKE = re.compile(r"no fake impl|UnsupportedOperator|no meta", re.IGNORECASE)
_NO_DRIVER = re.compile(r".*(0 active drivers|could not find .*libcuda|No CUDA|NVIDIA driver).*", re.DOTALL)
_NEEDS_GPU = "it compiles the ops' kernels, which needs a GPU"
_ASKS_DATA = re.compile(r"data[- ]?dependent|Cannot access data pointer|\.item\(\)", re.IGNORECASE)


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
    last = {subject.report.name: subject for subject in subjects}  # as which an op is called that is registered again
    subjects = [one if last[one.report.name] is one else
                Subject(one.report, refused="it is registered again, and that one is called") for one in subjects]
    outcomes = tuple(held(subjects, outcome_of, settings, output, progress))
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
    ways = (*(path for path in paths if path != FAKE), *([ONNX] if known else []))
    display = display_path(file, request.cwd)
    job = ModelJob(name=f"{module}:{factory}", display=display, line=1, runs=ways, module=module,
                   roots=(str(root), str(request.cwd)), factory=factory, settings=settings)
    (finished,) = run_jobs([job], progress)
    outcome = model_outcome(model, Location(display, 1), job, finished, report.findings)
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


# --------------------------------------------------------------------------- what runs showed of an op


def outcome_of(subject: _Op, finished: Finished | None, device: str) -> Verified:
    """The outcome of one op; `finished` is None where nothing was run."""
    op, job = subject.report, subject.job
    if job is None or finished is None:
        return Verified(op.name, op.location, Outcome.NOT_RUN, device, refused=subject.refused, kind="op")
    eager = [r for r in finished.results if job.runs[r.run] == EAGER]
    good = [r for r in eager if r.status == "ok"]
    arguments = tuple(_argument(argument, op, job, good) for argument in op.arguments)
    paths = tuple(_path(op, job.runs[r.run], r) for r in finished.results if job.runs[r.run] != EAGER)
    disagreements = tuple(dict.fromkeys((*_disagreements(op, arguments, good), *_apart(paths))))
    outcome = Outcome.FAILED if disagreements else Outcome.RAN if good else Outcome.NOT_RUN
    runs = [r if r.status != "ok" or not r.message else replace(r, status="error") for r in eager
            if r.status != EXHAUSTED]
    return Verified(op.name, op.location, outcome, device, arguments if good else (), len(eager),
                    **said_of(finished, runs, good), disagreements=disagreements, paths=paths, kind="op")


def model_outcome(name: str, place: Location, job: ModelJob, finished: Finished,
                  findings: Sequence[Finding]) -> Verified:
    """The outcome of a model: its paths, and the findings on its ops; those on the op after which values part first."""
    paths = tuple(PathOutcome(job.runs[r.run], r.status, _NO_DRIVER.sub(_NEEDS_GPU, r.message), given=r.given)
                  for r in finished.results)
    apart = [p for p in paths if p.status == "differs"]
    named = [str((p.given or {}).get("op", "")) for p in apart]
    about = sorted((f for f in findings if f.op), key=lambda f: f.op not in named)
    told = tuple(f"{f.location.file}:{f.location.line}: {f.message} ({f.rule})" for f in about)
    disagreements = [Disagreement("", f"{p.name}: {p.message}", "") for p in apart]
    if told and disagreements:
        disagreements[0] = replace(disagreements[0], help=f"see first: {'; '.join(told)}")
    outcome = Outcome.FAILED if apart else Outcome.NOT_RUN if finished.refused else Outcome.RAN
    return Verified(name, place, outcome, job.settings.device, disagreements=tuple(disagreements), paths=paths,
                    refused=finished.refused, findings=told, kind="model")


def _argument(argument: OpArgument, op: OpReport, job: OpJob, good: Sequence[RunResult]) -> ParameterOutcome:
    seen = [r for r in good if argument.name in (*r.changed, *r.same)]
    names = op.declaration.names
    may, known = argument.mutation is not OpMutation.UNWRITTEN, argument.mutation is not OpMutation.UNKNOWN
    places = {(effect.location.file, effect.location.line) for effect in argument.effects}
    reached = {job.places[number] for r in good for number in r.reached}
    missed = tuple(sorted(f"{file}:{line}" for file, line in places
                          if not any(path.endswith(file) and at == line for path, at in reached)))
    return ParameterOutcome(
        argument.name, "", argument.mutation, (), agreed(may, bool(seen)), len(seen),
        first=seen[0].given if seen else None,
        declared=None if names is None or op.declaration.any_may else argument.name in names,
        is_same=bool(seen) and not any(argument.name in r.changed for r in seen),
        not_reached=missed if may and known and not seen else (),
        in_backward=bool(seen) and all(argument.name in r.later for r in seen))


def _disagreements(op: OpReport, arguments: Sequence[ParameterOutcome],
                   good: Sequence[RunResult]) -> Iterator[Disagreement]:
    place = f"{op.location.file}:{op.location.line}"
    for a in arguments:
        values = " (with the values that it held)" if a.is_same else ""
        if any(a.name in r.unmarked for r in good):
            yield Disagreement("TML103", f"writes {a.name}{values} in `forward`, which it does not mark as dirty",
                               f"call `ctx.mark_dirty({a.name})` in `forward` at {place}", a.first)
        if a.declared is False and a.seen:
            yield Disagreement("TML103", f"writes {a.name}{values}, which is not declared",
                               f"declare `{a.name}` at {place}", a.first)
        if a.agreement is Agreement.MISSED:
            yield Disagreement("", f"writes {a.name}{values}, which the analysis did not predict",
                               "this is a defect of triton-mutlint: please report it", a.first)
    for name in dict.fromkeys(name for r in good for name in r.returned):
        first = next(r.given for r in good if name in r.returned)
        if op.form != "function":  # autograd makes a view of what `forward` returns of its arguments
            yield Disagreement("TML108", f"returns memory of {name}", f"return a copy, or nothing, at {place}", first)
        if not any(a.name == name and (a.returned or a.maybe_returned or op.gaps) for a in op.arguments):
            yield Disagreement("", f"returns memory of {name}, which the analysis did not predict",
                               "this is a defect of triton-mutlint: please report it", first)


def _apart(paths: Sequence[PathOutcome]) -> Iterator[Disagreement]:
    """The paths on which torch gives something else than the op itself: one that is wrong alike is told once."""
    found = [p for p in paths if p.status == "differs"]
    for p in [p for p in found if p.name == FAKE][:1]:
        yield Disagreement("TML109", p.message, "let the fake function give what the op gives", p.given)
    others = [p for p in found if p.name != FAKE]
    for p in others[:1]:
        yield Disagreement("", f"{', '.join(dict.fromkeys(p.name for p in others))}: {p.message}", "", p.given)


def _path(op: OpReport, path: str, result: RunResult) -> PathOutcome:
    message, rule = result.message, ""
    if result.status == "error" and op.unwrapped:
        kernel, at = op.unwrapped[0]
        rule, message = "TML106", f"{at.file}:{at.line} launches {kernel} without wrap_triton"
    elif result.status == "error" and _NO_FAKE.search(message):
        rule, message = "TML109", f"it has no fake function, which {path} needs: add one with `register_fake`"
    elif result.status == "error" and path == FAKE and _ASKS_DATA.search(message):
        rule, message = "TML109", f"its fake function asks for values, and has none: {message}"
    elif _NO_DRIVER.search(message):
        message = _NEEDS_GPU
    elif result.status == "differs" and path == FAKE:
        rule = "TML109"
    return PathOutcome(path, result.status, message, rule, result.given)
