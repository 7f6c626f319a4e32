"""`verify --model`: what a broken declaration makes of a model's values, and the op after which they part."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.cli.shell import boundary
from triton_mutlint.config.request import Request
from triton_mutlint.types import UsageError
from triton_mutlint.verify.model import Outcome, VerifyReport
from triton_mutlint.verify.wire import Settings

pytestmark = pytest.mark.torch


def _verified(model: str, *paths: str) -> VerifyReport:
    from triton_mutlint.verify.ops.verifying import verify_model

    request = Request((), FIXTURES / "verify", use_spec=False)
    return verify_model(request, Settings(timeout=60.0), paths, model, lambda *told: None)


@pytest.mark.slow
def test_a_broken_declaration_is_named_with_the_call_after_which_values_part() -> None:
    (model,) = _verified("silu_ops:broken", "export", "aot_eager").ops
    status = {p.name: p.status for p in model.paths if p.name != "onnx"}
    assert status == {"export": "differs", "aot_eager": "ok"}  # torch sees through a triton op when it compiles one
    (told,) = model.disagreements
    assert "the values part after `demo::silu_broken_`, call 2 of an op" in told.message
    assert "`demo::silu_broken_` writes `x`" in told.help
    assert model.findings[0].endswith("(TML103)")


@pytest.mark.slow
def test_the_right_model_gives_the_same_by_every_path() -> None:
    report = _verified("silu_ops:right", "export", "export-strict", "dynamic")
    assert {p.status for p in report.ops[0].paths if p.name != "onnx"} == {"ok"}
    assert not report.is_failure


@pytest.mark.slow
@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs the extra [onnx]")
@pytest.mark.parametrize(("model", "status"), [("right", "ok"), ("broken", "differs")])
def test_onnx_models_are_compared(model: str, status: str) -> None:
    (found,) = _verified(f"onnx_model:{model}", "export").ops
    assert {p.name: p.status for p in found.paths} == {"export": "ok", "onnx": status}
    assert all("`tiny::double_broken_`" in d.message for d in found.disagreements)


@pytest.mark.slow
def test_a_factory_that_fails_is_a_result() -> None:
    (model,) = _verified("silu_ops:nothing", "export").ops
    assert (model.outcome, model.paths) == (Outcome.NOT_RUN, ())
    assert "silu_ops:nothing fails: AttributeError" in model.refused


def test_a_model_that_is_not_found() -> None:
    with pytest.raises(UsageError, match="neither a file nor a module 'nowhere'"):
        _verified("nowhere:factory")
    with pytest.raises(UsageError, match="write module:factory"):
        _verified("silu_ops.py")


@pytest.mark.parametrize(("arguments", "message"), [
    ((), "Missing argument 'PATH...'"), (("x.py", "--path", "export"), "--path is for --ops and --model"),
    (("--ops", "x.py", "--path", "sideways"), "'sideways' is not one of"),
])
def test_wrong_usage(arguments: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert boundary.run(["verify", *arguments]) == 2
    assert message in capfd.readouterr().err
