"""A file that asks for the device is loaded for each target that its kernels are analysed for."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import Mutation

CONFIGS = """
import triton
import triton.language as tl


def configs():
    is_cuda = triton.runtime.driver.active.get_current_target().backend == "cuda"
    return [triton.Config({"PARTS": 1 if is_cuda else 2})]


@triton.autotune(configs=configs(), key=[])
@triton.jit
def kernel(x, y, PARTS: tl.constexpr):
    if PARTS > 1:
        tl.store(x, 1.0)
    else:
        tl.store(y, 1.0)
"""
CONSTANT = """
import torch
import triton
import triton.language as tl

IS_NEW = tl.constexpr(torch.cuda.get_device_capability()[0] >= 10)


@triton.jit
def kernel(x, y):
    if IS_NEW:
        tl.store(x, 1.0)
    else:
        tl.store(y, 1.0)
"""


@pytest.mark.parametrize(("text", "targets", "when"), [
    (CONFIGS, ("cuda:90", "hip:gfx942"), [("target=hip:gfx942",), ("target=cuda:90",)]),
    (CONFIGS, ("hip:gfx942", "cuda:90"), [("target=hip:gfx942",), ("target=cuda:90",)]),
    (CONSTANT, ("cuda:90", "cuda:100"), [("target=cuda:100",), ("target=cuda:90",)]),
])
def test_each_target_has_what_the_file_says_of_it(
        text: str, targets: tuple[str, ...], when: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(text)
    (kernel,) = run(Request(("kernels.py",), tmp_path, targets=targets)).kernels
    assert [p.when for p in kernel.parameters[:2]] == when
    assert {p.mutation for p in kernel.parameters[:2]} == {Mutation.CONDITIONAL}


def test_targets_of_a_spec(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(CONFIGS)
    (tmp_path / "spec.yaml").write_text(
        "version: 1\nkernels: {kernel: {args: {x: '*fp32', y: '*fp32'}, target: [hip:gfx942, cuda:90]}}\n")
    (kernel,) = run(Request(("kernels.py",), tmp_path, spec=tmp_path / "spec.yaml")).kernels
    assert [p.when for p in kernel.parameters[:2]] == [("target=hip:gfx942",), ("target=cuda:90",)]
