"""`verify --ops`: planted defects are found, what is right is left alone, and one op's end is no other's."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import validate

from tests.helpers.places import FIXTURES, ROOT
from triton_mutlint.config.request import Request
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.run.plan import Specs
from triton_mutlint.spec.nodes import SpecError
from triton_mutlint.types import (
    EMPTY,
    Declaration,
    HostEffect,
    Location,
    OpArgument,
    OpMutation,
    OpReport,
    SourceFile,
    UsageError,
)
from triton_mutlint.verify import formats, text
from triton_mutlint.verify.model import Agreement, Outcome, Subject, Verified, VerifyReport
from triton_mutlint.verify.ops.subjects import importable, named, subject_of, words
from triton_mutlint.verify.ops.verifying import outcome_of
from triton_mutlint.verify.wire import EAGER, FAKE, Finished, OpJob, RunResult, Settings

HERE = Location("ops.py", 3)
PLACES = (("/project/ops.py", 8),)


# --------------------------------------------------------------------------- which ops, and what their code compares


def test_what_an_argument_names(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "ops.py").write_text("raise SystemExit('it was run')")
    assert named("pkg", tmp_path) == ("pkg", "")
    assert named("pkg/ops.py:lib::rope", tmp_path) == ("pkg/ops.py", "lib::rope")
    assert named("pkg/ops.py::rope", tmp_path) == ("pkg/ops.py", "rope")
    assert named("pkg.ops:rope", tmp_path) == (str(tmp_path / "pkg" / "ops.py"), "rope")
    with pytest.raises(UsageError, match=r"neither a file nor a module 'pkg\.nothing'"):
        named("pkg.nothing:rope", tmp_path)
    assert importable(tmp_path / "pkg" / "ops.py") == (tmp_path, "pkg.ops")
    assert importable(tmp_path / "pkg" / "__init__.py") == (tmp_path, "pkg")


def test_words_are_what_the_function_compares_with(tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text("MOST = 100\n\n\n@op\ndef f(x, n, how):\n    if n > MOST or x.dtype == torch.float16:\n"
                    "        return 7\n    return how in ('sum', 'mean') or n == -3\n\n\n"
                    "def g(n):\n    return n > 55\n")
    found = words([(str(file), 4)])
    assert (set(found.numbers), set(found.texts), found.dtypes) == ({100, -3, 3}, {"sum", "mean"}, ("float16",))
    assert words([(str(tmp_path / "gone.py"), 1)]).numbers == ()


def test_the_spec_says_what_ops_are_called_with(tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text("")
    spec = tmp_path / "triton-mutlint.yaml"
    request, source = Request((), tmp_path, spec), SourceFile(file, "ops.py", "")
    op = OpReport("lib::f", "custom_op", HERE, Declaration((), HERE))
    spec.write_text("ops:\n  lib::f:\n    args: {x: '*fp32', y: [null, '*fp16[3, 5; 1, 3]'], scale: 0.5}\n"
                    "    verify: {shapes: {x: [8, 64]}, values: {x: ones}}\n")
    job = subject_of(op, source, request, Specs(request), Settings(runs=2), ["export"]).job
    assert job is not None
    assert job.given == ({"x": "*fp32[8, 64]", "y": "None", "scale": "0.5"},
                         {"x": "*fp32[8, 64]", "y": "*fp16[3, 5; 1, 3]", "scale": "0.5"})
    assert (job.values, job.module, len(job.runs)) == ({"x": "ones"}, "ops", 4)
    spec.write_text("ops: {lib::f: {verify: {skip: 'it takes two GPUs'}}}\n")
    assert subject_of(op, source, request, Specs(request), Settings(), []).refused.endswith("it takes two GPUs")
    spec.write_text("ops: {rope: {args: {x: 1}}}\n")
    with pytest.raises(SpecError, match="names no op of torch; write lib::op"):
        Specs(request).of(source)


# --------------------------------------------------------------------------- what is held against what


def _judged(result: RunResult, mutation: OpMutation = OpMutation.WRITTEN, declared: tuple[str, ...] | None = ("x",),
            *, returned: bool = False, **options: Any) -> Verified:
    argument = OpArgument("x", 0, mutation, (HostEffect(Location("ops.py", 8), "it writes"),), returned)
    op = OpReport("lib::f", "custom_op", HERE, Declaration(declared, HERE), (argument,), **options)
    job = OpJob(name="lib::f", module="ops", roots=("/project",), display="ops.py", line=3,
                runs=(EAGER, FAKE, "export"), places=PLACES)
    return outcome_of(Subject(op, job), Finished((result,)), "cpu")


GIVEN = {"x": "*fp32[33]"}
WRITES = RunResult(0, given=GIVEN, changed=("x",), reached=(0,))
NOTHING = RunResult(0, given=GIVEN)


@pytest.mark.parametrize(("result", "mutation", "declared", "told"), [
    (WRITES, OpMutation.WRITTEN, ("x",), []),
    (WRITES, OpMutation.MAYBE, ("x",), []),
    (WRITES, OpMutation.WRITTEN, None, []),
    (WRITES, OpMutation.WRITTEN, (), [("TML103", "writes x, which is not declared")]),
    (WRITES, OpMutation.UNWRITTEN, ("x",), [("", "writes x, which the analysis did not predict")]),
    (RunResult(0, given=GIVEN, same=("x",)), OpMutation.UNKNOWN, (),
     [("TML103", "writes x (with the values that it held), which is not declared")]),
    (NOTHING, OpMutation.WRITTEN, (), []),
    (NOTHING, OpMutation.UNWRITTEN, ("x",), []),
    (RunResult(0, given=GIVEN, returned=("x",)), OpMutation.UNWRITTEN, (),
     [("TML108", "returns memory of x"), ("", "returns memory of x, which the analysis did not predict")]),
    (RunResult(1, "differs", "other strides"), OpMutation.UNWRITTEN, (), [("TML109", "other strides")]),
    (RunResult(2, "differs", "x differs"), OpMutation.UNWRITTEN, (), [("", "export: x differs")]),
    (RunResult(0, "error", "it raised"), OpMutation.WRITTEN, (), []),
])
def test_disagreements(result: RunResult, mutation: OpMutation, declared: tuple[str, ...] | None,
                       told: list[tuple[str, str]]) -> None:
    outcome = _judged(result, mutation, declared)
    assert [(d.rule, d.message) for d in outcome.disagreements] == told
    assert VerifyReport("cpu", None, ops=(outcome,)).is_failure is bool(told)


def test_a_predicted_alias_is_no_defect_of_the_analysis() -> None:
    outcome = _judged(RunResult(0, returned=("x",)), OpMutation.UNWRITTEN, returned=True)
    assert [d.rule for d in outcome.disagreements] == ["TML108"]


def test_what_is_never_seen_is_said_with_the_lines_that_no_run_came_to() -> None:
    (x,) = _judged(NOTHING).parameters
    assert (x.agreement, x.seen, x.not_reached) == (Agreement.UNCONFIRMED, 0, ("ops.py:8",))
    (x,) = _judged(RunResult(0, reached=(0,))).parameters
    assert x.not_reached == ()


@pytest.mark.parametrize(("run", "message", "options", "rule", "shown"), [
    (1, "RuntimeError: There was no fake impl registered for f", {}, "TML109", "it has no fake function"),
    (1, "GuardOnDataDependentSymNode: u0", {}, "TML109", "its fake function asks for values"),
    (2, "RuntimeError: Cannot access data pointer", {"unwrapped": (("k", Location("ops.py", 9)),)}, "TML106",
     "ops.py:9 launches k without wrap_triton"),
    (2, "RuntimeError: something else", {}, "", "something else"),
])
def test_errors_of_paths_are_named_with_their_rule(run: int, message: str, options: dict[str, Any], rule: str,
                                                   shown: str) -> None:
    outcome = _judged(RunResult(run, "error", message), **options)
    (path,) = outcome.paths
    assert (path.rule, outcome.disagreements) == (rule, ())
    assert shown in path.message


@pytest.mark.parametrize("outcome", [
    _judged(WRITES, declared=()), _judged(NOTHING), _judged(RunResult(1, "differs", "other strides")),
    outcome_of(Subject(OpReport("lib::g", "jax", HERE, Declaration((), HERE)), refused="of jax"), None, "cpu"),
], ids=["undeclared", "unseen", "fake", "not run"])
def test_reports(outcome: Verified) -> None:
    report = VerifyReport("cpu", "3.7.1", ops=(outcome,))
    document = json.loads(formats.as_json(report))
    validate(document, json.loads((ROOT / "triton_mutlint/verify/schema.json").read_text()))
    assert document["summary"]["ops"] == 1
    case = ET.fromstring(formats.as_junit(report)).find(".//testcase")  # noqa: S314 - our own
    assert case is not None
    assert (case.find("failure") is not None) is (outcome.outcome is Outcome.FAILED)
    shown = text.render(report, RenderOptions(width=100))
    assert f"ops.py:3 {outcome.name}" in shown
    assert ("DISAGREES" in shown) is (outcome.outcome is Outcome.FAILED)


# --------------------------------------------------------------------------- runs


@lru_cache
def _planted() -> dict[str, Verified]:
    from triton_mutlint.verify.ops.verifying import verify_ops

    request = Request(("planted_ops.py",), FIXTURES / "verify", use_spec=False)
    folder = Path(__import__("tempfile").mkdtemp())
    report = verify_ops(request, Settings(runs=24, timeout=5.0), [FAKE], folder, lambda *told: None)
    assert report.is_failure
    return {op.name.removeprefix("planted::"): op for op in report.ops}


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(("op", "rules"), [
    ("on_a_branch", ["TML103"]), ("equal_values", ["TML103"]), ("below_tolerance", ["TML103"]),
    ("returns_alias", ["TML108"]), ("wrong_fake", ["TML109"]), ("right", []), ("no_fake", []), ("asks_data", []),
    ("crashes", []),
])
def test_planted_defects_are_found_and_nothing_else(op: str, rules: list[str]) -> None:
    assert [d.rule for d in _planted()[op].disagreements] == rules


@pytest.mark.slow
@pytest.mark.torch
def test_what_planted_ops_are_run_with() -> None:
    found = _planted()
    (branch,) = found["on_a_branch"].disagreements
    assert (branch.given or EMPTY)["steps"] == "37"  # it is aimed at the branch
    (x,) = found["equal_values"].parameters
    assert x.is_same
    assert 0 < x.seen < found["equal_values"].compared  # not where it is not contiguous
    assert [(p.rule, p.status) for p in found["no_fake"].paths[:1]] == [("TML109", "error")]
    assert (found["crashes"].outcome, found["crashes"].compared) == (Outcome.NOT_RUN, 0)
    assert found["right"].compared == 24
    again = subprocess.run([sys.executable, found["on_a_branch"].reproducer], capture_output=True, text=True,
                           check=False)
    assert (again.returncode, "history is written, which is not declared" in again.stdout) == (1, True), again.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_paths_show_what_a_broken_declaration_makes_of_values(tmp_path: Path) -> None:
    from triton_mutlint.verify.ops.verifying import verify_ops

    request = Request(("silu_ops.py:silu_", "silu_ops.py:silu_broken_"), FIXTURES / "verify", use_spec=False)
    paths = ["aot_eager", "export", "dynamic"]
    report = verify_ops(request, Settings(runs=3, timeout=20.0), paths, tmp_path, lambda *told: None)
    right, broken = report.ops
    assert ({p.status for p in right.paths}, right.disagreements) == ({"ok"}, ())
    assert {p.name for p in broken.paths if p.status == "differs"} == {"export"}  # triton ops are seen through else
    assert [d.rule for d in broken.disagreements] == ["TML103", ""]
