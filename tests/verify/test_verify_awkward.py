"""Kernels that hang, print, go out of bounds or want a GPU: each has a clear result, and the run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.verify import formats, text
from triton_mutlint.verify.model import Agreement, Outcome, Verified, VerifyReport
from triton_mutlint.verify.verifying import verify
from triton_mutlint.verify.wire import Settings

pytestmark = pytest.mark.torch
FOLDER = FIXTURES / "verify"
SCHEMA = json.loads((Path(formats.__file__).parent / "schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def report() -> VerifyReport:
    settings = Settings(runs=3, timeout=1.0, jobs=2)
    return verify(Request(("awkward.py",), FOLDER), settings, None, lambda *told: None)


def _kernel(report: VerifyReport, name: str) -> Verified:
    return next(k for k in report.kernels if k.name == name)


@pytest.mark.parametrize(("name", "status", "message"), [
    ("holds_a_lock", "timeout", "still running after 1 s"),
    ("never_ends", "timeout", "still running after 1 s"),
    ("wants_a_gpu", "unsupported", "inline asm: the interpreter cannot run it"),
    ("too_large", "refused", "x_ptr of shape [100000, 1000000] has 381469 MiB, and --memory is 4096"),
    ("through_descriptor", "refused", "verify.shapes: desc is a descriptor of rank 2, and the shape [32] has rank 1"),
])  # fmt: skip
def test_what_cannot_run_says_why(report: VerifyReport, name: str, status: str, message: str) -> None:
    kernel = _kernel(report, name)
    assert kernel.outcome is Outcome.NOT_RUN
    assert any(found == status and message in told for found, told, _ in kernel.problems)


def test_a_kernel_that_the_spec_skips_is_not_run(report: VerifyReport) -> None:
    kernel = _kernel(report, "needs_a_peer")
    assert (kernel.outcome, kernel.runs) == (Outcome.NOT_RUN, 0)
    assert kernel.refused == "the spec skips it: another GPU has to set the flag"


def test_a_failing_assertion_leaves_the_other_runs(report: VerifyReport) -> None:
    told = [message for status, message, _ in _kernel(report, "asserts").problems if status == "assertion"]
    assert told == ["an assertion failed: x is small"]


def test_writes_out_of_bounds_are_no_mutations(report: VerifyReport) -> None:
    kernel = _kernel(report, "writes_beside")
    assert kernel.outcome is Outcome.RAN
    assert dict(kernel.outside)["x_ptr"] > 0
    assert [p.agreement for p in kernel.parameters] == [Agreement.CONFIRMED]


def test_reads_out_of_bounds_do_not_end_a_run(report: VerifyReport) -> None:
    kernel = _kernel(report, "reads_beside")
    assert kernel.outcome is Outcome.RAN
    assert kernel.read_outside > 0


@pytest.mark.parametrize(("name", "parameter", "through"), [
    ("prints", "out_ptr", False),
    ("allocates", "out_ptr", False),
    ("calls_others", "pair.1", False),
    ("casts_its_loop", "out_ptr", False),
    ("through_table", "table_ptr", True),
])  # fmt: skip
def test_what_is_written_is_seen(report: VerifyReport, name: str, parameter: str, through: bool) -> None:
    kernel = _kernel(report, name)
    seen = [(p.name, p.through) for p in kernel.parameters if p.agreement is Agreement.CONFIRMED]
    assert (kernel.outcome, seen) == (Outcome.RAN, [(parameter, through)])


def test_the_script_around_them_does_not_run(report: VerifyReport) -> None:
    assert not (FOLDER / "side_effect.txt").exists()
    assert not Path("side_effect.txt").exists()
    assert not report.is_failure


def test_the_json_report_fits_its_schema(report: VerifyReport) -> None:
    document = json.loads(formats.as_json(report))
    jsonschema.validate(document, SCHEMA)
    assert document["summary"]["missed"] == 0


def test_the_text_report_tells_each_kernel_once(report: VerifyReport) -> None:
    shown = text.render(report, RenderOptions(width=100))
    assert shown.count("awkward.py:") == len(report.kernels)
    assert "out of bounds, next to x_ptr: not counted as a write of it" in shown
    assert "*table_ptr  *i64  written through  seen in" in shown
    assert "Traceback" not in shown
