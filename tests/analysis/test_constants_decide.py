"""Masks that are false in every lane, and loops that certainly make a trip (docs/analysis.md, sections 3 and 6)."""

from __future__ import annotations

import pytest

from tests.analysis.ttir_case import analyze, module, written

POINTERS = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32, %u: tensor<16xi1>"
BLOCK = """
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %s = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
"""


def stored(mask: str) -> bool:
    """Whether a store of a block under %m counts as a write."""
    body = f"{BLOCK}{mask}\n    tt.store %s, %one, %m : tensor<16x!tt.ptr<f32>>"
    return written(analyze(module(POINTERS, body))) == {"a"}


def comparison(start: int, limit: int, predicate: str, order: str = "%r, %c") -> str:
    return f"""
    %r = tt.make_range {{end = {start + 16} : i32, start = {start} : i32}} : tensor<16xi32>
    %c = arith.constant dense<{limit}> : tensor<16xi32>
    %m = arith.cmpi {predicate}, {order} : tensor<16xi32>"""


@pytest.mark.parametrize(("start", "limit", "predicate", "order", "writes"), [
    (0, 0, "slt", "%r, %c", False), (0, 1, "slt", "%r, %c", True), (16, 16, "slt", "%r, %c", False),
    (16, 17, "slt", "%r, %c", True), (0, 0, "ult", "%r, %c", False), (0, 0, "sgt", "%c, %r", False),
    (0, 0, "ugt", "%c, %r", False), (0, 0, "sgt", "%r, %c", True), (0, 0, "sle", "%r, %c", True),
    (0, 0, "sge", "%r, %c", True), (0, 0, "slt", "%c, %r", True), (0, -1, "ult", "%r, %c", True),
])  # fmt: skip
def test_a_range_below_its_start(start: int, limit: int, predicate: str, order: str, writes: bool) -> None:
    assert stored(comparison(start, limit, predicate, order)) is writes


def test_an_and_with_a_false_mask_is_false() -> None:
    both = comparison(0, 0, "slt").replace("%m", "%x") + "\n    %m = arith.andi %u, %x : tensor<16xi1>"
    assert not stored(both)
    assert stored(both.replace("arith.andi", "arith.ori"))


def test_constants_and_splats_of_false() -> None:
    assert not stored("    %m = arith.constant dense<false> : tensor<16xi1>")
    assert stored("    %m = arith.constant dense<true> : tensor<16xi1>")
    assert not stored("    %f = arith.constant false\n    %m = tt.splat %f : i1 -> tensor<16xi1>")


def test_a_narrowed_range_may_be_negative() -> None:
    assert stored("""
    %r = tt.make_range {end = 144 : i32, start = 128 : i32} : tensor<16xi32>
    %t = arith.trunci %r : tensor<16xi32> to tensor<16xi8>
    %c = arith.constant dense<100> : tensor<16xi8>
    %m = arith.cmpi slt, %t, %c : tensor<16xi8>""")


def loop(lower: str, upper: str) -> set[str]:
    """What a store after a loop writes, whose pointer was %a before it and is %b in it."""
    return written(analyze(module(POINTERS, f"""
    %one = arith.constant 1.0 : f32
    %step = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %minus = arith.constant -2 : i32
    %wide = arith.constant 4294967296 : i64
    %narrow = arith.trunci %wide : i64 to i32
    %long = arith.extsi %c2 : i32 to i64
    %p = scf.for %i = {lower} to {upper} step %step iter_args(%q = %a) -> (!tt.ptr<f32>)  : i32 {{
      scf.yield %b : !tt.ptr<f32>
    }}
    tt.store %p, %one : !tt.ptr<f32>""")))


@pytest.mark.parametrize(("lower", "upper", "writes"), [
    ("%c0", "%c2", {"b"}), ("%c0", "%c0", {"a", "b"}), ("%c2", "%c0", {"a", "b"}), ("%c0", "%n", {"a", "b"}),
    ("%n", "%c2", {"a", "b"}), ("%minus", "%c2", {"a", "b"}), ("%c0", "%narrow", {"a", "b"}), ("%c0", "%long", {"b"}),
])  # fmt: skip
def test_what_was_before_a_loop_is_gone_after_a_certain_trip(lower: str, upper: str, writes: set[str]) -> None:
    assert loop(lower, upper) == writes
