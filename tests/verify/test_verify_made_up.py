"""Values and tensors that nobody gave: the same each time, and fitting together."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

from triton_mutlint.kernel_source.dtypes import FLOATS, INTEGERS
from triton_mutlint.types import ScalarType
from triton_mutlint.verify.wire import FILLS, RefusedError

pytestmark = pytest.mark.torch


@pytest.fixture
def made() -> ModuleType:
    """What makes values, which imports torch."""
    return import_module("triton_mutlint.verify.running.memory")


@pytest.fixture
def torch() -> ModuleType:
    return import_module("torch")


def test_scalars_follow_the_size_and_the_kind_of_values(made: ModuleType) -> None:
    assert [made.scalar_value(ScalarType("i32"), "medium", fill, 1) for fill in ("random", "extreme")] == [32, 0]
    assert made.scalar_value(ScalarType("i32", 16), "small", "random", 0) == 16
    for kind, expected in (("fp32", [0, 1, 1.5]), ("i1", [0, 1, 1])):
        found = [made.scalar_value(ScalarType(kind), "small", fill, 1) for fill in ("zeros", "ones", "random")]
        assert found == expected


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("element", [*FLOATS, *INTEGERS])
def test_a_tensor_is_filled_alike_for_the_same_seed(made: ModuleType, element: str, fill: str) -> None:
    once, again = (made.filled(element, 33, fill, 3, "x") for _ in range(2))
    assert len(once) == 33 * made.element_bytes(element)
    assert (once == again).all()


def test_other_seeds_and_names_give_other_values(made: ModuleType) -> None:
    first = made.filled("fp32", 64, "random", 1, "x")
    assert (first != made.filled("fp32", 64, "random", 2, "x")).any()
    assert (first != made.filled("fp32", 64, "random", 1, "y")).any()


def test_random_integers_may_serve_as_indices(made: ModuleType, torch: ModuleType) -> None:
    found = made.filled("i32", 1000, "random", 5, "index").view(torch.int32)
    assert found.min() >= 0
    assert found.max() < 8


def test_lengths_and_beginnings_are_told_by_their_names(made: ModuleType, torch: ModuleType) -> None:
    begins = made.filled("i32", 4, "random", 1, "cu_seqlens", 32).view(torch.int32)
    lengths = made.filled("i64", 3, "ones", 1, "seq_lens", 5).view(torch.int64)
    pairs = made.filled("i32", 6, "ramp", 1, "chunk_indices", 5).view(torch.int32)
    assert (begins.tolist(), lengths.tolist(), pairs.tolist()) == ([0, 32, 64, 96], [5, 5, 5], [0, 0, 1, 0, 0, 0])
    assert made.filled("i32", 4, "zeros", 1, "cu_seqlens", 32).view(torch.int32).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("element", "given", "expected"), [
    ("fp16", [0.5, 2], [0.5, 2.0, 0.5]), ("i8", [-1], [-1, -1, -1]), ("u8", 200, [200, 200, 200]),
    ("i1", [0, 1], [False, True, False]),
])
def test_what_a_spec_lists_is_repeated(made: ModuleType, element: str, given: object, expected: list[float]) -> None:
    found = made.given_values(element, 3, given, 0, "x")
    assert found.view(made.torch_dtype(element)).tolist() == expected


def test_values_that_an_element_cannot_hold_are_refused(made: ModuleType) -> None:
    with pytest.raises(RefusedError, match="x cannot hold these values"):
        made.given_values("i8", 3, [300], 0, "x")
