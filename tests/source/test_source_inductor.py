"""Kernels that torch's Inductor writes: right with torch's helpers, and with what stands in for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.source import finder
from triton_mutlint.types import Status

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "inductor"
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


@pytest.mark.parametrize("installed", [True, False], ids=["with what is installed", "without torch"])
def test_kernels_of_inductor_are_right(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed:
        found = finder._installed
        monkeypatch.setattr(finder, "_installed", lambda top: None if top == "torch" else found(top))
    report = run(Request(("generated.py",), FOLDER, use_spec=False))
    failures = {k.name: k.failure for k in report.kernels if k.status is not Status.ANALYZED}
    assert not failures
    assert {k.name: {*k.mutated} for k in report.kernels} == _truth()
    assert not any(k.unknown for k in report.kernels)
