"""A verdict that is wrong on purpose is found out, by looking and by running on clones, and can be shown again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import triton_mutlint.run.kernel as pipeline
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.types import AccessKind
from triton_mutlint.verify import text
from triton_mutlint.verify.model import Outcome
from triton_mutlint.verify.verifying import verify
from triton_mutlint.verify.wire import Settings

pytestmark = pytest.mark.torch


@pytest.mark.slow
def test_a_missed_write_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = pipeline.analyze_module

    def blind(*args: Any, **kwargs: Any) -> Any:
        """The analysis, blind to writes."""
        found = real(*args, **kwargs)
        reads = {n: tuple(a for a in all_ if a.kind is AccessKind.READ) for n, all_ in found.accesses.items()}
        return replace(found, accesses=reads, indirect_writes=())

    monkeypatch.setattr(pipeline, "analyze_module", blind)
    request = Request(("awkward.py::calls_others", "awkward.py::through_table"), FIXTURES / "verify")
    report = verify(request, Settings(runs=2, timeout=10.0, jobs=1), tmp_path, lambda *told: None)
    direct, table = report.kernels
    assert report.is_failure
    assert (direct.outcome, direct.missed, direct.leaked) == (Outcome.FAILED, ("pair.1",), ("pair.1",))
    assert (table.outcome, table.missed) == (Outcome.FAILED, ("table_ptr",))
    shown = text.render(report, RenderOptions(width=200))
    assert "SOUNDNESS FAILURE: writes pair.1, which was not predicted" in shown
    assert "SOUNDNESS FAILURE: writes through addresses from table_ptr, which was not predicted" in shown
    assert "please report it, with" in shown

    again = subprocess.run([sys.executable, direct.reproducer], capture_output=True, text=True, check=False,
                           cwd=tmp_path)
    assert again.returncode == 1, again.stderr
    assert "pair.1 is written, which was not predicted" in again.stdout
    assert "pair.1 is written though only clones were passed, which was not predicted" in again.stdout
