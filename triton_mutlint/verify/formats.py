"""What `verify` found as JSON, a contract held by schema.json beside this file, and as JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from triton_mutlint.basics import flat
from triton_mutlint.report.json import fields, plain
from triton_mutlint.report.junit import document, token
from triton_mutlint.verify.model import Agreement, Outcome, ParameterOutcome, Verified, VerifyReport, tally
from triton_mutlint.verify.text import call_text
from triton_mutlint.version import __version__

SCHEMA_VERSION = 1
_ARGUMENT = "name declared predicted agreement seen is_same first not_reached in_backward"


def as_json(report: VerifyReport) -> str:
    """The whole report as JSON text that ends with a newline; it holds no times."""
    return json.dumps(as_document(report), indent=2) + "\n"


def as_document(report: VerifyReport) -> dict[str, Any]:
    """The report as plain JSON values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "triton-mutlint", "version": __version__},
        "environment": {"triton": report.triton, "device": report.device},
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "ops": [_op(op) for op in report.ops],
        "failures": [{"argument": name, **fields(failure, "stage message")} for name, failure in report.failures],
        "summary": summary(report),
    }


def summary(report: VerifyReport) -> dict[str, int]:
    """How many kernels ran and how many predictions held."""
    counts = tally(report.outcomes)
    return {
        "kernels": len(report.kernels),
        "ops": len(report.ops),
        **{one.value.replace(" ", "_"): counts[one] for one in (*Outcome, *Agreement)},
    }


def _kernel(kernel: Verified) -> dict[str, Any]:
    return {
        **_told(kernel, "file line column"),
        "parameters": [_parameter(parameter) for parameter in kernel.parameters],
        "problems": _problems(kernel),
        "out_of_bounds": {"reads": kernel.read_outside,
                          "writes": [{"parameter": name, "count": count} for name, count in kernel.outside]},
        "equivalence": {"changed_originals": plain(kernel.leaked), "differences": plain(kernel.differences)},
        "refused": kernel.refused or None,
        "error": kernel.failure and fields(kernel.failure, "stage message"),
        "reproducer": kernel.reproducer or None,
    }


def _op(op: Verified) -> dict[str, Any]:
    return {
        **_told(op, "file line"),
        "is_model": op.kind == "model",
        "arguments": [fields(a, _ARGUMENT) for a in op.parameters],
        "disagreements": [{**plain(d), "rule": d.rule or None} for d in op.disagreements],
        "problems": _problems(op),
        "paths": [{**plain(p), "rule": p.rule or None} for p in op.paths],
        "findings": plain(op.findings),
        "refused": op.refused or None,
        "reproducer": op.reproducer or None,
    }


def _told(one: Verified, place: str) -> dict[str, Any]:
    """What became of a kernel or op."""
    return {"name": one.name, **fields(one.location, place), "outcome": one.outcome.value,
            "runs": {"planned": one.runs, "compared": one.compared}}


def _problems(one: Verified) -> list[dict[str, Any]]:
    return [{"status": status, "message": message, "runs": count} for status, message, count in one.problems]


def _parameter(parameter: ParameterOutcome) -> dict[str, Any]:
    return {
        **fields(parameter, "name type"), "through_addresses": parameter.through,
        **fields(parameter, "predicted when agreement"), "observed_runs": parameter.seen,
        "first_run": parameter.first and fields(parameter.first, "variant grid fill size seed"),
    }


# --------------------------------------------------------------------------- JUnit XML


def as_junit(report: VerifyReport) -> str:
    """The report as one `testsuites` document: a suite per file, a case per kernel and op. Times are constants."""
    suites: dict[str, list[ET.Element]] = {}
    for one in report.outcomes:
        suites.setdefault(one.location.file, []).append(_case(one))
    for argument, failure in report.failures:
        case = ET.Element("testcase", {"name": "read", "classname": token(argument), "time": "0"})
        ET.SubElement(case, "error", {"message": flat(failure.message), "type": failure.stage.value})
        suites.setdefault(argument, []).append(case)
    return document({file: (cases, "") for file, cases in sorted(suites.items())})


def _case(one: Verified) -> ET.Element:
    title = f"{one.name} (line {one.location.line})"
    case = ET.Element("testcase", {"name": token(title), "classname": token(one.location.file), "time": "0"})
    if one.outcome is Outcome.FAILED:
        told = list(_shown(one))
        kind = {"message": flat(told[0].partition("\n")[0]), "type": "disagreement"}
        ET.SubElement(case, "failure", kind).text = "\n".join(told)
    elif one.outcome in (Outcome.NOT_RUN, Outcome.NO_VERDICT):
        reason = one.refused or next((message for _, message, _ in one.problems), one.outcome.value)
        ET.SubElement(case, "skipped", {"message": flat(reason)})
    return case


def _shown(one: Verified) -> Iterator[str]:
    if one.kind == "kernel":
        yield f"writes {', '.join((*one.missed, *one.leaked))}, which was not predicted"
    else:
        for d in one.disagreements:
            yield f"{f'{d.rule}: ' if d.rule else ''}{d.message}\n  with {call_text(d.given)}\n  {d.help}"
    yield one.reproducer
