"""Values of subclasses of numbers at launch sites, and the numbers tried near them."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.spec.values import number_like

FILE = """\
import enum

import triton
import triton.language as tl


class Mode({base}):
    A = {first}
    B = 1


class Size(int):
    def __new__(cls, value, unit):
        return super().__new__(cls, value)


class Share(float):
    def __new__(cls, value, unit):
        return super().__new__(cls, value)


@triton.jit
def k(x, y, M: tl.constexpr):
    if M == 1:
        tl.store(x, 1.0)
    else:
        tl.store(y, 1.0)


def launch(x, y):
    k[(1,)](x, y, {passed})
"""


@pytest.mark.parametrize(("base", "first", "passed"), [
    ("enum.IntEnum", 0, "Mode.A"),
    ("enum.IntEnum", 1, "Mode.A"),
    ("enum.IntFlag", 2, "Mode.A"),
    ("enum.IntFlag, boundary=enum.STRICT", 2, "Mode.A"),
    ("float, enum.Enum", 0, "Mode.A"),
    ("enum.IntEnum", 0, "Size(4, 'B')"),
    ("enum.IntEnum", 0, "Share(4, 'B')"),
])
def test_both_sides_are_reached(tmp_path: Path, base: str, first: int, passed: str) -> None:
    (tmp_path / "k.py").write_text(FILE.format(base=base, first=first, passed=passed), encoding="utf-8")
    result = run(Request(("k.py::k",), tmp_path, use_spec=False, targets=("cuda:90",)))
    assert not result.findings
    assert {p.name for p in result.kernels[0].parameters if p.mutation.value != "unwritten"} == {"x", "y"}


def test_the_kind_of_the_example() -> None:
    class Mode(IntEnum):
        A = 0
        B = 1

    assert [type(number_like(Mode.A, n)) for n in (1, 2)] == [Mode, int]
    assert [number_like(example, 1) for example in (True, 5, 0.5)] == [True, 1, 1.0]
    assert number_like(5, float("inf")) == 5
    assert number_like(0.5, 10**400) == 0.5
