"""What the general rules for Python's containers and library may not miss: a write that code hides behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import OpMutation

TEXT = """
import collections, copy, functools, itertools, operator
import torch
from torch.library import custom_op


class Wrapper:
    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        self.function(x)


def clear(x):
    x.zero_()


wrapped = functools.update_wrapper(Wrapper(clear), clear)


@custom_op("general::op", mutates_args=())
def op(x: torch.Tensor, y: torch.Tensor) -> None:
    {body}
"""


@pytest.mark.parametrize("body", [
    "{1: x}.popitem()[1].zero_()",
    "{'a': y}.__or__({'b': x})['b'].zero_()",
    "lists = [[], []]; lists.insert(0, inner := []); lists[0].append(x); inner[0].zero_()",
    "(copy.copy([x]) if y.numel() else x)[0].zero_()",
    "copy.copy([y] if y.numel() else x)[0].zero_()",
    "wrapped(x)",
    "queue = collections.deque([y]); queue.appendleft(x); queue.popleft().zero_()",
    "for row in itertools.product([y], [x]): row[1].zero_()",
    "chained = itertools.chain(given := [y]); given.append(x); [t.zero_() for t in chained]",
    "functools.reduce(torch.Tensor.add_, [x, y])",
    "operator.iadd(x, y)",
    "operator.setitem(x, 0, 1)",
    "held = [y]; operator.setitem(held, 0, x); held[0].zero_()",
    "box = Wrapper(None); object.__setattr__(box, 'function', x); box.function.zero_()",
    "lists = [[y], [y]]\n    match lists:\n        case [a, _]:\n            a.append(x)\n    lists[0][-1].zero_()",
    "try:\n        raise ValueError(x)\n    except ValueError as error:\n        error.args[0].zero_()",
])
def test_no_write_is_missed(body: str, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(TEXT.replace("{body}", body))
    (op,) = run(Request(("ops.py",), tmp_path)).ops
    assert op.arguments[0].mutation is not OpMutation.UNWRITTEN


SLOTS = "class Slot:\n    def __init__(self, t, rank): self.t, self.rank = t, rank\nslots = [Slot(x, 2), Slot(y, 1)]\n"


@pytest.mark.parametrize(("body", "written"), [
    ("sorted(slots, key=lambda s: s.rank)[0].t.zero_()", "y"),
    ("sorted(slots, key=operator.attrgetter('rank'), reverse=True)[0].t.zero_()", "x"),
    ("for s in sorted(slots, key=lambda s: s.t.sum()): s.t.zero_()", "xy"),
    ("sorted({'b': x, 'a': y}.items(), key=operator.itemgetter(0))[0][1].zero_()", "y"),
    ("box = Wrapper(slots[0])\noperator.attrgetter('function.t')(box).zero_()", "x"),
    ("for _ in itertools.accumulate([y], func=operator.iadd, initial=x): pass", "x"),
    ("for a, b in itertools.pairwise([x, y]): b.add_(a)", "y"),
    ("(slots[0] if x.shape[0] else slots[1]).t.zero_()", "xy"),
    ("[slot for slot in [] or slots if slot.rank == 1][0].t.zero_()", "y"),
    (("class M(torch.nn.Module):\n    def __init__(self, t):\n        super().__init__()\n"
     "        self.register_buffer('held', t)\n    def forward(self, t): self.held.add_(t)\nM(x)(y)"), "x"),
])
def test_what_is_written_is_told_exactly(body: str, written: str, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(TEXT.replace("{body}", (SLOTS + body).replace("\n", "\n    ")))
    (op,) = run(Request(("ops.py",), tmp_path)).ops
    assert (op.mutated, op.unknown, op.complete) == (tuple(written), (), True)


@pytest.mark.parametrize("body", [
    "collections.ChainMap({'t': x}, {'t': y})['t'].zero_()", "min(slots, key=lambda s: s.rank).t.zero_()",
    "slots.sort(key=lambda s: s.rank)\nslots[0].t.zero_()",
    "slots.sort(key=lambda s: s.rank)\nslots[0].t.t().zero_()",
    "class Zero(Slot):\n    def now(self): self.t.zero_()\nmin(Zero(x, 2), Zero(y, 1), key=id).now()",
])
def test_of_what_a_key_chooses_none_is_written_for_certain(body: str, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(TEXT.replace("{body}", (SLOTS + body).replace("\n", "\n    ")))
    (op,) = run(Request(("ops.py",), tmp_path)).ops
    assert (op.mutated, op.unknown) == ((), ("x", "y"))
