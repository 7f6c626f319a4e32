"""The kernels of files with the signatures they would be analysed with; nothing is lowered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triton_mutlint.config.request import Request
from triton_mutlint.process.harmless import harmless
from triton_mutlint.run.helpers import settled
from triton_mutlint.run.plan import Specs, load_file, plan_kernel, unexpected
from triton_mutlint.source.discover import discover
from triton_mutlint.spec.bind import tuned_parameters
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.values import value_key
from triton_mutlint.types import (
    ArgType,
    Failure,
    FileResult,
    Kernel,
    Location,
    Origin,
    Plan,
    Stage,
    StageError,
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


def list_kernels(request: Request) -> tuple[ListedKernel, ...]:
    """Every kernel of the files that `request` names (and every helper, if asked), by place.

    Raises UsageError for a spec that cannot be used; other failures are rows.
    """
    config = request.config
    sources, failures = discover(
        request.arguments, request.cwd, config.exclude, root=config.root, force=config.force_exclude)
    specs = Specs(request)
    given = [(source, specs.of(source)) for source in sources]  # a wrong spec ends the run before any work
    files = settled([load_file(source, spec, request) for source, spec in given], request, specs)
    rows = [row for file in files for row in _rows(file, specs, request)]
    rows += [ListedKernel("", f.location or Location(name, 1), failure=f) for name, f in failures]
    return tuple(sorted(rows, key=lambda row: (row.location, row.name)))


def _rows(file: FileResult, specs: Specs, request: Request) -> Iterator[ListedKernel]:
    for kernel in (*file.kernels, *(file.helpers if request.helpers else ())):
        yield _row(kernel, specs, file, request)
    for name, failure in file.failures:
        yield ListedKernel(name, failure.location or Location(file.source.display, 1), failure=failure)


def _row(kernel: Kernel, specs: Specs, file: FileResult, request: Request) -> ListedKernel:
    entry, spec = specs.entry(kernel), specs.of(kernel.source)
    name = kernel.qualname or kernel.name
    try:
        with harmless():
            plan = plan_kernel(kernel, entry, spec, file, request.max_variants)
    except StageError as error:
        return ListedKernel(name, kernel.location, kernel.is_helper, failure=error.failure)
    except Exception as error:  # the kernel's own heuristics and globals run in there
        failure = unexpected(Stage.SIGNATURE, error, kernel.location)
        return ListedKernel(name, kernel.location, kernel.is_helper, failure=failure)
    return ListedKernel(
        name, kernel.location, kernel.is_helper, plan.origin, tuple(_parameters(kernel, entry, spec, plan)),
        len(plan.variants), plan.total,
    )


def _parameters(
    kernel: Kernel, entry: KernelSpec | None, spec: Spec | None, plan: Plan
) -> Iterator[ListedParameter]:
    tuned = tuned_parameters(kernel)
    for parameter in kernel.parameters:
        name = parameter.name
        reason = plan.reasons.get(name, "")
        if name in plan.inferred:
            origin = origin_of(reason)
        elif _is_in_entry(entry, name):
            origin = "spec"
        elif name in tuned:
            origin, reason = "autotune", _tuned_reason(kernel)
        elif name in kernel.heuristics:
            origin = "heuristics"
        else:
            is_value = parameter.is_constexpr
            given = spec is not None and spec.default_for(name, is_value=is_value) is not None
            origin = "spec" if given else "default"
        yield ListedParameter(name, _types([v.args[name] for v in plan.variants]), origin, reason)


def origin_of(reason: str) -> str:
    """Where a guess comes from, by the reason that inference gives for it."""
    return next((origin for start, origin in _ORIGINS if reason.startswith(start)), "usage")


def _is_in_entry(entry: KernelSpec | None, name: str) -> bool:
    """Whether the entry gives the parameter; a compact signature gives all that nothing else does."""
    return entry is not None and (entry.arg(name) is not None or entry.compact is not None)


def _tuned_reason(kernel: Kernel) -> str:
    line = kernel.autotune.line if kernel.autotune else 0
    return f"autotune configs, line {line}" if line else "autotune configs"


def _types(args: Sequence[ArgType]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(arg) for arg in {value_key(a): a for a in args}.values()))
