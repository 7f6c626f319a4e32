"""TML108: certain where a `return` gives an argument, a warning where another path gives a new tensor."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import Severity

HEADER = """\
import torch
from absent import outside
from torch import Tensor
from torch.library import custom_op


def kept(made={}):
    return made


class Kept:
    def __init__(self, give):
        self.give = give


def choose(x, fresh=False):
    return torch.empty_like(x) if fresh else x


@custom_op("alias::f", mutates_args=())
def f(x: Tensor, y: Tensor, n: int) -> Tensor:
"""


@pytest.mark.parametrize(("code", "severities"), [
    ("return x", [Severity.ERROR]),
    ("if n:\n        return x.view(-1)\n    return torch.empty_like(x)", [Severity.ERROR]),
    ("out = x if n else y\n    return out", [Severity.ERROR, Severity.ERROR]),
    ("buffer = torch.empty_like(x) if n else x\n    return buffer.view(-1)", [Severity.WARNING]),
    ("return choose(x, n)", [Severity.WARNING]),
    ("return x.contiguous()", [Severity.WARNING]),
    ("out = x[:n]\n    return out.clone() if out is x else out + 1", []),
    ("k = kept().get(1)\n    if k:\n        return k.give(x)\n    kept()[1] = Kept(choose)\n    return x * 2", []),
    ("return outside(x, y)", []),
    ("return outside(x, y).view(-1)", []),
])  # fmt: skip
def test_how_certain_an_alias_is(tmp_path: Path, code: str, severities: list[Severity]) -> None:
    (tmp_path / "ops.py").write_text(f"{HEADER}    {code}\n")
    found = [f for f in run(Request(("ops.py",), tmp_path)).findings if f.rule == "TML108"]
    assert [f.severity for f in found] == severities
