"""`verify --ops` runs autograd functions forward and backward, and holds both against the analysis."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.verify.model import Agreement, Outcome, Verified
from triton_mutlint.verify.wire import Settings

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.long]


@lru_cache
def _functions() -> dict[str, Verified]:
    from triton_mutlint.verify.ops.verifying import verify_ops

    request = Request(("functions.py", "functions.py:Plain"), FIXTURES / "verify", use_spec=False)
    report = verify_ops(request, Settings(runs=3, timeout=20.0), ["aot_eager"], Path(mkdtemp()), lambda *told: None)
    return {op.name.rpartition(":")[2]: op for op in report.ops}


def _seen(op: Verified) -> dict[str, Any]:
    return {a.name: "backward" if a.in_backward else "forward" for a in op.parameters if a.seen}


@pytest.mark.parametrize(("name", "seen", "rules"), [
    ("Scale", {}, []), ("ScaleUnmarked", {"x": "forward"}, ["TML103"]), ("ScaleGradient", {"grad": "backward"}, []),
    ("ScaleSaved", {"x": "backward"}, [""]),  # a compiled program leaves `x` alone
    ("Plain", {}, []),
])
def test_what_functions_write(name: str, seen: dict[str, str], rules: list[str]) -> None:
    op = _functions()[name]
    assert (op.outcome, op.compared > 0) == (Outcome.FAILED if rules else Outcome.RAN, True), op
    assert _seen(op) == seen
    assert [d.rule for d in op.disagreements] == rules
    assert {a.agreement for a in op.parameters} <= {Agreement.CONFIRMED, Agreement.UNTOUCHED}


def test_a_program_with_gradients_is_compared_with_eager() -> None:
    assert {p.status for p in _functions()["Scale"].paths} == {"ok"}


@pytest.mark.parametrize("name", ["functions.py:Scale", "silu_ops.py:silu_"])
def test_inductor_launches_interpreted_kernels(name: str, tmp_path: Path) -> None:
    from triton_mutlint.verify.ops.verifying import verify_ops

    request = Request((name,), FIXTURES / "verify", use_spec=False)
    (op,) = verify_ops(request, Settings(runs=1, timeout=400.0), ["inductor"], tmp_path, lambda *told: None).ops
    assert [p.status for p in op.paths] == ["ok"], op.paths
