"""Trees of containers that a project's own recursive functions go through: each leaf stays itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import OpReport

HEADER = """\
import torch
from torch import Tensor
from torch.library import custom_op


def tree_map(fn, tree):
    if isinstance(tree, dict):
        return {k: tree_map(fn, v) for k, v in tree.items()}
    if isinstance(tree, list):
        return [tree_map(fn, v) for v in tree]
    if isinstance(tree, tuple):
        return tuple(tree_map(fn, v) for v in tree)
    return fn(tree)


def tree_loop(fn, tree):
    if isinstance(tree, list):
        out = []
        for v in tree:
            out.append(tree_loop(fn, v))
        return out
    return fn(tree)


def zero_all(tree):
    for v in tree if isinstance(tree, (list, tuple)) else ():
        zero_all(v)
    if isinstance(tree, Tensor):
        tree.zero_()


def wrap(t, depth):
    return wrap([t], depth - 1) if depth else t


"""
CASES = {
    "copies": ('c = tree_map(lambda t: t.clone(), {"a": x, "b": [y]})\n    c["a"].add_(1)\n    c["b"][0].add_(1)',
        ()),
    "appended": ("c = tree_loop(lambda t: t.clone(), [x, [y, y]])\n    c[0].add_(1)\n    c[1][0].add_(1)",
        ()),
    "views": ('views = tree_map(lambda t: t.view(-1), {"a": x, "b": [y]})\n    views["b"][0].add_(1)',
        ("y",)),
    "mixed": (('def leaf(t):\n        return t.clone() if isinstance(t, Tensor) else t\n'
              '    c = tree_map(leaf, {"a": x, "b": [y, 1]})\n    c["a"].add_(1)'),
        ()),
    "inside": ('tree_map(lambda t: t.add_(1), {"a": x.clone(), "b": [y]})',
        ("y",)),
    "deep": ("zero_all([[[[[[y]]]]], x.clone()])",
        ("y",)),
    "other": ("zero_all([x.clone(), [x + 1]])",
        ()),
}  # fmt: skip


def op(tmp_path: Path, code: str) -> OpReport:
    (tmp_path / "ops.py").write_text(
        f'{HEADER}@custom_op("trees::f", mutates_args=())\ndef f(x: Tensor, y: Tensor, n: int) -> None:\n    {code}\n')
    (found,) = run(Request(("ops.py",), tmp_path)).ops
    return found


@pytest.mark.parametrize("name", CASES)
def test_leaves_of_trees_stay_apart(tmp_path: Path, name: str) -> None:
    code, written = CASES[name]
    found = op(tmp_path, code)
    assert (found.mutated, found.maybe, found.unknown) == (written, (), ())


def test_a_tree_that_grows_without_end_is_followed_to_its_end(tmp_path: Path) -> None:
    found = op(tmp_path, "zero_all(wrap(y, n))")
    assert "y" in (*found.mutated, *found.maybe, *found.unknown)
    assert "x" not in found.mutated
