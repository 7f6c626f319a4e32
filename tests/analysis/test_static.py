"""Which modules Triton's own clean-ups may sharpen (docs/analysis.md, section 8)."""

from __future__ import annotations

import pytest

from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.ttir.parser import parse

MODULE = """module {
  tt.func public @kernel(%%p: !tt.ptr<f32>, %%n: i64) {
    %%zero = arith.constant 0 : i64
    %%two = arith.constant 2 : i64
    %%true = arith.constant true
%s
    tt.return
  }
  tt.func private @helper(%%a: i64) -> i64 {
    tt.return %%a : i64
  }
  tt.func private @none() -> i64 {
    %%c = arith.constant 0 : i64
    tt.return %%c : i64
  }
  tt.func private @program() -> i64 {
    %%i = tt.get_program_id x : i32
    %%j = arith.extsi %%i : i32 to i64
    tt.return %%j : i64
  }
  tt.func private @again() -> i64 {
    %%c = tt.call @again() : () -> i64
    tt.return %%c : i64
  }
}
"""


@pytest.mark.parametrize(("body", "decided"), [
    ("%y = arith.muli %zero, %n : i64", True), ("%y = arith.muli %two, %n : i64", False),
    ("%x = tt.call @helper(%two) : (i64) -> i64\n%y = arith.muli %x, %n : i64", True),
    ("%x = tt.call @helper(%n) : (i64) -> i64\n%y = arith.muli %x, %n : i64", False),
    *((f"%x = tt.call @{name}() : () -> i64\n%y = arith.muli %x, %n : i64", decided)
      for name, decided in (("none", True), ("program", False), ("again", False))),
    ("%c = arith.cmpi slt, %zero, %two : i64\nscf.if %c {\n}", True),
    ("%c = arith.cmpi slt, %n, %two : i64\nscf.if %c {\n}", False),
    ("scf.for %i = %zero to %two step %two  : i64 {\n}", False),
    ("scf.for %i = %two to %zero step %two  : i64 {\n}", True),
    ("%x = arith.select %true, %zero, %n : i64", True), ("%x = arith.select %true, %true, %true : i1", False),
])
def test_what_a_constant_decides(body: str, decided: bool) -> None:
    assert may_simplify(parse(MODULE % body)) is decided
