"""The kernels of files with the signatures they would be analysed with; nothing is lowered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from triton_mutlint.config.request import Progress, Request, silent
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.spec.bind import tuned_parameters
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.values import distinct
from triton_mutlint.types import (
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    Location,
    Origin,
    Plan,
)

# What begins the reason of a guess -> where it comes from; what is not here comes from the body.
_ORIGINS = (
    ("annotated ", "annotation"), ("launch site ", "launch site"), ("its default is ", "default"),
    ("autotune ", "autotune"), ("by its name", "name"), ("nothing tells", "name"),
)  # fmt: skip


@dataclass(frozen=True)
class ListedParameter:
    """One parameter: its types over the variants, and where they come from.

    `origin` is "spec", "annotation", "default", "autotune", "heuristics", "launch site", "usage" or
    "name"; `reason` says more of what was inferred.
    """

    name: str
    types: tuple[str, ...]
    origin: str
    reason: str = ""


@dataclass(frozen=True)
class ListedKernel:
    """One jit function; `failure` is why it has no signature (a file's own failure has no name)."""

    name: str
    location: Location
    is_helper: bool = False
    origin: Origin | None = None
    parameters: tuple[ListedParameter, ...] = ()
    planned: int = 0
    total: int = 0
    failure: Failure | None = None


def list_kernels(request: Request, progress: Progress = silent) -> tuple[ListedKernel, ...]:
    """Every kernel of the files that `request` names (and every helper, if asked), by place.

    Raises UsageError for a spec that cannot be used; other failures are rows.
    """
    with compiling():
        sources, failures = sources_of(request)
        run = Run(request, progress)
        files = run.files(sources, request.jobs, Question(partial(_row, run), ListedKernel, of_listed=True))
    rows = []
    for file in files:
        lost = {(report.location, report.name): report.failure for _, report in file.reports}
        for kernel in file.listed if request.helpers else file.kernels:
            key = (kernel.location, kernel.name)
            row = run.answers.get(key) or ListedKernel("", kernel.location, failure=lost.get(key))
            rows.append(replace(row, name=kernel.name, location=kernel.location, is_helper=kernel.is_helper))
    unloaded = [(file.source.display, name, f) for file in files for name, f in file.failures]
    rows += [ListedKernel(name, f.location or Location(file, 1), failure=f)
             for file, name, f in (*unloaded, *((file, "", f) for file, f in failures))]
    return tuple(sorted(rows, key=lambda row: (row.location, row.name)))


def _row(run: Run, file: FileResult, kernel: Kernel, _: KernelReport) -> ListedKernel:
    specs = run.specs
    entry, spec = specs.entry(kernel), specs.of(kernel.source)
    row = ListedKernel(kernel.name, kernel.location, kernel.is_helper)
    plan = run.attempt(kernel, lambda: run.plan(file, kernel, entry))
    if isinstance(plan, Failure):
        return replace(row, failure=plan)
    return replace(row, origin=plan.origin, parameters=tuple(_parameters(kernel, entry, spec, plan)),
                   planned=len(plan.variants), total=plan.total)


def _parameters(
    kernel: Kernel, entry: KernelSpec | None, spec: Spec | None, plan: Plan
) -> Iterator[ListedParameter]:
    tuned = tuned_parameters(kernel)
    for parameter in kernel.parameters:
        name = parameter.name
        reason = plan.reasons.get(name, "")
        line = kernel.autotune.line if kernel.autotune else 0
        if name in plan.inferred:
            origin = origin_of(reason)
        elif entry is not None and (entry.arg(name) is not None or entry.compact is not None):
            origin = "spec"  # a compact signature gives all that nothing else does
        elif name in tuned:
            origin, reason = "autotune", f"autotune configs, line {line}" if line else "autotune configs"
        elif name in kernel.heuristics:
            origin = "heuristics"
        else:
            is_value = parameter.is_constexpr
            given = spec is not None and spec.default_for(name, is_value=is_value) is not None
            origin = "spec" if given else "default"
        types = dict.fromkeys(str(arg) for arg in distinct(v.args[name] for v in plan.variants))
        yield ListedParameter(name, tuple(types), origin, reason)


def origin_of(reason: str) -> str:
    """Where a guess comes from, by the reason that inference gives for it."""
    return next((origin for start, origin in _ORIGINS if reason.startswith(start)), "usage")
