"""A method that Python's library wrote calls of a class what it mentions, or anything where it computes the name."""

from __future__ import annotations

import collections
import enum
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.host.classes.outside import may_call
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.values import thing
from triton_mutlint.run.run import run
from triton_mutlint.types import OpMutation

TEXT = """
import ast, cmd, collections, enum
import torch
from torch.library import custom_op


class Mode(enum.Enum):
    A = 1
    B = 2

    def clear(self, x):
        x.zero_()


class Odd(enum.Enum):
    A = 1

    def __str__(self):
        KEPT[0].zero_()
        return "a"


class Visits(ast.NodeVisitor):
    def __init__(self, t):
        self.t = t

    def visit_Name(self, node):
        self.t.zero_()


class Held(collections.UserDict):
    def clear_all(self):
        for value in self.data.values():
            value.zero_()

    def update(self, other):
        for value in other.values():
            value.zero_()


class Keyed:
    def __init__(self, t):
        self.held = t

    def keys(self):
        return ["t"]

    def __getitem__(self, key):
        return self.held


def clear(t):
    t.zero_()


KEPT = [None]


@custom_op("library::op", mutates_args=())
def op(x: torch.Tensor, y: torch.Tensor) -> None:
    {body}
"""


@pytest.mark.parametrize(("body", "written"), [
    ("{Mode.A: x}[Mode.A]; hash(Mode.B); [x, Mode.A]; print(x, Mode.A)", False),
    ("KEPT[0] = x; f'{Odd.A}'", True),
    ("Visits(x).visit(ast.parse('a'))", True),
    ("Held(a=x)", True),  # `UserDict.__init__` calls `update`
    ("Held(); [x].count(Held())", False),
    ("clear(**Keyed(x))", True),
    ("clear(**Keyed(y))", False),
])
def test_what_is_called(body: str, written: bool, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(TEXT.replace("{body}", body))
    (op,) = run(Request(("ops.py",), tmp_path)).ops
    assert (op.arguments[0].mutation is not OpMutation.UNWRITTEN) is written


@pytest.mark.parametrize(("base", "method", "name", "calls"), [
    ("enum.Enum", "__hash__", "clear", False),
    ("enum.Enum", "__format__", "__str__", True),
    ("enum.Enum", "__new__", "_missing_", True),
    ("collections.UserDict", "__init__", "update", True),
    ("collections.UserDict", "__init__", "keys", True),  # by way of `update`
    ("collections.UserDict", "__init__", "pop", False),
    ("ast.NodeVisitor", "visit", "visit_Name", True),
])
def test_names(base: str, method: str, name: str, calls: bool) -> None:
    assert may_call([thing(External(base))], [method], name) is calls


def test_these_methods_are_pythons_own() -> None:
    assert enum.Enum.__hash__.__code__
    assert collections.UserDict.__init__.__code__
