"""The JSON report: a contract, versioned apart from the internal types and held by schema.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from enum import Enum
from math import isfinite
from typing import Any

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import summarize
from triton_mutlint.types import Access, KernelReport, Location, OpReport, Report, Status
from triton_mutlint.version import __version__

SCHEMA_VERSION = 1
_TORCH = "variants missed pessimistic gave_up fuses_epilogue"


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The whole report as JSON text that ends with a newline; equal reports give equal bytes."""
    return json.dumps(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as plain JSON values."""
    targets = [fields(target, "backend arch warp_size origin") for target in report.environment.targets]
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "triton-mutlint", "version": __version__},
        "environment": {"triton": report.environment.triton, "targets": targets},
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "ops": [_op(op) for op in report.ops],
        "findings": [{**fields(f, "rule name severity message"), **_place(f.location),
                      **fields(f, "kernel op parameter suppressed")} for f in report.findings],
        "summary": summarize(report),
    }


def fields(record: object, names: str) -> dict[str, Any]:
    """Fields of a record that have the same name in the report."""
    return {name: plain(getattr(record, name)) for name in names.split()}


def plain(value: Any) -> Any:
    """A value as JSON has it: a record by its fields, an infinite number as null."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {name: plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _place(location: Location) -> dict[str, Any]:
    return fields(location, "file line column")


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    """A failed kernel has its error and nothing else: half a verdict must not pass for one."""
    failed = kernel.status is Status.FAILED
    if failed:
        kernel = replace(kernel, parameters=(), indirect_writes=(), opaque_ops=(), unanalyzable_ops=())
    place = (kernel.failure and kernel.failure.location) or kernel.location
    return {
        "name": kernel.name,
        **_place(kernel.location),
        "status": kernel.status.value,
        **({"error": {**fields(kernel.failure, "stage message"), **fields(place, "file line")}} if failed else {}),
        "signature_origin": plain(kernel.origin),
        "variants": {"analyzed": kernel.analyzed_variants, "total": kernel.total_variants},
        "parameters": [{**fields(p, "name index kind type inferred mutation when reads writes atomics"),
                        "accesses": list(map(_access, p.accesses))} for p in kernel.parameters],
        **fields(kernel, "mutated unknown"),
        "indirect_writes": [
            {**fields(w, "through via op"), **_place(w.location)} for w in kernel.indirect_writes],
        "opaque_ops": [
            {**fields(op, "op detail pure effect parameters"), **_place(op.location)}
            for op in kernel.opaque_ops],
        "unanalyzable_ops": [
            {**fields(op, "op detail reason parameters"), **_place(op.location)}
            for op in kernel.unanalyzable_ops],
        **({"torch": fields(kernel.torch, _TORCH)} if kernel.torch else {}),
    }


def _access(access: Access) -> dict[str, Any]:
    path = [fields(frame, "function file line") for frame in access.path]
    return {**fields(access, "kind op"), **_place(access.location), "path": path}


def _op(op: OpReport) -> dict[str, Any]:
    return {
        "name": op.name,
        **fields(op.location, "file line"),
        "declared": plain(op.declaration.names),
        **fields(op, "mutated maybe unknown kernels complete"),
        "incomplete": [{"reason": gap.text, "call": gap.call, **fields(gap.location, "file line")} for gap in op.gaps],
    }
