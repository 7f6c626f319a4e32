"""`@triton.jit(repr=...)`: the name of the compiled kernel, which nothing here needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

KERNEL = """import triton
import triton.language as tl
from not_installed_anywhere import naming


@triton.jit({option}, do_not_specialize=["n"])
def kernel(x, n):
    tl.store(x, n)
"""


@pytest.mark.parametrize("option", ["repr=naming('kernel', ['n'])", "repr=lambda _: 1 / 0", "repr=naming.of"])
def test_the_naming_function_is_not_called(option: str, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNEL.format(option=option), encoding="utf-8")
    report, = run(Request(("kernels.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert (report.failure, report.mutated) == (None, ("x",))
