"""What a kernel writes is the same before and after Triton's passes for GPUs, and shared memory may hold addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.ttir_case import analyze, module, through, written

STAGES = Path(__file__).resolve().parents[2] / "fixtures" / "ttgir"
WRITTEN = {
    "product_by_specialized_warps.cuda100": {"arg2"}, "product_by_descriptors.cuda90": {"arg2"},
    "product.cuda90": {"arg2"}, "rows_gathered.cuda90": {"arg2"}, "rows_added.cuda90": {"arg1"},
    "rows_added.hip": {"arg1"}, "histogram.hip": {"arg1"}, "through_a_table.cuda90": {"arg2"},
    "through_a_table.hip": {"arg2"},
}  # fmt: skip
SHARED = "!ttg.memdesc<1xi64, #shared, #smem, mutable>"
PARKED = f"""
    %one = arith.constant 1.0 : f32
    %v = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %t = tt.splat %v : i64 -> tensor<1xi64>
    PARK
    %u = ttg.local_load %m : {SHARED} -> tensor<1xi64>
    %w = tt.unsplat %u : tensor<1xi64>
    %p = tt.int_to_ptr %w : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>"""


@pytest.mark.parametrize("name", WRITTEN)
def test_the_verdict_is_that_of_the_stage_before(name: str) -> None:
    before, after = (analyze((STAGES / f"{name}.{stage}").read_text(encoding="utf-8")) for stage in ("ttir", "ttgir"))
    assert written(before) == written(after) == WRITTEN[name]
    assert before.accesses.keys() == after.accesses.keys()
    assert through(before) == through(after)
    assert not before.unknown | after.unknown


@pytest.mark.parametrize(("park", "expected"), [
    (f"%m = ttg.local_alloc %t : (tensor<1xi64>) -> {SHARED}", {"a"}),
    (f"%m = ttg.local_alloc : () -> {SHARED}\n    ttg.local_store %t, %m : tensor<1xi64> -> {SHARED}", {"a"}),
    (f"%m = ttg.local_alloc : () -> {SHARED}", set()),
])  # fmt: skip
def test_an_address_goes_through_shared_memory(park: str, expected: set[str]) -> None:
    effects = analyze(module("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>", PARKED.replace("PARK", park)))
    assert written(effects) == expected
    assert effects.unknown == frozenset()


def test_what_is_copied_into_shared_memory_is_loaded() -> None:
    park = f"""%m = ttg.local_alloc : () -> {SHARED}
    %k = arith.constant 0 : i32
    ttng.async_tma_copy_global_to_local %d[%k] %m, %m, %k : !tt.tensordesc<1xi64>, {SHARED} -> {SHARED}"""
    effects = analyze(module("%a: !tt.ptr<f32>, %d: !tt.tensordesc<1xi64>", PARKED.replace("PARK", park)))
    assert (written(effects), through(effects)) == (set(), {("d", "loaded")})


def test_an_address_goes_from_shared_memory_to_a_parameter_and_back() -> None:
    body = f"""
    %one = arith.constant 1.0 : f32
    %v = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %t = tt.splat %v : i64 -> tensor<1xi64>
    %k = arith.constant 0 : i32
    %m = ttg.local_alloc %t : (tensor<1xi64>) -> {SHARED}
    ttng.async_tma_copy_local_to_global %d[%k] %m : !tt.tensordesc<1xi64>, {SHARED}
    %u = tt.descriptor_load %d[%k] : !tt.tensordesc<1xi64> -> tensor<1xi64>
    %w = tt.unsplat %u : tensor<1xi64>
    %p = tt.int_to_ptr %w : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>"""
    assert written(analyze(module("%a: !tt.ptr<f32>, %d: !tt.tensordesc<1xi64>", body))) == {"a", "d"}


def test_an_op_of_these_dialects_without_a_row_is_unanalyzable() -> None:
    effects = analyze(module("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>", "    ttng.never_heard_of %a : !tt.ptr<f32>"))
    assert effects.unknown == {"a"}
