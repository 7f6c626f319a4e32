"""A function whose comment says what it writes is a kernel, also where another kernel calls it."""

from __future__ import annotations

from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

TEXT = """
import triton
import triton.language as tl


# triton-mutlint: mutates=y
@triton.jit
def both(x, y, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(x + o, 1.0)
    tl.store(y + o, 1.0)


@triton.jit
def plain(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


@triton.jit
def calls(a, b, B: tl.constexpr):
    both(a, b, B)
    plain(b, B)
"""


def test_what_is_declared_is_held_against_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(TEXT)
    report = run(Request(("kernels.py",), tmp_path))
    assert [k.name for k in report.kernels] == ["both", "calls"]
    assert [f.rule for f in report.findings] == ["TML101"]
