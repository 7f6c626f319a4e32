"""Linted code that runs after loading is held to the same rules: heuristics, and functions that Triton calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.in_process import run_here
from triton_mutlint.config.request import Request
from triton_mutlint.process.harmless import harmless

HEAD = "import os, triton\nimport triton.language as tl\nfrom triton.language.core import constexpr_function\n\n\n"
BY_HEURISTIC = HEAD + """@triton.heuristics({"N": lambda args: os.remove("victim") or 8})
@triton.jit
def k(x, N: tl.constexpr):
    tl.store(x, N)
"""
BY_TRITON = HEAD + """@constexpr_function
def n():
    return os.remove("victim") or 8


@triton.jit
def k(x):
    tl.store(x, n())
"""


@pytest.mark.parametrize("text", [BY_HEURISTIC, pytest.param(BY_TRITON, id="constexpr_function")])
def test_what_runs_after_loading_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("victim").write_text("")
    Path("kernels.py").write_text(text)
    report = run_here(Request(("kernels.py",), tmp_path, use_spec=False, targets=("cuda:90",)))
    assert [k.name for k in report.kernels] == ["k"]
    assert Path("victim").exists()


def test_this_process_may_write_again_afterwards(tmp_path: Path) -> None:
    with harmless(), pytest.raises(PermissionError, match="nothing is written"):
        (tmp_path / "a").write_text("")
    (tmp_path / "a").write_text("")
    (tmp_path / "a").unlink()
