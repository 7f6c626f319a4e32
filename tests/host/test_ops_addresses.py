"""A launch may pass a tensor, or its address in a number: both are written where the kernel writes there."""

from __future__ import annotations

import pytest

from tests.helpers.launching import ops_of
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


BY_POINTER_OR_NUMBER = ("to_pointer", "to_number")
KERNELS = (*BY_POINTER_OR_NUMBER, "to_pointer_by_flag")
ADDRESSES = (
    "x", "x.view(-1)", "x.data_ptr()", "int(x.data_ptr())", "x.data_ptr() + 4 * x.storage_offset()",
    "[t.data_ptr() for t in (x,)][0]", f"{TABLE}.item()", f"{TABLE}.tolist()[0]", "max(x.data_ptr(), n)",
    "-(-x.data_ptr())", "x.untyped_storage().data_ptr()",
)
OTHERS = ("torch.empty_like(x)", "x.clone()", "None")
TABLES: list[tuple[str, tuple[str, ...], bool]] = [
    (f"to_pointer[(1,)]({TABLE}, BLOCK=16)", (), True),
    (f"through_table[(1,)]({TABLE}, BLOCK=16)", ("x",), True),
    ("through_table[(1,)](x, BLOCK=16)", (), False),
]


def launch(kernel: str, passed: str) -> str:
    return f"{kernel}[(1,)]({passed}, BLOCK=16)"


def after_an_address_was_taken(kernel: str) -> str:
    return f"y = str(x.data_ptr()); {launch(kernel, 'n')}"


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpReport]:
    launches = [launch(kernel, passed) for kernel in KERNELS for passed in (*ADDRESSES, *OTHERS, "n")]
    launches += [*map(after_an_address_was_taken, KERNELS), *(text for text, _, _ in TABLES)]
    return ops_of(tmp_path_factory.mktemp("launches"), TEXT, launches)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("passed", ADDRESSES)
def test_a_tensor_or_its_address(kernel: str, passed: str, ops: dict[str, OpReport]) -> None:
    assert ops[launch(kernel, passed)].mutated == ("x",)


@pytest.mark.parametrize("kernel", BY_POINTER_OR_NUMBER)
@pytest.mark.parametrize("passed", OTHERS)
def test_something_else(kernel: str, passed: str, ops: dict[str, OpReport]) -> None:
    op = ops[launch(kernel, passed)]
    assert [a.mutation for a in op.arguments] == [OpMutation.UNWRITTEN] * 2
    assert op.complete


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_address_from_elsewhere(kernel: str, ops: dict[str, OpReport]) -> None:
    """It may be that of any argument whose address was taken."""
    assert not ops[launch(kernel, "n")].complete
    assert ops[after_an_address_was_taken(kernel)].unknown == ("x",)


@pytest.mark.parametrize(("text", "written", "complete"), TABLES)
def test_a_table_of_addresses(text: str, written: tuple[str, ...], complete: bool, ops: dict[str, OpReport]) -> None:
    assert (ops[text].mutated, ops[text].complete) == (written, complete)
