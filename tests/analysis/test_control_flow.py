"""Where values meet: docs/analysis.md, section 3 (control flow) and section 5 (calls)."""

from __future__ import annotations

from tests.helpers.ttir_case import analyze, module, written

ABN = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32"
HEAD = """    %one = arith.constant 1.000000e+00 : f32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c = arith.cmpi sgt, %n, %c0 : i32
"""


def run(body: str, functions: str = "", arguments: str = ABN):
    return analyze(module(arguments, HEAD + body, functions))


def test_if_results_join_both_branches() -> None:
    effects = run("""
    %p = scf.if %c -> (!tt.ptr<f32>) {
      scf.yield %a : !tt.ptr<f32>
    } else {
      scf.yield %b : !tt.ptr<f32>
    }
    tt.store %p, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a", "b"}


def test_a_loop_argument_is_initial_and_yielded() -> None:
    effects = run("""
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!tt.ptr<f32>)  : i32 {
      tt.store %p, %one : !tt.ptr<f32>
      scf.yield %b : !tt.ptr<f32>
    }""")
    assert written(effects) == {"a", "b"}


def test_a_loop_result_is_initial_or_yielded() -> None:
    effects = run("""
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!tt.ptr<f32>)  : i32 {
      scf.yield %b : !tt.ptr<f32>
    }
    tt.store %r, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a", "b"}


def test_rotation_through_three_arguments_needs_more_than_one_pass() -> None:
    effects = run("""
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b, %s = %d) -> (P, P, P)  : i32 {
      tt.store %p, %one : !tt.ptr<f32>
      scf.yield %q, %s, %p : P, P, P
    }""".replace("P", "!tt.ptr<f32>"), arguments=ABN + ", %d: !tt.ptr<f32>")
    assert written(effects) == {"a", "b", "d"}


def test_while_passes_its_conditions_operands_on() -> None:
    effects = run("""
    %r = scf.while (%p = %a) : (!tt.ptr<f32>) -> !tt.ptr<f32> {
      scf.condition(%c) %p : !tt.ptr<f32>
    } do {
    ^bb0(%q: !tt.ptr<f32>):
      scf.yield %b : !tt.ptr<f32>
    }
    tt.store %r, %one : !tt.ptr<f32>""")
    assert written(effects) == {"a", "b"}


def test_block_arguments_join_reachable_predecessors_only() -> None:
    effects = run("""
    cf.cond_br %c, ^bb1, ^bb2(%a : !tt.ptr<f32>)
  ^bb1:  // pred: ^bb0
    cf.br ^bb2(%b : !tt.ptr<f32>)
  ^bb3:  // no predecessors
    cf.br ^bb2(%d : !tt.ptr<f32>)
  ^bb2(%p: !tt.ptr<f32>):  // 3 preds: ^bb0, ^bb1, ^bb3
    tt.store %p, %one : !tt.ptr<f32>""", arguments=ABN + ", %d: !tt.ptr<f32>")
    assert written(effects) == {"a", "b"}


def test_a_backward_branch_is_followed() -> None:
    effects = run("""
    cf.br ^bb1(%a : !tt.ptr<f32>)
  ^bb1(%p: !tt.ptr<f32>):  // 2 preds: ^bb0, ^bb1
    tt.store %p, %one : !tt.ptr<f32>
    cf.cond_br %c, ^bb1(%b : !tt.ptr<f32>), ^bb2
  ^bb2:  // pred: ^bb1""")
    assert written(effects) == {"a", "b"}


SECOND = """
  tt.func private @second(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) -> !tt.ptr<f32> attributes {noinline = true} {
    tt.return %y : !tt.ptr<f32>
  }"""


def test_a_call_returns_what_its_callee_returns() -> None:
    effects = run("""
    %p = tt.call @second(%a, %b) : (!tt.ptr<f32>, !tt.ptr<f32>) -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""", SECOND)
    assert written(effects) == {"b"}


def test_two_calls_with_different_pointers_do_not_mix() -> None:
    effects = run("""
    %p = tt.call @second(%a, %b) : (!tt.ptr<f32>, !tt.ptr<f32>) -> !tt.ptr<f32>
    %q = tt.call @second(%b, %a) : (!tt.ptr<f32>, !tt.ptr<f32>) -> !tt.ptr<f32>
    tt.store %q, %one : !tt.ptr<f32>""", SECOND)
    assert written(effects) == {"a"}


def test_recursion_ends_and_is_followed() -> None:
    effects = run("""
    tt.call @walk(%a, %b, %n) : (!tt.ptr<f32>, !tt.ptr<f32>, i32) -> ()""", """
  tt.func private @walk(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %k: i32) attributes {noinline = true} {
    %v = arith.constant 2.000000e+00 : f32
    tt.store %x, %v : !tt.ptr<f32>
    tt.call @walk(%y, %x, %k) : (!tt.ptr<f32>, !tt.ptr<f32>, i32) -> ()
    tt.return
  }""")
    assert written(effects) == {"a", "b"}


def test_a_call_without_a_body_is_unanalyzable() -> None:
    effects = run("""
    tt.call @elsewhere(%a) : (!tt.ptr<f32>) -> ()""")
    assert effects.unknown == {"a"}


def test_an_address_stored_by_a_callee_is_loaded_by_its_caller() -> None:
    effects = run("""
    %x = tt.load %s : !tt.ptr<i64>
    %p = tt.int_to_ptr %x : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>
    tt.call @keep(%s, %a) : (!tt.ptr<i64>, !tt.ptr<f32>) -> ()""", """
  tt.func private @keep(%t: !tt.ptr<i64>, %q: !tt.ptr<f32>) attributes {noinline = true} {
    %k = tt.ptr_to_int %q : !tt.ptr<f32> -> i64
    tt.store %t, %k : !tt.ptr<i64>
    tt.return
  }""", arguments="%a: !tt.ptr<f32>, %s: !tt.ptr<i64>, %n: i32")
    # One program may run after another has stored the address: order does not matter.
    assert written(effects) == {"a", "s"}
