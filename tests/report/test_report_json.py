from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from tests.helpers.report_samples import ADD_KERNEL, BROKEN_KERNEL, FULL, NORM_KERNEL, SAMPLES, SIMPLE, many
from triton_mutlint.report import json as json_report
from triton_mutlint.types import Declaration, HostEffect, Location, OpArgument, OpMutation, OpReport, Report

SCHEMA = json.loads((Path(json_report.__file__).parent / "schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def rendered(report: Report) -> dict[str, object]:
    document = json.loads(json_report.render(report))
    VALIDATOR.validate(document)
    return document


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", SAMPLES)
def test_golden(name: str, golden) -> None:
    text = json_report.render(SAMPLES[name])
    VALIDATOR.validate(json.loads(text))
    golden(f"{name}.json", text)


def test_the_contract_names_every_field_in_order() -> None:
    document = rendered(SIMPLE)
    assert list(document) == [
        "schema_version", "tool", "environment", "kernels", "ops", "findings", "summary",
    ]  # fmt: skip
    (kernel,) = document["kernels"]
    assert list(kernel) == [
        "name", "file", "line", "column", "status", "signature_origin", "variants", "parameters", "mutated",
        "unknown", "indirect_writes", "opaque_ops", "unanalyzable_ops",
    ]  # fmt: skip
    assert kernel["mutated"] == ["output_ptr"]
    assert kernel["parameters"][2] == {
        "name": "output_ptr", "index": 2, "kind": "pointer", "type": "*fp32:16", "inferred": False,
        "mutation": "written", "when": [], "reads": False, "writes": True, "atomics": False,
        "accesses": [
            {
                "kind": "write", "op": "tt.store", "file": "kernels.py", "line": 16, "column": 5,
                "path": [{"function": "add_kernel", "file": "kernels.py", "line": 16}],
            }
        ],
    }  # fmt: skip


def test_a_failed_kernel_has_an_error_and_no_half_verdict() -> None:
    partly = replace(BROKEN_KERNEL, parameters=ADD_KERNEL.parameters, opaque_ops=NORM_KERNEL.opaque_ops)
    (kernel,) = rendered(replace(SIMPLE, kernels=(partly,)))["kernels"]
    assert kernel["status"] == "failed"
    assert list(kernel["error"]) == ["stage", "message", "file", "line"]
    assert (kernel["error"]["stage"], kernel["error"]["line"]) == ("lower", 22)
    assert kernel["parameters"] == kernel["mutated"] == kernel["opaque_ops"] == []
    assert kernel["signature_origin"] is None


def test_a_failure_without_a_place_stands_at_its_kernel() -> None:
    vague = replace(BROKEN_KERNEL, failure=replace(BROKEN_KERNEL.failure, location=None))
    (kernel,) = rendered(replace(SIMPLE, kernels=(vague,)))["kernels"]
    assert (kernel["error"]["file"], kernel["error"]["line"]) == ("kernels.py", 20)


def test_kernels_are_sorted_by_file_line_and_name() -> None:
    names = [kernel["name"] for kernel in rendered(many(40))["kernels"]]
    assert names == [f"k{i}" for i in range(40)]


def test_odd_names_survive() -> None:
    kernel = replace(ADD_KERNEL, name="größe", location=Location("\udcff\n.py", 1))
    text = json_report.render(replace(SIMPLE, kernels=(kernel,)))
    assert text.isascii()
    assert json.loads(text)["kernels"][0]["file"] == "\udcff\n.py"


def test_summary_counts_only_what_is_not_suppressed() -> None:
    assert rendered(FULL)["summary"] == {
        "files": 2, "kernels": 3, "analyzed": 2, "failed": 1, "errors": 2, "warnings": 1,
    }  # fmt: skip


OPS_PLACE = Location("ops.py", 3)


OP = OpReport(
    "ns::op", "custom_op", OPS_PLACE, Declaration(("out",), OPS_PLACE),
    (OpArgument("x", 0, OpMutation.MAYBE), OpArgument("out", 1, OpMutation.WRITTEN)), ("add_kernel",),
)  # fmt: skip


def test_ops_follow_the_contract() -> None:
    document = rendered(replace(SIMPLE, ops=(OP,)))
    assert document["ops"] == [
        {
            "name": "ns::op", "file": "ops.py", "line": 3, "declared": ["out"], "mutated": ["out"],
            "maybe": ["x"], "unknown": [], "kernels": ["add_kernel"], "complete": True, "incomplete": [],
        }
    ]  # fmt: skip


def test_an_op_that_is_not_complete_says_what_was_not_followed() -> None:
    gap = HostEffect(Location("ops.py", 7, 5), "`vendor.finish` is not known", call="vendor.finish")
    (shown,) = rendered(replace(SIMPLE, ops=(replace(OP, gaps=(gap,)),)))["ops"]
    assert not shown["complete"]
    assert shown["incomplete"] == [
        {"reason": "`vendor.finish` is not known", "call": "vendor.finish", "file": "ops.py", "line": 7},
    ]


def test_a_declaration_that_is_not_known_is_null() -> None:
    computed = replace(OP, declaration=Declaration(None, OPS_PLACE))
    assert rendered(replace(SIMPLE, ops=(computed,)))["ops"][0]["declared"] is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 2),
        (("kernels", 0, "status"), "done"),
        (("kernels", 0, "surprise"), 1),
        (("kernels", 0, "error"), {"stage": "load", "message": "", "file": "", "line": 1}),
        (("kernels", 0, "line"), 0),
        (("kernels", 0, "signature_origin"), None),
        (("kernels", 0, "parameters", 0, "mutation"), "maybe"),
        (("findings", 0, "severity"), "off"),
    ],
)
def test_the_schema_refuses(path: tuple[str | int, ...], value: object) -> None:
    document = json.loads(json_report.render(replace(SIMPLE, findings=FULL.findings)))
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    assert not VALIDATOR.is_valid(document)
