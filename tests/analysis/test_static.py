"""Which modules Triton's own clean-ups may sharpen (docs/analysis.md, section 8)."""

from __future__ import annotations

import pytest

from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.ttir.parser import parse

MODULE = """module {
  tt.func public @kernel(%%p: !tt.ptr<f32>, %%n: i64) {
    %%x = tt.call @helper() : () -> i64
    %%y = arith.muli %%x, %%n : i64
    %%q = tt.addptr %%p, %%y : !tt.ptr<f32>, i64
    tt.return
  }
  tt.func private @helper() -> i64 {
%s
  }
}
"""
PROGRAM = "    %i = tt.get_program_id x : i32\n    %j = arith.extsi %i : i32 to i64\n    tt.return %j : i64"
CONSTANT = "    %c = arith.constant 0 : i64\n    tt.return %c : i64"
DEEPER = "    %c = tt.call @helper() : () -> i64\n    tt.return %c : i64"


@pytest.mark.parametrize(("body", "decided"), [(PROGRAM, False), (CONSTANT, True), (DEEPER, False)])
def test_a_call_without_arguments_is_as_constant_as_what_it_returns(body: str, decided: bool) -> None:
    assert may_simplify(parse(MODULE % body)) is decided
