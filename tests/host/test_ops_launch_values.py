"""A launch that fixes compile-time values writes what the kernel writes under these."""

from __future__ import annotations

import pytest

from tests.helpers.launching import ops_of
from triton_mutlint.types import OpMutation, OpReport

TEXT = '''
from typing import NamedTuple

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


@triton.jit
def at_run_time(x, out, flag=False, level=0):
    if flag:
        tl.store(x, 1.0)
    elif level == 7:
        tl.store(x, 2.0)
    tl.store(out, 2.0)


@triton.jit
def narrow_at_run_time(x, out, flag: tl.int8):
    if flag == 0:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


class Pair(NamedTuple):
    source: torch.Tensor
    target: torch.Tensor


@triton.jit
def through_fields(pair, out, flag=False):
    if flag:
        tl.store(pair.target, tl.load(pair.source))
    tl.store(out, 2.0)


@triton.jit
def at_run_time_in_a_loop(x, out, flag):
    for _ in range(3):
        if flag:
            tl.store(x, 1.0)
        flag = flag + 1
    tl.store(out, 2.0)


@triton.heuristics({"FLAG": lambda args: args["n"] > 8})
@triton.jit
def worked_out(x, out, n, FLAG: tl.constexpr):
    if FLAG:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


@triton.jit
def first(x, out, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


@triton.jit
def second(x, out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), 1.0)


@triton.jit
def by_function(x, out, F: tl.constexpr, BLOCK: tl.constexpr):
    F(x, out, BLOCK)


@triton.jit
def by_function_and_level(x, out, F: tl.constexpr, LEVEL: tl.constexpr):
    F(x, out, 16)
    if LEVEL * LEVEL == 49:
        tl.store(x, 1.0)


def launch_with_both():
    by_function[(1,)](None, None, first, 16)
    by_function[(1,)](None, None, second, 16)
    by_function_and_level[(1,)](None, None, first, 2)
    by_function_and_level[(1,)](None, None, second, 2)


renamed = second


@torch.library.custom_op("a::launched", mutates_args=())
def launched(x: torch.Tensor, out: torch.Tensor, table: torch.Tensor) -> None:
    {launch}
'''


OTHER = '''
import triton
import triton.language as tl


@triton.jit
def second(x, out, BLOCK: tl.constexpr):
    tl.store(x, 1.0)
'''


SETS = """
import state
import triton


@triton.jit
def nothing(x):
    pass


def switch_on():
    state.FLAG = 1
"""


LAUNCHES: list[tuple[str, set[str], set[str]]] = [
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
    ("at_run_time[(1,)](x, out)", {"out"}, set()),
    ("at_run_time[(1,)](x, out, False, 3)", {"out"}, set()),
    ("at_run_time[(1,)](x, out, False, -1)", {"x", "out"}, set()),  # compared without its sign to a large one
    ("narrow_at_run_time[(1,)](x, out, 256)", {"x", "out"}, set()),
    ("import state; at_run_time[(1,)](x, out, state.QUIET)", {"out"}, set()),
    ("import state; at_run_time[(1,)](x, out, state.FLAG)", {"x", "out"}, set()),  # another file sets it
    ("at_run_time[(1,)](x, out, flag=True)", {"x", "out"}, set()),
    ("at_run_time[(1,)](x, out, level=7)", {"x", "out"}, set()),
    ("at_run_time[(1,)](x, out, level=x.shape[0])", {"x", "out"}, set()),
    ("at_run_time[(1,)](x, out, flag=bool(x.shape[0]))", {"x", "out"}, set()),
    ("at_run_time[(1,)](x, out, **{'flag': True} if x.shape[0] else {})", {"x", "out"}, set()),
    ("at_run_time_in_a_loop[(1,)](x, out, 0)", {"x", "out"}, set()),
    ("through_fields[(1,)](Pair(table, x), out)", {"out"}, set()),
    ("through_fields[(1,)](Pair(table, x), out, True)", {"x", "out"}, set()),
    ("worked_out[(1,)](x, out, 9, FLAG=False)", {"x", "out"}, set()),  # the heuristic's value takes its place
    ("by_function[(1,)](x, out, first, 128)", {"x"}, set()),
    ("by_function[(1,)](x, out, second, 128)", {"out"}, set()),
    ("by_function[(1,)](x, out, F=renamed, BLOCK=x.shape[0])", {"out"}, set()),
    ("by_function[(1,)](x, out, [first, second][x.shape[0]], 128)", {"x", "out"}, set()),
    ("from other import second; by_function[(1,)](x, out, second, 128)", {"x", "out"}, set()),  # of the same name
    ("by_function_and_level[(1,)](x, out, second, x.shape[0])", {"out"}, {"x"}),
    ("by_function_and_level[(1,)](x, out, first, 3); by_function_and_level[(1,)](table, out, second, 3)",
     {"x", "out"}, set()),
    ("each[(1,)]((x, x, x, x), out)", {"x", "out"}, set()),
    ("each[(1,)]((x, x, x, x, x, x, table), out)", {"x", "out"}, {"table"}),  # more than were guessed
]
ADDRESSES = "by_flag_through_a_table[(1,)](x, out, table, FLAG=False)"


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpReport]:
    folder = tmp_path_factory.mktemp("launches")
    (folder / "other.py").write_text(OTHER)
    (folder / "state.py").write_text("QUIET = 0\nFLAG = 0\n")
    (folder / "sets.py").write_text(SETS)
    return ops_of(folder, TEXT, [ADDRESSES, *(launch for launch, _, _ in LAUNCHES)], ("sets.py",))


@pytest.mark.parametrize(("launch", "written", "unknown"), LAUNCHES)
def test_what_the_launch_fixes_decides(launch: str, written: set[str], unknown: set[str],
                                       ops: dict[str, OpReport]) -> None:
    op = ops[launch]
    found = {kind: {a.name for a in op.arguments if a.mutation is kind} for kind in OpMutation}
    assert found[OpMutation.WRITTEN] | found[OpMutation.MAYBE] == written
    assert found[OpMutation.UNKNOWN] == unknown
    assert op.complete is not bool(unknown)


def test_addresses_in_an_argument_that_is_not_written_are_followed(ops: dict[str, OpReport]) -> None:
    op = ops[ADDRESSES]
    assert not op.complete
    assert "table" not in op.mutated
