"""Numbers used as addresses: one line per sentence of docs/analysis.md, sections 3, 4 and 6, that it could refute."""

from __future__ import annotations

import pytest

from tests.helpers.ttir_case import analyze, module, through, written

NUMBERS = """
    %one = arith.constant 1.000000e+00 : f32
    %x = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
    %y = tt.ptr_to_int %b : !tt.ptr<f32> -> i64
    %zero = arith.constant 0 : i64
    %c4 = arith.constant 4 : i64
    %c15 = arith.constant 15 : i64
    %c64 = arith.constant 64 : i64
    %minus = arith.constant -1 : i64
    %low = arith.andi %x, %c15 : i64
    %flag = arith.cmpi ne, %low, %zero : i64
    %l = tt.load %t : !tt.ptr<i64>
    %m = tt.load %u : !tt.ptr<i64>
    %w = tt.load %v : !tt.ptr<i32>
    %e = arith.extsi %w : i32 to i64"""
TABLES = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %t: !tt.ptr<i64>, %u: !tt.ptr<i64>, %v: !tt.ptr<i32>, %n: i64, %f: i1"


def _run(body: str, functions: str = ""):
    return analyze(module(TABLES, body, functions))


def stored_to(lines: str, address: str = "%r"):
    """What is written, what through, and what is unknown, when a number is used as an address."""
    effects = _run(f"""{NUMBERS}
    {lines}
    %p = tt.int_to_ptr {address} : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""")
    return written(effects), {name for name, _ in through(effects)}, set(effects.unknown)


@pytest.mark.parametrize(("lines", "params", "others", "unknown"), [
    # 3.3: factors
    ("%d = arith.subi %y, %x : i64\n %r = arith.addi %x, %d : i64", "b", "", ""),
    ("%d = arith.subi %x, %y : i64\n %r = arith.subi %x, %d : i64", "b", "", ""),
    ("%d = arith.addi %x, %e : i64\n %r = arith.subi %d, %x : i64", "", "v", ""),
    ("%d = arith.addi %x, %l : i64\n %r = arith.subi %d, %x : i64", "", "t", ""),
    ("%d = arith.addi %x, %x : i64\n %r = arith.subi %d, %x : i64", "a", "", ""),
    ("%d = arith.select %f, %x, %zero : i64\n %r = arith.addi %d, %e : i64", "a", "v", ""),
    ("%d = arith.addi %x, %e : i64\n %r = arith.select %f, %d, %zero : i64", "a", "", ""),
    # 6: beside an address
    ("%r = arith.addi %x, %l : i64", "a", "", ""),
    ("%r = arith.subi %x, %l : i64", "a", "", ""),
    ("%d = arith.subi %x, %l : i64\n %r = arith.addi %d, %m : i64", "a", "u", ""),
    ("%d = arith.subi %l, %x : i64\n %r = arith.subi %m, %d : i64", "a", "u", ""),
    ("%d = arith.subi %l, %m : i64\n %r = arith.addi %x, %d : i64", "a", "t", ""),
    ("%d = arith.addi %l, %m : i64\n %r = arith.addi %x, %d : i64", "a", "", ""),
    ("%d = arith.subi %x, %n : i64\n %r = arith.addi %d, %m : i64", "a", "u", ""),
    ("%d = arith.subi %l, %m : i64\n %g = arith.muli %d, %c4 : i64\n %r = arith.addi %x, %g : i64", "a", "", ""),
    ("%d = arith.subi %x, %y : i64\n %r = arith.addi %d, %m : i64", "", "u", ""),
    # 3.4 to 3.7
    ("%d = arith.divui %x, %c4 : i64\n %g = arith.muli %d, %c4 : i64\n %r = arith.addi %g, %e : i64", "a", "", ""),
    ("%d = arith.muli %x, %minus : i64\n %r = arith.subi %y, %d : i64", "b", "", ""),
    ("%r = arith.muli %l, %n : i64", "", "tn", ""),
    ("%r = arith.addi %x, %low : i64", "a", "", ""),
    ("%r = arith.addi %y, %low : i64", "b", "", ""),
    ("%r = arith.shli %low, %c4 : i64", "a", "", ""),
    ("%c58 = arith.constant 58 : i64\n %d = arith.shrui %x, %c58 : i64\n %r = arith.addi %y, %d : i64", "b", "", ""),
    # 3.8: choices
    ("%r = arith.select %f, %l, %e : i64", "", "tv", ""),
    ("%r = arith.select %f, %x, %e : i64", "a", "v", ""),
    ("%r = arith.select %flag, %c4, %c64 : i64", "", "", "a"),
    ("%r = arith.select %flag, %l, %zero : i64", "", "t", "a"),
    ("%r = arith.select %f, %c4, %c64 : i64", "", "", ""),
    ("%d = arith.select %flag, %c4, %c64 : i64\n %r = arith.addi %y, %d : i64", "b", "", ""),
    ("%d = arith.select %flag, %c4, %c64 : i64\n %r = arith.addi %e, %d : i64", "", "v", "a"),
    ("%r = arith.extui %flag : i1 to i64", "", "", "a"),
    ("%g = arith.cmpi sgt, %n, %c4 : i64\n %r = arith.extui %g : i1 to i64", "", "n", ""),
])  # fmt: skip
def test_what_is_written_through_a_number(lines: str, params: str, others: str, unknown: str) -> None:
    assert stored_to(lines) == (set(params), set(others), set(unknown))


@pytest.mark.parametrize(("offset", "element", "params", "others"), [
    ("%l", "f32", "a", ""), ("%l", "i8", "a", ""),
    ("%d = arith.subi %l, %m : i64", "f32", "a", ""), ("%d = arith.subi %l, %m : i64", "i8", "a", "t"),
    ("%s = arith.subi %l, %m : i64\n %d = arith.divsi %s, %c4 : i64", "f32", "a", "t"),
    ("%s = arith.subi %l, %m : i64\n %d = arith.divsi %s, %c4 : i64", "f16", "a", ""),
    ("%s = arith.subi %l, %m : i64\n %d = arith.divsi %s, %c64 : i64", "f32", "a", ""),
    ("%d = arith.subi %y, %x : i64", "i8", "b", ""),
    ("%s = arith.subi %y, %x : i64\n %d = arith.divsi %s, %c4 : i64", "f32", "ab", ""),
])  # fmt: skip
def test_what_is_written_through_a_moved_pointer(offset: str, element: str, params: str, others: str) -> None:
    lines = offset if "=" in offset else ""
    name = "%d" if lines else offset
    moved = f"""{lines}
    %base = tt.bitcast %a : !tt.ptr<f32> -> !tt.ptr<{element}>
    %q = tt.addptr %base, {name} : !tt.ptr<{element}>, i64
    %r = tt.ptr_to_int %q : !tt.ptr<{element}> -> i64"""
    assert stored_to(moved) == (set(params), set(others), set())


@pytest.mark.parametrize(("body", "unknown"), [
    ("scf.if %flag {\n tt.store %u, %c64 : !tt.ptr<i64>\n }", "a"),
    ("tt.store %u, %c64, %flag : !tt.ptr<i64>", "a"),
    ("%q = tt.addptr %u, %low : !tt.ptr<i64>, i64\n tt.store %q, %c64 : !tt.ptr<i64>", "a"),
    ("scf.if %flag {\n tt.store %v, %w : !tt.ptr<i32>\n }", ""),
    ("tt.store %u, %c64, %f : !tt.ptr<i64>", ""),
    ("scf.if %flag {\n tt.call @put(%u, %c64) : (!tt.ptr<i64>, i64) -> ()\n }", "a"),
])  # fmt: skip
def test_a_number_in_memory_has_seen_what_decides_that_it_is_there(body: str, unknown: str) -> None:
    effects = _run(f"""{NUMBERS}
    {body}
    %k = tt.load %u : !tt.ptr<i64>
    %p = tt.int_to_ptr %k : i64 -> !tt.ptr<f32>
    tt.store %p, %one : !tt.ptr<f32>""", """  tt.func private @put(%q: !tt.ptr<i64>, %k: i64) {
    tt.store %q, %k : !tt.ptr<i64>
    tt.return
  }""")
    assert set(effects.unknown) == set(unknown)
    assert through(effects) == {("u", "loaded")}
