"""Values and tensors that nobody gave: the same each time, and fitting together."""

from __future__ import annotations

import numpy
import pytest

from triton_mutlint.types import ScalarType
from triton_mutlint.verify.fills import FLOAT_BITS, element_bytes, filled
from triton_mutlint.verify.loops import LoopInteger, loop_range
from triton_mutlint.verify.sizes import scalar_values
from triton_mutlint.verify.wire import FILLS

I32 = ScalarType("i32")


def _values(*names: str, size: str = "medium", fill: str = "random", seed: int = 1) -> dict[str, object]:
    return scalar_values(dict.fromkeys(names, I32), size, fill, seed)


def test_strides_of_one_tensor_are_those_of_contiguous_memory() -> None:
    found = _values("stride_qb", "stride_qh", "stride_qm", "stride_kb", "stride_kh", "stride_km")
    assert found == {"stride_qb": 1024, "stride_qh": 32, "stride_qm": 1,
                     "stride_kb": 1024, "stride_kh": 32, "stride_km": 1}


def test_a_row_stride_is_a_row_and_not_one() -> None:
    assert _values("X_row_stride", "n_cols", "stride", "col_stride_inner") == {
        "X_row_stride": 32, "n_cols": 32, "stride": 32, "col_stride_inner": 1}


def test_offsets_are_zero_and_flags_take_turns() -> None:
    assert _values("offset", "start_pos", "is_causal", seed=1) == {"offset": 0, "start_pos": 0, "is_causal": 1}
    assert _values("is_causal", seed=2) == {"is_causal": 0}


def test_divisible_integers_are_divisible() -> None:
    found = scalar_values({"n": ScalarType("i32", 16)}, "small", "random", 0)
    assert found == {"n": 16}


def test_floats_and_booleans_follow_the_kind_of_values() -> None:
    scalars = {"scale": ScalarType("fp32"), "eps": ScalarType("fp32"), "on": ScalarType("i1")}
    assert scalar_values(scalars, "medium", "zeros", 1) == {"scale": 0.0, "eps": 0.0, "on": False}
    assert scalar_values(scalars, "medium", "ones", 0) == {"scale": 1.0, "eps": 0.25, "on": True}


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("element", [*FLOAT_BITS, "i1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_a_tensor_is_filled_alike_for_the_same_seed(element: str, fill: str) -> None:
    once, again = (filled(element, 33, fill, 3, "x") for _ in range(2))
    assert len(once) == 33 * element_bytes(element)
    assert (once == again).all()


def test_other_seeds_and_names_give_other_values() -> None:
    first = filled("fp32", 64, "random", 1, "x")
    assert (first != filled("fp32", 64, "random", 2, "x")).any()
    assert (first != filled("fp32", 64, "random", 1, "y")).any()


def test_random_integers_may_serve_as_indices() -> None:
    found = filled("i32", 1000, "random", 5, "index").view(numpy.int32)
    assert found.min() >= 0
    assert found.max() < 8


def test_lengths_and_beginnings_are_told_by_their_names() -> None:
    begins = filled("i32", 4, "random", 1, "cu_seqlens", 32).view(numpy.int32)
    lengths = filled("i64", 3, "ones", 1, "seq_lens", 5).view(numpy.int64)
    pairs = filled("i32", 6, "ramp", 1, "chunk_indices", 5).view(numpy.int32)
    assert (begins.tolist(), lengths.tolist(), pairs.tolist()) == ([0, 32, 64, 96], [5, 5, 5], [0, 0, 1, 0, 0, 0])
    assert filled("i32", 4, "zeros", 1, "cu_seqlens", 32).view(numpy.int32).tolist() == [0, 0, 0, 0]


def test_loop_variables_stay_what_they_are() -> None:
    last = list(loop_range(2, 8, 3))[-1]
    for value in (last, last * 2, 10 - last, last // 2, 7 % last, -1 + last):
        assert isinstance(value, LoopInteger)
    assert (last, last * 2, 10 - last, [1, 2, 3, 4, 5, 6][last]) == (5, 10, 5, 6)
    assert isinstance(last * 1.5, float)
