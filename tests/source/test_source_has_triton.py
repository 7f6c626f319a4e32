"""Constants by which projects tell whether Triton can be used: it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

PROJECT = {
    "project/__init__.py": "",
    "project/shim.py": """
import triton
import triton.language as tl
{name} = bool(triton.runtime.driver.active.get_device_properties(0)) and not_installed.asked()
if not {name}:
    tl = None
""",
    "project/kernels.py": """
import triton
from project.shim import {name}, tl
EMPTY = tl.constexpr(7) if {name} else 7


@triton.jit
def kernel(x):
    tl.store(x, EMPTY)
""",
}


@pytest.mark.parametrize("name", ["HAS_TRITON", "_HAS_TRITON", "TRITON_AVAILABLE", "IS_TRITON_AVAILABLE"])
def test_triton_is_available(name: str, tmp_path: Path) -> None:
    for file, text in PROJECT.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text.format(name=name), encoding="utf-8")
    kernel, = run(Request(("project/kernels.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert (kernel.failure, kernel.mutated) == (None, ("x",))
