"""One kernel per sentence of docs/analysis.md, sections 3 and 4, each written so that it can refute it."""

from __future__ import annotations

import pytest

from tests.helpers.ttir_case import analyze, module, through, written

AB = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>"
ONE = "    %one = arith.constant 1.000000e+00 : f32\n"


def run(arguments: str, body: str, functions: str = ""):
    return analyze(module(arguments, ONE + body, functions))


def test_addptr_takes_the_base_and_ignores_a_loaded_index() -> None:
    effects = run("%a: !tt.ptr<f32>, %i: !tt.ptr<i32>", """
    %k = tt.load %i : !tt.ptr<i32>
    %p = tt.addptr %a, %k : !tt.ptr<f32>, i32
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a"}
    assert through(effects) == set()


@pytest.mark.parametrize(("element", "expected"), [("i8", {"a", "b"}), ("f32", {"a"})])
def test_an_offset_made_from_an_address_counts_unless_it_is_multiplied(element: str, expected: set[str]) -> None:
    effects = run(f"%a: !tt.ptr<{element}>, %b: !tt.ptr<f32>", f"""
    %k = tt.ptr_to_int %b : !tt.ptr<f32> -> i64
    %p = tt.addptr %a, %k : !tt.ptr<{element}>, i64
    %q = tt.bitcast %p : !tt.ptr<{element}> -> !tt.ptr<f32>
    tt.store %q, %one : !tt.ptr<f32>""")
    assert written(effects) == expected


def test_a_constant_base_makes_the_offset_the_address() -> None:
    effects = run("%t: !tt.ptr<i64>", """
    %z = arith.constant 0 : i64
    %null = tt.int_to_ptr %z : i64 -> !tt.ptr<i8>
    %k = tt.load %t : !tt.ptr<i64>
    %p = tt.addptr %null, %k : !tt.ptr<i8>, i64
    %q = tt.bitcast %p : !tt.ptr<i8> -> !tt.ptr<f32>
    tt.store %q, %one : !tt.ptr<f32>""")
    assert written(effects) == set()
    assert through(effects) == {("t", "loaded")}


def test_address_plus_integer_is_the_address() -> None:
    effects = run("%a: !tt.ptr<f32>, %d: i64", """
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %s = arith.addi %k, %d : i64
    %p = tt.int_to_ptr %s : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a"}
    assert through(effects) == set()


def test_subtracting_the_base_leaves_what_was_added() -> None:
    effects = run("%a: !tt.ptr<f32>, %t: !tt.ptr<i64>", """
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %x = tt.load %t : !tt.ptr<i64>
    %s = arith.addi %k, %x : i64
    %d = arith.subi %s, %k : i64
    %p = tt.int_to_ptr %d : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert ("t", "loaded") in through(effects)


def test_a_product_is_not_an_address_but_may_become_one() -> None:
    effects = run("%a: !tt.ptr<f32>, %n: i64", """
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %c4 = arith.constant 4 : i64
    %o = arith.muli %n, %c4 : i64
    %x = arith.xori %k, %o : i64
    %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>
    %q = tt.int_to_ptr %o : i64 -> !tt.ptr<f32>
    tt.store %q, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a"}
    assert through(effects) == {("n", "integer")}


def test_halves_of_an_address_are_still_the_address() -> None:
    effects = run("%t: !tt.ptr<i32>", """
    %lo = tt.load %t : !tt.ptr<i32>
    %w = arith.extui %lo : i32 to i64
    %c = arith.constant 32 : i64
    %h = arith.shli %w, %c : i64
    %x = arith.ori %h, %w : i64
    %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert through(effects) == {("t", "loaded")}


def test_a_selects_condition_is_control() -> None:
    effects = run("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %g: !tt.ptr<f32>", """
    %k = tt.ptr_to_int %g : !tt.ptr<f32> -> i64
    %z = arith.constant 0 : i64
    %c = arith.cmpi ne, %k, %z : i64
    %p = arith.select %c, %a, %b : !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a", "b"}


def test_split_of_a_join_tells_the_halves_apart() -> None:
    effects = run(AB, """
    %x = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %y = tt.ptr_to_int %b : !tt.ptr<f32> -> i64
    %xs = tt.splat %x : i64 -> tensor<4xi64>
    %ys = tt.splat %y : i64 -> tensor<4xi64>
    %j = tt.join %xs, %ys : tensor<4xi64> -> tensor<4x2xi64>
    %l, %r = tt.split %j : tensor<4x2xi64> -> tensor<4xi64>
    %p = tt.int_to_ptr %r : tensor<4xi64> -> tensor<4x!tt.ptr<f32>>
    %ones = tt.splat %one : f32 -> tensor<4xf32>
    tt.store %p, %ones : tensor<4x!tt.ptr<f32>>""")
    assert written(effects) == {"b"}


@pytest.mark.parametrize(("slot", "expected"), [("s", {"a", "s"}), ("r", {"s"})])
def test_an_address_put_into_memory_comes_back_from_there_only(slot: str, expected: set[str]) -> None:
    effects = run("%a: !tt.ptr<f32>, %s: !tt.ptr<i64>, %r: !tt.ptr<i64>", f"""
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    tt.store %s, %k : !tt.ptr<i64>
    %x = tt.load %{slot} : !tt.ptr<i64>
    %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == expected
    assert through(effects) == {(slot, "loaded")}


def test_an_address_loaded_before_it_is_stored_is_followed_around_a_loop() -> None:
    effects = run("%a: !tt.ptr<f32>, %s: !tt.ptr<i64>, %n: i32", """
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    scf.for %i = %c0 to %n step %c1  : i32 {
      %x = tt.load %s : !tt.ptr<i64>
      %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
      tt.store %p, %one : !tt.ptr<f32>
      tt.store %s, %k : !tt.ptr<i64>
    }""")
    assert written(effects) == {"a", "s"}


def test_a_masked_loads_other_value_is_a_result_too() -> None:
    effects = run("%a: !tt.ptr<f32>, %s: !tt.ptr<i64>, %m: i1", """
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %x = tt.load %s, %m, %k : !tt.ptr<i64>
    %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a"}


def test_a_constant_false_mask_writes_nothing() -> None:
    effects = run(AB, """
    %f = arith.constant false
    tt.store %a, %one, %f : !tt.ptr<f32>
    tt.store %b, %one : !tt.ptr<f32>""")
    assert written(effects) == {"b"}


def test_a_store_to_a_constant_address_is_unanalyzable_but_no_parameters() -> None:
    effects = run(AB, """
    %z = arith.constant 64 : i64
    %p = tt.int_to_ptr %z : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert [u.parameters for u in effects.unanalyzable_ops] == [()]
    assert effects.unknown == frozenset()


def test_an_unknown_op_is_unanalyzable_and_so_are_stores_through_its_result() -> None:
    effects = run(AB, """
    %p = "new.dialect_op"(%a) : (!tt.ptr<f32>) -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert effects.unknown == {"a", "b"}
    assert [u.op for u in effects.unanalyzable_ops] == ["new.dialect_op", "tt.store"]


def test_what_is_not_understood_may_use_both_ends_of_a_difference() -> None:
    effects = run(AB, """
    %x = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %y = tt.ptr_to_int %b : !tt.ptr<f32> -> i64
    %d = arith.subi %x, %y : i64
    "new.dialect_op"(%d) : (i64) -> ()""")
    assert effects.unknown == {"a", "b"}


def test_a_flag_that_chooses_between_addresses_is_none() -> None:
    effects = run("%a: !tt.ptr<f32>, %n: i64, %f: i1", """
    %k = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %c1 = arith.constant 1 : i64
    %m = arith.extui %f : i1 to i64
    %o = arith.subi %c1, %m : i64
    %x = arith.muli %k, %m : i64
    %y = arith.muli %n, %o : i64
    %s = arith.addi %x, %y : i64
    %p = tt.int_to_ptr %s : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a"}
    assert through(effects) == {("n", "integer")}


@pytest.mark.parametrize("factor", ["%c4", "%n"])
def test_a_multiple_of_a_difference_may_be_an_address_of_either_end(factor: str) -> None:
    effects = run("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i64", f"""
    %c4 = arith.constant 4 : i64
    %x = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %y = tt.ptr_to_int %b : !tt.ptr<f32> -> i64
    %d = arith.subi %x, %y : i64
    %m = arith.muli %d, {factor} : i64
    %p = tt.int_to_ptr %m : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a", "b"}
