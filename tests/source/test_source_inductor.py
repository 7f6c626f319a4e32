"""Kernels that torch's Inductor writes: right with torch's helpers, and without torch with what stands in for them."""

from __future__ import annotations

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import Status

pytestmark = pytest.mark.both

FOLDER = FIXTURES / "inductor"
_MARK = "# writes: "


def _truth() -> dict[str, set[str]]:
    truth: dict[str, set[str]] = {}
    writes: set[str] | None = None
    for line in (FOLDER / "generated.py").read_text(encoding="utf-8").splitlines():
        if line.startswith(_MARK):
            writes = {*line.removeprefix(_MARK).split()}
        elif line.startswith("def ") and writes is not None:
            truth[line.removeprefix("def ").partition("(")[0]] = writes
            writes = None
    return truth


def test_kernels_of_inductor_are_right() -> None:
    report = run(Request(("generated.py",), FOLDER, use_spec=False))
    failures = {k.name: k.failure for k in report.kernels if k.status is not Status.ANALYZED}
    assert not failures
    assert {k.name: {*k.mutated} for k in report.kernels} == _truth()
    assert not any(k.unknown for k in report.kernels)
