"""What the source may read under values that were not analysed is not called untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.report.terminal.accesses import verdict
from triton_mutlint.run.run import run

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def helper(x, p):
    return x * tl.load(p)


@triton.jit
def kernel(x_ptr, p_ptr, spare_ptr, y_ptr, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if FLAG:
        x = BODY
    tl.store(y_ptr + i, x)
"""
TYPES = "p_ptr: '*fp32', spare_ptr: '*fp32'"


def words(folder: Path, body: str, given: str) -> dict[str, str]:
    (folder / "k.py").write_text(KERNEL.replace("BODY", body))
    (folder / "triton-mutlint.yaml").write_text(f"version: 1\nkernels:\n  kernel: {{args: {{{given}}}}}\n")
    report = run(Request(("k.py",), folder))
    (kernel,) = report.kernels
    return {p.name: verdict(p) for p in kernel.parameters}


@pytest.mark.parametrize("body", [
    "x * tl.load(p_ptr + i)",
    "helper(x, p_ptr)",
    "tl.make_block_ptr(p_ptr, (64,), (1,), (0,), (64,), (0,)).load()",
    "tl.make_tensor_descriptor(p_ptr, [64], [1], [64]).load([0])",
    "unknown_function(x, p_ptr)",
], ids=["load", "helper", "block", "descriptor", "unknown"])
def test_a_read_under_a_guessed_flag(body: str, tmp_path: Path) -> None:
    found = words(tmp_path, body, TYPES)
    assert found["p_ptr"] != "untouched"
    assert found["spare_ptr"] == "untouched"
    assert found["x_ptr"] == "read"


def test_a_flag_that_is_given_decides(tmp_path: Path) -> None:
    given = f"{TYPES}, x_ptr: '*fp32', y_ptr: '*fp32', FLAG: false, BLOCK: 64"
    assert words(tmp_path, "x * tl.load(p_ptr + i)", given)["p_ptr"] == "untouched"
    assert words(tmp_path, "x * tl.load(p_ptr + i)", f"{TYPES}, FLAG: false")["p_ptr"] == "untouched"
