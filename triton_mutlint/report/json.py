"""The JSON report: a contract, versioned apart from the internal types and held by schema.json."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum
from typing import Any

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import summarize
from triton_mutlint.types import Access, Finding, KernelReport, Location, OpReport, ParameterReport, Report, Status
from triton_mutlint.version import __version__

SCHEMA_VERSION = 1
_TORCH = "variants missed pessimistic gave_up fuses_epilogue"


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The whole report as JSON text that ends with a newline; equal reports give equal bytes."""
    return json.dumps(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as plain JSON values."""
    targets = [_fields(target, "backend arch warp_size origin") for target in report.environment.targets]
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "triton-mutlint", "version": __version__},
        "environment": {"triton": report.environment.triton, "targets": targets},
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "ops": [_op(op) for op in report.ops],
        "findings": [_finding(finding) for finding in report.findings],
        "summary": _fields(summarize(report), "files kernels analyzed failed errors warnings"),
    }


def _fields(record: object, names: str) -> dict[str, Any]:
    """Fields of a record that have the same name in the report."""
    return {name: _plain(getattr(record, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _place(location: Location) -> dict[str, Any]:
    return _fields(location, "file line column")


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    """A failed kernel has its error and nothing else: half a verdict must not pass for one."""
    failed = kernel.status is Status.FAILED
    if failed:
        kernel = replace(kernel, parameters=(), indirect_writes=(), opaque_ops=(), unanalyzable_ops=())
    return {
        "name": kernel.name,
        **_place(kernel.location),
        "status": kernel.status.value,
        **({"error": _error(kernel)} if failed else {}),
        "signature_origin": _plain(kernel.origin),
        "variants": {"analyzed": kernel.analyzed_variants, "total": kernel.total_variants},
        "parameters": [_parameter(parameter) for parameter in kernel.parameters],
        **_fields(kernel, "mutated unknown"),
        "indirect_writes": [
            {**_fields(w, "through via op"), **_place(w.location)} for w in kernel.indirect_writes],
        "opaque_ops": [
            {**_fields(op, "op detail pure effect parameters"), **_place(op.location)}
            for op in kernel.opaque_ops],
        "unanalyzable_ops": [
            {**_fields(op, "op detail reason parameters"), **_place(op.location)}
            for op in kernel.unanalyzable_ops],
        **({"torch": _fields(kernel.torch, _TORCH)} if kernel.torch else {}),
    }


def _error(kernel: KernelReport) -> dict[str, Any]:
    failure = kernel.failure
    assert failure is not None, "a failed kernel carries its failure"
    return {**_fields(failure, "stage message"), **_fields(failure.location or kernel.location, "file line")}


def _parameter(parameter: ParameterReport) -> dict[str, Any]:
    return {
        **_fields(parameter, "name index kind type inferred mutation when reads writes atomics"),
        "accesses": [_access(access) for access in parameter.accesses],
    }


def _access(access: Access) -> dict[str, Any]:
    path = [_fields(frame, "function file line") for frame in access.path]
    return {**_fields(access, "kind op"), **_place(access.location), "path": path}


def _op(op: OpReport) -> dict[str, Any]:
    return {
        "name": op.name,
        **_fields(op.location, "file line"),
        "declared": _plain(op.declaration.names),
        **_fields(op, "mutated maybe unknown kernels complete"),
        "incomplete": [{"reason": gap.text, "call": gap.call, **_fields(gap.location, "file line")} for gap in op.gaps],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **_fields(finding, "rule name severity message"),
        **_place(finding.location),
        **_fields(finding, "kernel op parameter suppressed"),
    }
