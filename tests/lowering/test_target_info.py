"""Branches on `tl.target_info` are those of the target that a kernel is lowered for, whatever the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

KERNELS = """\
import triton
import triton.language as tl
from triton.language import target_info


@triton.jit
def kernel(cuda_ptr, hip_ptr, named_ptr, new_ptr):
    if tl.target_info.is_cuda():
        tl.store(cuda_ptr, 1)
    if tl.target_info.is_hip():
        tl.store(hip_ptr, 1)
    if target_info.current_target().backend == "hip":
        tl.store(named_ptr, 1)
    if target_info.cuda_capability_geq(10, 0):
        tl.store(new_ptr, 1)
"""


@pytest.mark.parametrize(("targets", "written"), [
    (["cuda:90"], {"cuda_ptr"}), (["cuda:100"], {"cuda_ptr", "new_ptr"}), (["hip:gfx942"], {"hip_ptr", "named_ptr"}),
    (["hip:gfx942", "cuda:100"], {"cuda_ptr", "hip_ptr", "named_ptr", "new_ptr"}),
])
def test_what_is_written_for_a_target(targets: list[str], written: set[str], tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNELS)
    (kernel,) = run(Request(("k.py",), tmp_path, targets=tuple(targets), use_spec=False)).kernels
    assert set(kernel.mutated) == written, kernel


CALLED = """\
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, FN: tl.constexpr):
    FN(x_ptr)
"""


def test_a_function_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(CALLED)
    (finding,) = run(Request(("k.py",), tmp_path, targets=("cuda:90",), use_spec=False)).findings
    assert "FN: None" in finding.help
    assert "a function is given as `{ref: name}`" in finding.help
