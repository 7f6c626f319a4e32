"""The way from a kernel's parameter to the place where it is written, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.report import order
from triton_mutlint.types import Access, AccessKind, Finding, KernelReport, Location

Step = tuple[str, Location]
LIMIT = 10  # flows of one finding


def flows(finding: Finding, kernels: Sequence[KernelReport]) -> list[list[Step]]:
    """A flow per write that the finding is about: those at its place, else all of its parameter."""
    kernel = _kernel(finding, kernels)
    if kernel is None or finding.parameter is None:
        return []
    found = [a for p in kernel.parameters if p.name == finding.parameter for a in order.accesses(p.accesses)]
    writes = [a for a in found if a.kind is not AccessKind.READ]
    chosen = [a for a in writes if a.location == finding.location] or writes
    return [_flow(finding.parameter, kernel, access) for access in chosen[:LIMIT]]


def _kernel(finding: Finding, kernels: Sequence[KernelReport]) -> KernelReport | None:
    """The kernel a finding names; of several in a file, the last that starts before the finding."""
    named = [k for k in kernels if k.name == finding.kernel]
    here = [k for k in named if k.location.file == finding.location.file]
    before = [k for k in here if k.location.line <= finding.location.line]
    if before:
        return max(before, key=lambda k: k.location.line)
    return next(iter(here or named), None)


def _flow(parameter: str, kernel: KernelReport, access: Access) -> list[Step]:
    steps: list[Step] = [(f"parameter {parameter} of {kernel.name}", kernel.location)]
    for caller, callee in zip(access.path, access.path[1:], strict=False):
        steps.append((f"{caller.function} calls {callee.function}", Location(caller.file, caller.line)))
    verb = "updated atomically" if access.kind is AccessKind.ATOMIC else "written"
    return [*steps, (f"{parameter} is {verb} by {access.op}", access.location)]
