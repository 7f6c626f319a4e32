"""Annotations of parameters, which Triton looks up when it compiles, also where Python keeps them as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request

TEXT = """import typing as t
import absent_package
import triton
import triton.language as tl
from triton.language import constexpr


@triton.jit
def put(p: absent_package.Tensor, v: t.Any):
    tl.store(p, v)


@triton.jit
def k(x: absent_package.Tensor, N: constexpr):
    put(x + N, 1.0)
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_names_of_annotations_are_there(tmp_path: Path, future: str) -> None:
    from triton_mutlint.run.run import run

    (tmp_path / "k.py").write_text(future + TEXT)
    (kernel,) = run(Request(("k.py",), tmp_path)).kernels
    assert (kernel.mutated, kernel.failure) == (("x",), None)
