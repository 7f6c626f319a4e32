"""Masks that are false in every lane, and loops that certainly make a trip (docs/analysis.md, sections 3 and 6)."""

from __future__ import annotations

import pytest

from tests.helpers.ttir_case import analyze, module, written

POINTERS = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32, %u: tensor<16xi1>"
BLOCK = """
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %s = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
"""


def stored(mask: str) -> bool:
    """Whether a store of a block under %m counts as a write."""
    body = f"{BLOCK}{mask}\n    tt.store %s, %one, %m : tensor<16x!tt.ptr<f32>>"
    return written(analyze(module(POINTERS, body))) == {"a"}


def test_constants_and_splats_of_false() -> None:
    assert not stored("    %m = arith.constant dense<false> : tensor<16xi1>")
    assert stored("    %m = arith.constant dense<true> : tensor<16xi1>")
    assert not stored("    %f = arith.constant false\n    %m = tt.splat %f : i1 -> tensor<16xi1>")


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
