"""Each row of the effects table, one by one: where an address goes through the op, and what the op does there."""

from __future__ import annotations

import pytest

from tests.helpers.ttir_case import analyze, module, through, written
from triton_mutlint.ttir.ops import Flow, lookup, rows
from triton_mutlint.types import AccessKind

MADE = ("arith.constant", "tt.make_range", "tt.get_program_id", "tt.get_num_programs", "ub.poison", "ttg.warp_id",
        "ttng.clc_try_cancel_sync", "ttg.global_scratch_alloc")  # of no operand
OWN_RULES = ("arith.addi", "arith.subi", "arith.andi", "arith.remui", "arith.remsi", "tt.split", "tt.addptr",
             "arith.select", "tt.gather", "tt.int_to_ptr")  # fmt: skip
FIRST_ONLY = ("tt.gather", "tt.make_tensor_ptr", "tt.advance", "tt.make_tensor_descriptor",
              "tt.reinterpret_tensor_descriptor", "ttng.reinterpret_tensor_descriptor",
              "amdg.update_tensor_descriptor")  # fmt: skip
PASSING = sorted(r.name for r in rows() if r.flow is Flow.ALL and r.name not in (*OWN_RULES, *MADE))
# What each op does through its operands, said again by hand: r read, w write, a atomic.
MEMORY = {
    "tt.load": "r", "tt.store": "w-", "tt.atomic_rmw": "a-", "tt.atomic_cas": "a--", "tt.atomic_load": "r",
    "tt.atomic_poll": "r-", "tt.atomic_store": "w-", "tt.descriptor_load": "r-", "tt.descriptor_gather": "r--",
    "tt.descriptor_store": "w--", "tt.descriptor_scatter": "w---", "tt.descriptor_reduce": "a--",
    "tt.experimental_descriptor_load": "r-", "tt.experimental_descriptor_gather": "r--",
    "tt.experimental_descriptor_store": "w--", "tt.experimental_descriptor_scatter": "w---",
    "ttng.async_tma_copy_global_to_local": "r--", "ttng.async_tma_gather": "r--",
    "ttng.async_tma_copy_local_to_global": "w--", "ttng.async_tma_scatter": "w--", "ttng.async_tma_reduce": "a--",
    "amdg.buffer_load": "r-", "amdg.buffer_store": "-w-", "amdg.buffer_atomic_rmw": "-a-", "ttg.local_alloc": "-",
    "ttg.local_store": "--", "ttg.local_load": "-", "ttng.tmem_alloc": "-", "ttng.tmem_store": "--",
    "ttng.tmem_load": "-", "ttng.warp_group_dot": "---", "ttng.async_shared_store": "---", "ttg.local_scatter": "---",
    "ttg.local_atomic_scatter_rmw": "----", "ttg.local_gather": "--", "ttng.clc_load_result": "-",
    "amdg.local_load_packed_transposed": "-", "amdg.local_load_packed_tranposed": "-",
    "ttg.async_copy_global_to_local": "r---",
    "amdg.buffer_load_to_local": "r---", "amdg.async_tdm_copy_global_to_local": "r--", "amdg.async_tdm_gather": "r---",
    "amdg.async_tdm_fused_copy_global_to_local": "rrrr", "amdg.async_tdm_copy_local_to_global": "w--",
    "amdg.async_tdm_scatter": "w---", "amdg.async_copy_local_to_global": "-w-", "ttng.tensormap_create": "w---",
    "amdg.tdm_prefetch": "r---", "amdg.buffer_atomic_cas": "--a-", "amdg.masked_load": "r-", "amdg.masked_store": "w-",
}  # fmt: skip
RETURNS = {r.name: r.flow in (Flow.LOADED, Flow.MASKED) for r in rows()}
KINDS = {"r": {AccessKind.READ}, "w": {AccessKind.WRITE}, "a": {AccessKind.ATOMIC}, "-": set()}
ADDRESSES = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %d: !tt.ptr<f32>"
AS_INTEGERS = "".join(f"    %{n}i = tt.ptr_to_int %{n} : !tt.ptr<f32> -> i64\n" for n in "abcd")
STORE = """
    %p = tt.int_to_ptr %r : i64 -> !tt.ptr<f32>
    %one = arith.constant 1.0 : f32
    tt.store %p, %one : !tt.ptr<f32>"""


def stored_through(op: str, operands: str) -> tuple[set[str], frozenset[str]]:
    """What is written through the result of an op, and what is unknown then."""
    names = ", ".join(f"%{n}i" for n in operands)
    types = ", ".join("i64" for _ in operands)
    effects = analyze(module(ADDRESSES, f'{AS_INTEGERS}    %r = "{op}"({names}) : ({types}) -> i64{STORE}'))
    return written(effects), effects.unknown


@pytest.mark.parametrize("op", PASSING)
def test_an_address_goes_through(op: str) -> None:
    assert stored_through(op, "ab") == ({"a", "b"}, frozenset())


def test_nearly_every_row_lets_addresses_through() -> None:
    assert len(PASSING) > 100


@pytest.mark.parametrize("op", FIRST_ONLY)
def test_only_the_first_operand_is_an_address(op: str) -> None:
    assert stored_through(op, "ab") == ({"a"}, frozenset())


@pytest.mark.parametrize("op", [r.name for r in rows() if r.flow is Flow.NONE and not r.touches_memory])
def test_nothing_goes_through(op: str) -> None:
    assert stored_through(op, "ab") == (set(), {"a", "b"})  # but a bit of each may be seen in the result


@pytest.mark.parametrize("op", MEMORY)
def test_what_is_done_through_each_operand(op: str) -> None:
    names = "abcd"[: len(MEMORY[op])]
    operands, types = ", ".join(f"%{n}" for n in names), ", ".join("!tt.ptr<f32>" for _ in names)
    effects = analyze(module(ADDRESSES, f'    "{op}"({operands}) : ({types}) -> ()'))
    for name, kind in zip(names, MEMORY[op], strict=True):
        assert {access.kind for access in effects.accesses.get(name, ())} == KINDS[kind]
    assert effects.unknown == frozenset()


def test_every_op_that_touches_memory_is_held_above() -> None:
    assert {r.name for r in rows() if r.touches_memory} == MEMORY.keys()


@pytest.mark.parametrize("op", [op for op, kinds in MEMORY.items() if kinds[0] in "ra" and RETURNS[op]])
def test_what_was_read_is_an_address_from_there(op: str) -> None:
    names = ", ".join(f"%{n}i" for n in "abcd"[1 : len(MEMORY[op])])
    operands = f"%a, {names}".rstrip(", ")
    types = ", ".join(("!tt.ptr<i64>", *("i64" for _ in MEMORY[op][1:])))
    effects = analyze(module(ADDRESSES, f'{AS_INTEGERS}    %r = "{op}"({operands}) : ({types}) -> i64{STORE}'))
    assert ("a", "loaded") in through(effects)


def test_an_op_without_a_row_is_unanalyzable() -> None:
    assert lookup("tt.never_heard_of") is None
    assert stored_through("tt.never_heard_of", "ab") == ({"a", "b"}, {"a", "b", "c", "d"})
