"""What a package that is not there may do with what an op hands to it, by whatever protocol: it is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import OpMutation, OpReport

TEXT = """
import functools
import absent
import torch
from absent import Base, Meta, acc, schedule
from torch.library import custom_op


def put(t, u=None):
    t.zero_()


@custom_op("absent_package::op", mutates_args=())
def op(x: torch.Tensor, y: torch.Tensor) -> None:
    {body}
"""


def the_op(body: str, folder: Path) -> OpReport:
    (folder / "ops.py").write_text(TEXT.replace("{body}", body.replace("\n", "\n    ")))
    (op,) = run(Request(("ops.py",), folder)).ops
    return op


@pytest.mark.parametrize("body", [
    "acc @ x", "x @ acc", "acc[x]", "acc[0, x]", "x in acc", "acc == x", "x < acc", "acc[0] = x", "acc[x] = 0",
    "del acc[x]", "acc.held = x", "absent.acc += x",
    "acc | [x]", "sum([x], acc)", "-absent.hold(x)", "absent.kernel[(1,)](x)",
    "getattr(acc, 'a')(x)", "{**absent.hold(x)}", "for acc.a in [x]: pass",
    "@schedule(x)\ndef inner(): pass",
    "@schedule(x)\nclass Inner: pass",
    "@absent.now\ndef inner(): x.zero_()",
    "def inner(a: acc[x]): pass",
    "class Inner(Base, flag=x): pass",
    "class Inner(Base):\n    a = x",
    "class Inner(metaclass=Meta):\n    a = x",
    "class Inner(metaclass=Meta): pass\nInner(x)",
    "class Inner(Base): pass\nx in Inner",
    "class Inner(Base): pass\nInner[x]",
    "class Inner(Base): pass\nInner.made(x)",
    "functools.partial(put, functools.Placeholder, y)(x)",
])
def test_what_is_handed_over_is_not_called_unwritten(body: str, tmp_path: Path) -> None:
    op = the_op(body, tmp_path)
    assert not op.complete
    assert {a.name: a.mutation for a in op.arguments}["x"] is OpMutation.UNKNOWN


@pytest.mark.parametrize("body", [
    "x + 1 if acc else x", "@schedule(1)\ndef inner(t): return t + 1\ninner(x)", "y.to(absent.dtype)",
    "import enum\nclass Kind(enum.Enum):\n    A = 1\nx if Kind(acc) is Kind.A else y",
    "import abc\nclass Inner(abc.ABC):\n    def __init__(self, t): self.t = t\nInner(x).t + 1",
    "import typing\nT = typing.TypeVar('T')\nclass Inner(typing.Generic[T]):\n    t: T = 1\nInner().t + x",
    "class Inner(torch.nn.Module):\n    def forward(self, t): return t + 1\nInner()(x)",
])
def test_what_nothing_is_handed_to_costs_nothing(body: str, tmp_path: Path) -> None:
    op = the_op(body, tmp_path)
    assert op.complete
    assert {a.mutation for a in op.arguments} == {OpMutation.UNWRITTEN}
