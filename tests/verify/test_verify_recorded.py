"""What `record` wrote into a spec is run as it was launched, against the verdict for just that."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.types import Mutation
from triton_mutlint.verify.model import Agreement, Outcome
from triton_mutlint.verify.verifying import verify
from triton_mutlint.verify.wire import Settings

pytestmark = pytest.mark.torch

SOURCE = """\
import triton
import triton.language as tl


@triton.jit
def swap_kernel(a_ptr, b_ptr, n, SWAP: tl.constexpr):
    i = tl.arange(0, 16)
    if SWAP:
        tl.store(b_ptr + i, tl.load(a_ptr + i), mask=i < n)
    else:
        tl.store(a_ptr + i, tl.load(b_ptr + i), mask=i < n)
"""
SPEC = """\
version: 1
kernels:
  swap_kernel:
    args: {a_ptr: "*fp32", b_ptr: "*fp32", n: i32, SWAP: true}
    verify:
      launches:
        - {args: {a_ptr: "*fp16", b_ptr: "*fp16", n: i32, SWAP: false}, values: {n: 7}, shapes: {a_ptr: [7]}, grid: [1]}
"""


def test_a_recorded_launch_is_held_against_its_own_verdict(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "triton-mutlint.yaml").write_text(SPEC, encoding="utf-8")
    report = verify(Request(("kernels.py",), tmp_path), Settings(runs=4), None, lambda *told: None)
    kernel, = report.kernels
    assert kernel.outcome is Outcome.RAN
    found = {p.name: (p.predicted, p.when, p.agreement) for p in kernel.parameters}
    assert found == {
        "a_ptr": (Mutation.CONDITIONAL, ("launched as recorded",), Agreement.CONFIRMED),
        "b_ptr": (Mutation.WRITTEN, (), Agreement.CONFIRMED),
    }
    assert not kernel.outside, "the launch had seven elements, and wrote seven"
