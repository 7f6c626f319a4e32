"""A spec speaks for the launches that it describes: of others, what the source may store through is not known."""

from __future__ import annotations

import pytest

from tests.helpers.launching import ops_of
from triton_mutlint.types import OpMutation, OpReport

TEXT = '''
import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def by_flag(x, out, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if FLAG:
        tl.store(x + i, 1.0)
    tl.store(out + i, 2.0)


@triton.jit
def by_both(x, out, FLAG: tl.constexpr, LEVEL: tl.constexpr):
    if FLAG and LEVEL == 5:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


@triton.jit
def by_default(x, out, FLAG: tl.constexpr = True):
    if FLAG:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


@triton.jit
def by_presence(x, out, other):
    if other is None:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


@triton.jit
def by_absence(x, out, other):
    if other is not None:
        tl.store(other, 1.0)
    tl.store(out, 2.0)


@triton.jit
def each(pointers, out):
    for i in tl.static_range(len(pointers)):
        tl.store(pointers[i], 1.0)
    tl.store(out, 2.0)


@triton.jit
def by_dtype(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if x.dtype.element_ty == tl.float16:
        tl.store(x + i, 1.0)
    tl.store(out + i, 2.0)


@triton.jit
def converted(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    if x.dtype.element_ty == tl.float16:
        value = value.to(tl.float32)
    tl.store(out + i, value.to(out.dtype.element_ty))


@triton.autotune([triton.Config({"FLAG": False}), triton.Config({"FLAG": True})], key=[])
@triton.jit
def tuned(x, out, FLAG: tl.constexpr):
    if FLAG:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


@triton.heuristics({"FLAG": lambda args: args["n"] > 8})
@triton.jit
def worked_out(x, out, n, FLAG: tl.constexpr):
    if FLAG:
        tl.store(x, 1.0)
    tl.store(out, 2.0)


@triton.jit
def first(x, out):
    tl.store(x, 1.0)


@triton.jit
def second(x, out):
    tl.store(out, 1.0)


# by_function is given first or second


@triton.jit
def by_function(x, out, F: tl.constexpr):
    F(x, out)
    tl.store(out, 2.0)


@triton.jit
def through_a_table(x, table, FLAG: tl.constexpr):
    if FLAG:
        tl.store(tl.load(table).to(tl.pointer_type(tl.float32)), 1.0)


@torch.library.custom_op("a::launched", mutates_args=())
def launched(x: Tensor, out: Tensor, other: Tensor, n: int, flag: bool) -> None:
    {launch}
'''
SPEC = '''
version: 1
kernels:
  by_flag: {args: {x: "*fp32", out: "*fp32", FLAG: false, BLOCK: 16}}
  by_both: {args: {x: "*fp32", out: "*fp32", FLAG: [false, true], LEVEL: [0, 7]}}
  by_default: {args: {x: "*fp32", out: "*fp32", FLAG: false}}
  by_presence: {args: {x: "*fp32", out: "*fp32", other: "*fp32"}}
  by_absence: {args: {x: "*fp32", out: "*fp32", other: null}}
  each: {args: {pointers: "(*fp32, *fp32)", out: "*fp32"}}
  by_dtype: {args: {x: "*fp32", out: "*fp32", BLOCK: 16}}
  converted: {args: {x: "*fp32", out: "*fp32", BLOCK: 16}}
  tuned: {args: {x: "*fp32", out: "*fp32", FLAG: false}}
  worked_out: {args: {x: "*fp32", out: "*fp32", n: i32, FLAG: false}}
  by_function: {args: {x: "*fp32", out: "*fp32", F: {ref: second}}}
  through_a_table: {args: {x: "*fp32", table: "*i64", FLAG: false}}
'''


LAUNCHES: list[tuple[str, set[str], set[str]]] = [
    ("by_flag[(1,)](x, out, FLAG=False, BLOCK=16)", {"out"}, set()),
    ("by_flag[(1,)](x, out, FLAG=False, BLOCK=n)", {"out"}, set()),
    ("by_flag[(1,)](x, out, 0, BLOCK=256)", {"out"}, set()),
    ("by_flag[(1,)](x, out, FLAG=True, BLOCK=16)", {"out"}, {"x"}),
    ("by_flag[(1,)](x, out, FLAG=flag, BLOCK=16)", {"out"}, {"x"}),
    ("by_flag[(1,)](x, out, BLOCK=16, **{'FLAG': True})", {"out"}, {"x"}),
    ("by_both[(1,)](x, out, False, 5)", {"out"}, set()),
    ("by_both[(1,)](x, out, True, 7)", {"out"}, set()),
    ("by_both[(1,)](x, out, True, 5)", {"out"}, {"x"}),
    ("by_both[(1,)](x, out, True, n)", {"out"}, {"x"}),
    ("by_both[(1,)](x, out, False, n)", {"out"}, set()),
    ("by_default[(1,)](x, out, False)", {"out"}, set()),
    ("by_default[(1,)](x, out)", {"out"}, {"x"}),
    ("by_presence[(1,)](x, out, torch.empty(3))", {"out"}, set()),
    ("by_presence[(1,)](x, out, None)", {"out"}, {"x"}),
    ("by_absence[(1,)](x, out, None)", {"out"}, set()),
    ("by_absence[(1,)](x, out, other)", {"out"}, {"other"}),
    ("each[(1,)]((x, x), out)", {"x", "out"}, set()),
    ("each[(1,)]((x, x, other), out)", {"x", "out"}, {"other"}),
    ("by_dtype[(1,)](x, out, 16)", {"out"}, {"x"}),
    ("converted[(1,)](x, out, 16)", {"out"}, set()),
    ("converted[(1,)](x, out, 1024)", {"out"}, set()),
    ("tuned[(1,)](x, out)", {"out"}, {"x"}),
    ("worked_out[(1,)](x, out, n)", {"out"}, {"x"}),
    ("worked_out[(1,)](x, out, n, FLAG=False)", {"out"}, {"x"}),
    ("by_function[(1,)](x, out, second)", {"out"}, set()),
    ("by_function[(1,)](x, out, first)", {"out"}, {"x"}),
    ("by_function[(1,)](x, out, [first, second][n])", {"out"}, {"x"}),
    ("through_a_table[(1,)](x, torch.tensor([other.data_ptr()]), False)", set(), set()),
    ("through_a_table[(1,)](x, torch.tensor([other.data_ptr()]), True)", set(), {"other"}),
]


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpReport]:
    folder = tmp_path_factory.mktemp("launches")
    (folder / "spec.yaml").write_text(SPEC)
    return ops_of(folder, TEXT, [launch for launch, _, _ in LAUNCHES], spec=folder / "spec.yaml")


@pytest.mark.parametrize(("launch", "written", "unknown"), LAUNCHES)
def test_a_launch_that_the_spec_does_not_give(launch: str, written: set[str], unknown: set[str],
                                              ops: dict[str, OpReport]) -> None:
    op = ops[launch]
    found = {kind: {a.name for a in op.arguments if a.mutation is kind} for kind in OpMutation}
    assert found[OpMutation.WRITTEN] | found[OpMutation.MAYBE] == written
    assert found[OpMutation.UNKNOWN] == unknown
    assert op.complete is not bool(unknown)


def test_the_reason_names_the_launch_and_its_value(ops: dict[str, OpReport]) -> None:
    op = ops["by_flag[(1,)](x, out, FLAG=True, BLOCK=16)"]
    (effect,) = op.gaps
    assert (effect.kernel, effect.location.file) == ("by_flag", op.location.file)
    assert effect.text == "`by_flag` may write `x` when it is launched with `FLAG=True`: no analysed variant has that"
