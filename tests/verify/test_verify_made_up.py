"""Values and tensors that nobody gave: the same each time, and fitting together."""

from __future__ import annotations

import pytest

from triton_mutlint.kernel_source.dtypes import FLOATS, INTEGERS
from triton_mutlint.types import ScalarType
from triton_mutlint.verify.wire import FILLS

torch = pytest.importorskip("torch")  # one of the two test environments lacks it

from triton_mutlint.verify.running.values import element_bytes, filled, scalar_value  # noqa: E402


def test_scalars_follow_the_size_and_the_kind_of_values() -> None:
    assert [scalar_value(ScalarType("i32"), "medium", fill, 1) for fill in ("random", "extreme")] == [32, 0]
    assert scalar_value(ScalarType("i32", 16), "small", "random", 0) == 16
    assert [scalar_value(ScalarType("fp32"), "small", fill, 1) for fill in ("zeros", "ones", "random")] == [0, 1, 1.5]
    assert [scalar_value(ScalarType("i1"), "small", fill, 1) for fill in ("zeros", "ones", "random")] == [0, 1, 1]


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_a_tensor_is_filled_alike_for_the_same_seed(element: str, fill: str) -> None:
    once, again = (filled(element, 33, fill, 3, "x") for _ in range(2))
    assert len(once) == 33 * element_bytes(element)
    assert (once == again).all()


def test_other_seeds_and_names_give_other_values() -> None:
    first = filled("fp32", 64, "random", 1, "x")
    assert (first != filled("fp32", 64, "random", 2, "x")).any()
    assert (first != filled("fp32", 64, "random", 1, "y")).any()


def test_random_integers_may_serve_as_indices() -> None:
    found = filled("i32", 1000, "random", 5, "index").view(torch.int32)
    assert found.min() >= 0
    assert found.max() < 8


def test_lengths_and_beginnings_are_told_by_their_names() -> None:
    begins = filled("i32", 4, "random", 1, "cu_seqlens", 32).view(torch.int32)
    lengths = filled("i64", 3, "ones", 1, "seq_lens", 5).view(torch.int64)
    pairs = filled("i32", 6, "ramp", 1, "chunk_indices", 5).view(torch.int32)
    assert (begins.tolist(), lengths.tolist(), pairs.tolist()) == ([0, 32, 64, 96], [5, 5, 5], [0, 0, 1, 0, 0, 0])
    assert filled("i32", 4, "zeros", 1, "cu_seqlens", 32).view(torch.int32).tolist() == [0, 0, 0, 0]
