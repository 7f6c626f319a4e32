"""The JSON report: a contract, versioned apart from the internal types and held by schema.json."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.summary import summarize
from triton_mutlint.types import (
    Access,
    Finding,
    IndirectWrite,
    KernelReport,
    Location,
    OpaqueOp,
    OpReport,
    ParameterReport,
    Report,
    Status,
    Target,
    UnanalyzableOp,
)
from triton_mutlint.version import __version__

SCHEMA_VERSION = 1
_NO_VERDICT: dict[str, Any] = {
    "parameters": (),
    "indirect_writes": (),
    "opaque_ops": (),
    "unanalyzable_ops": (),
}


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The whole report as JSON text that ends with a newline; equal reports give equal bytes."""
    return json.dumps(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as plain JSON values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "triton-mutlint", "version": __version__},
        "environment": {
            "triton": report.environment.triton,
            "targets": [_target(target) for target in report.environment.targets],
        },
        "kernels": [_kernel(kernel) for kernel in order.kernels(report)],
        "ops": [_op(op) for op in report.ops],
        "findings": [_finding(finding) for finding in order.findings(report)],
        "summary": _summary(report),
    }


def _summary(report: Report) -> dict[str, int]:
    counts = summarize(report)
    return {
        "files": counts.files,
        "kernels": counts.kernels,
        "analyzed": counts.analyzed,
        "failed": counts.failed,
        "errors": counts.errors,
        "warnings": counts.warnings,
    }


def _place(location: Location) -> dict[str, Any]:
    return {"file": location.file, "line": location.line, "column": location.column}


def _target(target: Target) -> dict[str, Any]:
    return {
        "backend": target.backend,
        "arch": target.arch,
        "warp_size": target.warp_size,
        "origin": target.origin,
    }


def _kernel(kernel: KernelReport) -> dict[str, Any]:
    """A failed kernel has its error and nothing else: half a verdict must not pass for one."""
    failed = kernel.status is Status.FAILED
    verdict = replace(kernel, **_NO_VERDICT) if failed else kernel
    return {
        "name": kernel.name,
        **_place(kernel.location),
        "status": kernel.status.value,
        **({"error": _error(kernel)} if failed else {}),
        "signature_origin": kernel.origin.value if kernel.origin else None,
        "variants": {"analyzed": kernel.analyzed_variants, "total": kernel.total_variants},
        "parameters": [_parameter(parameter) for parameter in verdict.parameters],
        "mutated": list(verdict.mutated),
        "unknown": list(verdict.unknown),
        "indirect_writes": [_indirect(write) for write in order.placed(verdict.indirect_writes)],
        "opaque_ops": [_opaque(op) for op in order.placed(verdict.opaque_ops)],
        "unanalyzable_ops": [_unanalyzable(op) for op in order.placed(verdict.unanalyzable_ops)],
    }


def _error(kernel: KernelReport) -> dict[str, Any]:
    failure = kernel.failure
    assert failure is not None, "a failed kernel carries its failure"
    place = failure.location or kernel.location
    return {"stage": failure.stage.value, "message": failure.message, "file": place.file, "line": place.line}


def _parameter(parameter: ParameterReport) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "index": parameter.index,
        "kind": parameter.kind.value,
        "type": parameter.type,
        "inferred": parameter.inferred,
        "mutation": parameter.mutation.value,
        "when": list(parameter.when),
        "reads": parameter.reads,
        "writes": parameter.writes,
        "atomics": parameter.atomics,
        "accesses": [_access(access) for access in order.accesses(parameter.accesses)],
    }


def _access(access: Access) -> dict[str, Any]:
    path = [{"function": f.function, "file": f.file, "line": f.line} for f in access.path]
    return {"kind": access.kind.value, "op": access.op, **_place(access.location), "path": path}


def _indirect(write: IndirectWrite) -> dict[str, Any]:
    return {"through": write.through, "via": write.via, "op": write.op, **_place(write.location)}


def _opaque(op: OpaqueOp) -> dict[str, Any]:
    return {
        "op": op.op,
        "detail": op.detail,
        "pure": op.pure,
        "effect": op.effect,
        "parameters": list(op.parameters),
        **_place(op.location),
    }


def _unanalyzable(op: UnanalyzableOp) -> dict[str, Any]:
    return {
        "op": op.op,
        "detail": op.detail,
        "reason": op.reason,
        "parameters": list(op.parameters),
        **_place(op.location),
    }


def _op(op: OpReport) -> dict[str, Any]:
    return {
        "name": op.name,
        "file": op.location.file,
        "line": op.location.line,
        "declared": None if op.declaration.names is None else list(op.declaration.names),
        "mutated": list(op.mutated),
        "unknown": list(op.unknown),
        "kernels": list(op.kernels),
        "complete": op.complete,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        **_place(finding.location),
        "kernel": finding.kernel,
        "op": finding.op,
        "parameter": finding.parameter,
        "suppressed": finding.suppressed,
    }
