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
    "absent.make() | x", "x * absent.make()", "absent.make()[x]", "absent.make().rows[x]", "x in absent.make()",
    "absent.make().inner | x", "absent.make(1)(2) | x", "a, b = absent.pair()\nb | x", "for a in absent.all(): a | x",
    "absent.make()[0] | x", "[absent.make()][0] | x", "isinstance(x, absent.Kind)",
    "isinstance(x, (int, absent.make()))",
    "issubclass(acc, x)", "sorted([x], key=absent.make())", "sorted([acc, x])", "x in [acc]", "[x] == [acc]",
    "match x:\n    case absent.Kind(): pass", "match absent.make():\n    case torch.Tensor(shape=s): s | x",
    "torch.add(acc, x)", "torch.add(absent.make(), x)", "x.add(acc)", "torch.cat([x, absent.make()])",
    "class Inner:\n    acc = absent.make()\n    def __add__(self, other): return self.acc + other\nInner() + x",
    "class Inner:\n    def __add__(self, other): return absent.make()\n(Inner() + 1) + x",
    "class Inner(Base): pass\nInner().hold() | x",
    "held = absent.make()\nheld += x", "absent.make().a.b.c | x", "held = acc\nwhile y: held = held.next\nheld | x",
    "held = acc\nwhile y: held = held.next()\nheld | x",
    "functools.reduce(lambda a, b: a + b, [x], acc)", "max(x, absent.make())",
    "with absent.hold() as held: held | x", "getattr(absent.make(), 'a') | x",
])
def test_what_is_handed_over_is_not_called_unwritten(body: str, tmp_path: Path) -> None:
    op = the_op(body, tmp_path)
    assert not op.complete
    assert {a.name: a.mutation for a in op.arguments}["x"] is OpMutation.UNKNOWN


@pytest.mark.parametrize("body", [
    "x + 1 if acc else x", "torch.empty_like(x, dtype=absent.make())", "absent.log().info(x)", "absent.make().fill_(1)",
    "y.to(device=absent.make().device)", "y[0] if absent.make() else x",
    "@schedule(1)\ndef inner(t): return t + 1\ninner(x)", "y.to(absent.dtype)",
    "import enum\nclass Kind(enum.Enum):\n    A = 1\nx if Kind(acc) is Kind.A else y",
    "import abc\nclass Inner(abc.ABC):\n    def __init__(self, t): self.t = t\nInner(x).t + 1",
    "import typing\nT = typing.TypeVar('T')\nclass Inner(typing.Generic[T]):\n    t: T = 1\nInner().t + x",
    "class Inner(torch.nn.Module):\n    def forward(self, t): return t + 1\nInner()(x)",
])
def test_what_nothing_is_handed_to_costs_nothing(body: str, tmp_path: Path) -> None:
    op = the_op(body, tmp_path)
    assert op.complete
    assert {a.mutation for a in op.arguments} == {OpMutation.UNWRITTEN}
