"""A launch that fixes compile-time values writes what the kernel writes under these."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.engine import run
from triton_mutlint.model import OpMutation, OpReport
from triton_mutlint.request import Request

TEXT = '''
import torch
import triton
import triton.language as tl


@triton.jit
def by_mode(x, out, MODE: tl.constexpr):
    if MODE == 0:
        tl.store(out, tl.load(x))
    else:
        tl.store(x, tl.load(out))


@triton.jit
def by_flag(x, out, FLAG: tl.constexpr):
    tl.store(out, tl.load(x))
    if FLAG:
        tl.store(x, 1.0)


@triton.jit
def by_flag_and_level(x, out, FLAG: tl.constexpr, LEVEL: tl.constexpr):
    tl.store(out, tl.load(x))
    if FLAG:
        tl.store(x, 1.0)
    else:
        if LEVEL * LEVEL == 49:
            tl.store(x, 2.0)


@triton.jit
def by_flag_through_a_table(x, out, table, FLAG: tl.constexpr):
    tl.store(out, tl.load(x))
    if FLAG:
        tl.store(table, 0)
    tl.store(tl.load(table).to(tl.pointer_type(tl.float32)), 1.0)


@triton.jit
def each(pointers, out):
    for i in tl.static_range(len(pointers)):
        tl.store(pointers[i], 1.0)
    tl.store(out, 2.0)


@torch.library.custom_op("a::launched", mutates_args=())
def launched(x: torch.Tensor, out: torch.Tensor, table: torch.Tensor) -> None:
    {launch}
'''


def op_of(tmp_path: Path, launch: str) -> OpReport:
    (tmp_path / "ops.py").write_text(TEXT.replace("{launch}", launch))
    (op,) = run(Request(("ops.py",), tmp_path, targets=("cuda:90",))).ops
    return op


@pytest.mark.parametrize(("launch", "written", "unknown"), [
    ("by_mode[(1,)](x, out, MODE=0)", {"out"}, set()),
    ("by_mode[(1,)](x, out, 0)", {"out"}, set()),
    ("by_mode[(1,)](x, out, 7)", {"x"}, set()),
    ("by_mode[(1,)](x, out, x.shape[0])", {"x", "out"}, set()),
    ("by_flag[(1,)](x, out, FLAG=False)", {"out"}, set()),
    ("by_flag[(1,)](x, out, FLAG=True)", {"x", "out"}, set()),
    ("by_flag[(1,)](x, out, FLAG=0)", {"out"}, set()),
    ("by_flag[(1,)](x, out, FLAG=bool(x.shape[0]))", {"x", "out"}, set()),
    ("by_flag_and_level[(1,)](x, out, FLAG=False, LEVEL=x.shape[0])", {"out"}, {"x"}),
    ("by_flag_and_level[(1,)](x, out, FLAG=True, LEVEL=x.shape[0])", {"x", "out"}, set()),
    ("each[(1,)]((x, x, x, x), out)", {"x", "out"}, set()),
    ("each[(1,)]((x, x, x, x, x, x, table), out)", {"x", "out"}, {"table"}),  # more than were guessed
])
def test_what_the_launch_fixes_decides(launch: str, written: set[str], unknown: set[str], tmp_path: Path) -> None:
    op = op_of(tmp_path, launch)
    found = {kind: {a.name for a in op.arguments if a.mutation is kind} for kind in OpMutation}
    assert found[OpMutation.WRITTEN] | found[OpMutation.MAYBE] == written
    assert found[OpMutation.UNKNOWN] == unknown
    assert op.complete is not bool(unknown)


def test_addresses_in_an_argument_that_is_not_written_are_followed(tmp_path: Path) -> None:
    op = op_of(tmp_path, "by_flag_through_a_table[(1,)](x, out, table, FLAG=False)")
    assert not op.complete
    assert "table" not in op.mutated
