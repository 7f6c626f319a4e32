"""A launch may pass a tensor, or its address in a number: both are written where the kernel writes there."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import OpMutation, OpReport

TEXT = '''
import torch
import triton
import triton.language as tl


@triton.jit
def to_pointer(dst, BLOCK: tl.constexpr):
    p = dst.to(tl.int64).to(tl.pointer_type(tl.float32))
    tl.store(p + tl.arange(0, BLOCK), 1.0)


@triton.jit
def to_number(address: tl.int64, BLOCK: tl.constexpr):
    p = address.to(tl.pointer_type(tl.float32))
    tl.store(p + tl.arange(0, BLOCK), 1.0)


@triton.jit
def to_pointer_by_flag(dst, BLOCK: tl.constexpr, flag=True):
    p = dst.to(tl.int64).to(tl.pointer_type(tl.float32))
    if flag:
        tl.store(p + tl.arange(0, BLOCK), 1.0)


@triton.jit
def through_table(table, BLOCK: tl.constexpr):
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(p + tl.arange(0, BLOCK), 1.0)


@torch.library.custom_op("a::launched", mutates_args=())
def launched(x: torch.Tensor, n: int) -> None:
    {launch}
'''
TABLE = "torch.tensor([x.data_ptr()])"


def op_of(tmp_path: Path, launch: str) -> OpReport:
    (tmp_path / "ops.py").write_text(TEXT.replace("{launch}", launch))
    (op,) = run(Request(("ops.py",), tmp_path, targets=("cuda:90",))).ops
    return op


@pytest.mark.parametrize("kernel", ["to_pointer", "to_number", "to_pointer_by_flag"])
@pytest.mark.parametrize("passed", [
    "x", "x.view(-1)", "x.data_ptr()", "int(x.data_ptr())", "x.data_ptr() + 4 * x.storage_offset()",
    "[t.data_ptr() for t in (x,)][0]", f"{TABLE}.item()", f"{TABLE}.tolist()[0]", "max(x.data_ptr(), n)",
    "-(-x.data_ptr())", "x.untyped_storage().data_ptr()",
])
def test_a_tensor_or_its_address(kernel: str, passed: str, tmp_path: Path) -> None:
    op = op_of(tmp_path, f"{kernel}[(1,)]({passed}, BLOCK=16)")
    assert op.mutated == ("x",)


@pytest.mark.parametrize("kernel", ["to_pointer", "to_number"])
@pytest.mark.parametrize("passed", ["torch.empty_like(x)", "x.clone()", "None"])
def test_something_else(kernel: str, passed: str, tmp_path: Path) -> None:
    op = op_of(tmp_path, f"{kernel}[(1,)]({passed}, BLOCK=16)")
    assert [a.mutation for a in op.arguments] == [OpMutation.UNWRITTEN] * 2
    assert op.complete


@pytest.mark.parametrize("kernel", ["to_pointer", "to_number", "to_pointer_by_flag"])
def test_an_address_from_elsewhere(kernel: str, tmp_path: Path) -> None:
    """It may be that of any argument whose address was taken."""
    op = op_of(tmp_path, f"{kernel}[(1,)](n, BLOCK=16)")
    assert not op.complete
    op = op_of(tmp_path, f"y = str(x.data_ptr()); {kernel}[(1,)](n, BLOCK=16)")
    assert op.unknown == ("x",)


@pytest.mark.parametrize(("launch", "written", "complete"), [
    (f"to_pointer[(1,)]({TABLE}, BLOCK=16)", (), True),
    (f"through_table[(1,)]({TABLE}, BLOCK=16)", ("x",), True),
    ("through_table[(1,)](x, BLOCK=16)", (), False),
])
def test_a_table_of_addresses(launch: str, written: tuple[str, ...], complete: bool, tmp_path: Path) -> None:
    op = op_of(tmp_path, launch)
    assert (op.mutated, op.complete) == (written, complete)
