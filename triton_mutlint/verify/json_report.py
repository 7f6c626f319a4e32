"""What `verify` found as JSON: a contract held by schema.json beside this file."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from triton_mutlint.types import Failure
from triton_mutlint.verify.model import Agreement, KernelOutcome, OpOutcome, Outcome, ParameterOutcome, VerifyReport
from triton_mutlint.verify.wire import Difference, RunCase
from triton_mutlint.version import __version__

SCHEMA_VERSION = 1


def render(report: VerifyReport) -> str:
    """The whole report as JSON text that ends with a newline; it holds no times."""
    return json.dumps(document(report), indent=2) + "\n"


def document(report: VerifyReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "triton-mutlint", "version": __version__},
        "environment": {"triton": report.triton, "device": report.device},
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "ops": [_op(op) for op in report.ops],
        "failures": [{"argument": name, **_failure(failure)} for name, failure in report.failures],
        "summary": summary(report),
    }


def summary(report: VerifyReport) -> dict[str, int]:
    """How many kernels ran and how many predictions held."""
    outcomes = Counter(one.outcome for one in report.outcomes)
    agreements = Counter(p.agreement for kernel in report.kernels for p in kernel.parameters)
    agreements.update(a.agreement for op in report.ops for a in op.arguments)
    return {
        "kernels": len(report.kernels),
        "ops": len(report.ops),
        **{outcome.value.replace(" ", "_"): outcomes[outcome] for outcome in Outcome},
        "confirmed": agreements[Agreement.CONFIRMED],
        "unconfirmed": agreements[Agreement.UNCONFIRMED],
        "untouched": agreements[Agreement.UNTOUCHED],
        "missed": agreements[Agreement.MISSED],
    }


def _kernel(kernel: KernelOutcome) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "file": kernel.location.file,
        "line": kernel.location.line,
        "column": kernel.location.column,
        "outcome": kernel.outcome.value,
        "runs": {"planned": kernel.runs, "compared": kernel.compared},
        "parameters": [_parameter(parameter) for parameter in kernel.parameters],
        "problems": [{"status": s, "message": m, "runs": count} for s, m, count in kernel.problems],
        "out_of_bounds": {"reads": kernel.read_outside,
                          "writes": [{"parameter": name, "count": count} for name, count in kernel.outside]},
        "equivalence": {
            "changed_originals": list(kernel.leaked),
            "differences": [_difference(apart) for apart in kernel.differences],
        },
        "refused": kernel.refused or None,
        "error": _failure(kernel.failure) if kernel.failure is not None else None,
        "reproducer": kernel.reproducer or None,
    }


def _op(op: OpOutcome) -> dict[str, Any]:
    return {
        "name": op.name,
        "file": op.location.file,
        "line": op.location.line,
        "outcome": op.outcome.value,
        "runs": {"planned": op.runs, "compared": op.compared},
        "arguments": [{**vars(a), "predicted": a.predicted.value, "agreement": a.agreement.value,
                       "first": _call(a.first), "not_reached": list(a.not_reached)} for a in op.arguments],
        "disagreements": [{**vars(d), "rule": d.rule or None, "given": _call(d.given)}
                          for d in op.disagreements],
        "problems": [{"status": s, "message": m, "runs": count} for s, m, count in op.problems],
        "paths": [{**vars(p), "rule": p.rule or None, "given": _call(p.given)} for p in op.paths],
        "refused": op.refused or None,
        "reproducer": op.reproducer or None,
    }


def _call(given: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if given is None else dict(given)


def _parameter(parameter: ParameterOutcome) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": parameter.type,
        "through_addresses": parameter.through,
        "predicted": parameter.predicted.value,
        "when": list(parameter.when),
        "agreement": parameter.agreement.value,
        "observed_runs": parameter.seen,
        "first_run": _run(parameter.first) if parameter.first is not None else None,
    }


def _difference(apart: Difference) -> dict[str, Any]:
    """An infinite difference, which JSON cannot say, is null."""
    return {**vars(apart), "largest": apart.largest if math.isfinite(apart.largest) else None}


def _run(run: RunCase) -> dict[str, Any]:
    return {"variant": run.variant, "grid": list(run.grid), "fill": run.fill, "size": run.size, "seed": run.seed}


def _failure(failure: Failure) -> dict[str, Any]:
    return {"stage": failure.stage.value, "message": failure.message}
