"""The verdicts on the ops of fixtures/ops, held against what is true of them (ops.yaml)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.places import OPS, read_book
from triton_mutlint.config.file import load
from triton_mutlint.config.request import Request
from triton_mutlint.rules import RULES
from triton_mutlint.types import OpMutation, OpReport, Report, Severity

TRUTH: dict[str, dict[str, Any]] = read_book(OPS / "ops.yaml")
# Where the verdict is less than a person would say, and why; never a write that is missed.
COARSER = {
    "boxes::list_argument_extended": "the length of a list argument is not known, so neither is its last element",
    "classes::tensor_attribute": "what is put on a tensor as an attribute is not followed",
    "traps::numpy_function": "numpy's functions are not known",
    "traps::raw_memory": "ctypes is not known",
    "traps::same_memory_makers": "`as_tensor` copies where it converts",
    "traps::asserted_contiguous": "assertions on tensors are not followed",
    "traps::set_storage": "`set_` is not known",
}
COARSER |= {name: entry["coarser"] for name, entry in TRUTH.items() if "coarser" in entry}
NAMES = [name for name, entry in TRUTH.items() if not entry.get("opaque")]
# Of all others the verdict is the truth itself.
NOT_EXACT = [name for name in NAMES
             if name in COARSER or "accept_maybe" in TRUTH[name] or "*" in TRUTH[name]["unknown"]]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    from triton_mutlint.run.run import run

    settings = tmp_path_factory.mktemp("config") / "pyproject.toml"
    settings.write_text((OPS / "registrars.toml").read_text())
    return run(Request((".",), OPS, use_spec=False, config=load(OPS, settings)))


@pytest.fixture(scope="module")
def reports(report: Report) -> dict[tuple[str, str, int], OpReport]:
    return {(op.name, op.location.file, op.location.line): op for op in report.ops}


def key(name: str) -> tuple[str, str, int]:
    entry = TRUTH[name]
    return name.partition("#")[0], entry["file"], entry["line"]


def by(op: OpReport, mutation: OpMutation) -> set[str]:
    return {a.name for a in op.arguments if a.mutation is mutation}


def test_every_op_is_found_and_nothing_else(reports: dict[tuple[str, str, int], OpReport]) -> None:
    """One in a loop has a name that is computed, and may be left out."""
    found = set(reports)
    assert {key(name) for name, entry in TRUTH.items() if not entry.get("opaque")} <= found
    assert found <= {key(name) for name in TRUTH}


@pytest.mark.parametrize("name", NOT_EXACT)
def test_no_write_is_missed(name: str, reports: dict[tuple[str, str, int], OpReport]) -> None:
    op, entry = reports[key(name)], TRUTH[name]
    found = by(op, OpMutation.WRITTEN) | by(op, OpMutation.MAYBE) | by(op, OpMutation.UNKNOWN)
    expected = {*entry["written"], *entry["maybe"], *entry["unknown"]}
    assert expected <= found or ("*" in expected and not op.complete)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COARSER])
def test_the_verdict_is_exact(name: str, reports: dict[tuple[str, str, int], OpReport]) -> None:
    op, entry = reports[key(name)], TRUTH[name]
    if entry["unknown"] == ["*"]:
        assert not op.complete
        return
    fair = set(entry.get("accept_maybe", ()))
    assert by(op, OpMutation.WRITTEN) | fair == set(entry["written"]) | fair
    assert by(op, OpMutation.MAYBE) | fair == set(entry["maybe"]) | fair
    assert by(op, OpMutation.UNKNOWN) == set(entry["unknown"])
    assert set(op.kernels) == set(entry["kernels"])


@pytest.mark.parametrize("name", [n for n in NAMES if all(f["rule"] != "TML105" for f in TRUTH[n]["findings"])])
def test_the_declaration_is_read(name: str, reports: dict[tuple[str, str, int], OpReport]) -> None:
    declaration, expected = reports[key(name)].declaration, TRUTH[name]["declared"]
    if expected == "unknown":
        assert declaration.any_may
    else:
        assert (None if declaration.names is None else list(declaration.names)) == expected


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COARSER])
def test_the_findings_are_these(name: str, report: Report, reports: dict[tuple[str, str, int], OpReport]) -> None:
    op, entry = reports[key(name)], TRUTH[name]
    found = {
        (f.rule, None if f.rule == "TML105" else f.parameter, f.severity.value) for f in report.findings
        if f.op == op.name and f.rule != "TML106" and f.severity is not Severity.INFO
        and f.location.line in {op.location.line, op.declaration.place.line,
                                *(p.location.line for p in op.declaration.problems)}
    }  # fmt: skip
    found |= {(f.rule, None, f.severity.value) for f in report.findings if f.rule == "TML106" and f.op == op.name}
    wanted = {
        (f["rule"], None if f["rule"] == "TML105" else f["argument"],
         f.get("severity", RULES[f["rule"]].default_severity.value))
        for f in entry["findings"]
    }
    fair = {("TML103", argument, "warning") for argument in entry.get("accept_maybe", ())}
    sure = {("TML103", argument, "error") for argument in entry.get("accept_maybe", ())}
    also = set(entry.get("may_also", ()))
    missed = {item for item in wanted - found if item not in sure}
    assert (missed, {item for item in found - wanted if item[0] not in also and item not in fair}) == (set(), set())


@pytest.mark.parametrize("name", COARSER)
def test_the_coarser_verdicts_are_coarser(name: str, reports: dict[tuple[str, str, int], OpReport]) -> None:
    """An entry that became exact leaves the list."""
    op, entry = reports[key(name)], TRUTH[name]
    found = by(op, OpMutation.WRITTEN), by(op, OpMutation.MAYBE), by(op, OpMutation.UNKNOWN)
    assert found != (set(entry["written"]), set(entry["maybe"]), set(entry["unknown"]))


def test_a_function_of_three_thousand_lines(tmp_path: Path) -> None:
    from triton_mutlint.run.run import run

    maker = [sys.executable, str(OPS / "make_long.py"), "3000"]
    text = subprocess.run(maker, capture_output=True, text=True, check=True).stdout
    (tmp_path / "long.py").write_text(text)
    (op,) = run(Request(("long.py",), tmp_path, timeout=60)).ops
    assert (op.mutated, op.unknown, op.complete) == (("out", "last"), (), True)


def test_an_op_that_takes_too_long_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_mutlint.run.run import run

    def endless(*args: object) -> None:
        while True:
            pass

    monkeypatch.setattr("triton_mutlint.host.op.verdict.entry", endless)
    (tmp_path / "ops.py").write_text(
        "import torch\n@torch.library.custom_op('a::b', mutates_args=())\n"
        "def b(x: torch.Tensor, out: torch.Tensor) -> None:\n    out.copy_(x)\n"
    )
    (op,) = run(Request(("ops.py",), tmp_path, timeout=0.3)).ops
    assert (op.mutated, op.unknown, op.complete) == ((), ("x", "out"), False)
    assert "still running after 0.3 s" in op.gaps[0].text
