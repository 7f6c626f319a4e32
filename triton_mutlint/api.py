"""The Python API: analyse one kernel of a running program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.lowering.target import resolve_targets
from triton_mutlint.lowering.triton_api import column_base
from triton_mutlint.run.kernel import Tools, analyze_kernel, failed
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.run.plan import plan_kernel
from triton_mutlint.source.jit.live import kernel_of
from triton_mutlint.spec.bind import entry_of_values
from triton_mutlint.types import (
    FileResult,
    Kernel,
    KernelReport,
    Mutation,
    ParameterKind,
    ParameterReport,
    StageError,
    UsageError,
)


def analyze(kernel: Any, signature: Mapping[str, Any] | None = None, *, target: str | None = None,
            max_variants: int = 64, opaque_asm: bool = False) -> KernelReport:
    """The verdict on one kernel: which parameters it may write, and where.

    `kernel` is what `@triton.jit` (or `@triton.autotune`, `@triton.heuristics`) returned. `signature`
    maps parameters to a type in Triton's notation (`"*fp32"`), a tensor, a tensor descriptor or a plain
    value; a list gives several variants; what it leaves out is inferred. `target` is `cuda:90`,
    `hip:gfx942`, ...: by default the active GPU's, else `cuda:90`. The kernel is lowered, never run.

    A kernel that cannot be analysed gives a report with `failure` set, in which every parameter that is no
    constexpr is unknown. Raises `UsageError` for an argument that cannot be used.
    """
    if signature is not None and not isinstance(signature, Mapping):
        raise UsageError(f"signature must map parameters to types, not be {signature!r}")
    places = SourcePlaces(Path.cwd(), column_base=column_base())
    loaded = kernel_of(kernel)
    loaded = replace(loaded, location=replace(loaded.location, file=places.display(loaded.location.file)))
    entry = entry_of_values(loaded, signature or {})
    targets = resolve_targets((target,) if target else ())
    try:
        plan = plan_kernel(loaded, entry, None, FileResult(loaded.source, (loaded,)), max_variants)
        report = analyze_kernel(loaded, plan, targets, Tools(Lowerer(), places, opaque_asm))
    except StageError as error:
        report = failed(loaded, error.failure, targets)
    return report if report.failure is None else _undecided(report, loaded)


def _undecided(report: KernelReport, kernel: Kernel) -> KernelReport:
    """A failed report that nobody mistakes for one on a kernel that writes nothing."""
    parameters = tuple(
        ParameterReport(p.name, index, ParameterKind.POINTER, "?", True, Mutation.UNKNOWN)
        for index, p in enumerate(kernel.parameters) if not p.is_constexpr
    )
    return replace(report, parameters=parameters)
