"""Any text gives a module or a ParseError, and in time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_mutlint.ttir.ir import Module, ParseError, walk
from triton_mutlint.ttir.parser import parse

SAMPLE = r"""#loc = loc("k.py":1:1)
#loc1 = loc("x"(#loc))
module attributes {a = "}{"} {
  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 loc("n"(#loc))) attributes {noinline = false} {
    %c0 = arith.constant dense<0.0> : tensor<16xf32> loc(#loc1)
    %0:2 = tt.elementwise_inline_asm "{ st.b32 [$1], \22a\22; }\0A" {constraints = "=r,=r,l", pure = false} %x : !tt.ptr<f32> -> i32, i32 loc(#loc2)
    %1 = arith.cmpi sgt, %n, %0#1 : i32 loc(#loc1)
    cf.cond_br %1, ^bb1, ^bb2(%x : !tt.ptr<f32>) loc(#loc1)
  ^bb1:  // pred: ^bb0
    %2:2 = scf.for %i = %n to %n step %n iter_args(%p = %x, %q = %x) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
      scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32> loc(#loc1)
    } {tt.num_stages = 3 : i32} loc(#loc1)
    %3 = scf.while (%w = %n) : (i32) -> i32 {
      scf.condition(%1) %w : i32
    } do {
    ^bb0(%w: i32 loc("w"(#loc))):
      scf.yield %w : i32
    } loc(#loc1)
    cf.br ^bb2(%2#0 : !tt.ptr<f32>) loc(#loc1)
  ^bb2(%r: !tt.ptr<f32> loc(unknown)):  // 2 preds: ^bb0, ^bb1
    %4 = "tt.reduce"(%c0) <{axis = 0 : i32}> ({
    ^bb0(%l: f32 loc(unknown), %m: f32 loc(unknown)):
      %5 = arith.addf %l, %m : f32 loc(#loc1)
      tt.reduce.return %5 : f32 loc(#loc1)
    }) : (tensor<16xf32>) -> f32 loc(#loc1)
    tt.store %r, %4 : !tt.ptr<f32> loc(callsite(#loc at fused["k.py":2:3, #loc1]))
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc(callsite(#loc1 at #loc))
"""  # noqa: E501
PIECES = [
    "{", "}", "(", ")", "[", "]", "<", ">", '"', "\\", "%", "^", "#", "@", ":", ",", " : ", " -> ", "loc(",
    "%x", "%0#1", "^bb1", "scf.for", "tt.func", "module {", '"tt.x"(', "}) : ", "<{", "case 1 {", "= ",
    "scf.index_switch", "\n", "999999999999999999999", "%x:99999", "callsite(", "fused[", "dense<",
]  # fmt: skip


def outcome(text: str) -> Module | None:
    try:
        return parse(text)
    except ParseError as error:
        refused = error
    assert 1 <= refused.line <= text.count("\n") + 1
    assert str(refused.line) in str(refused)
    return None


def test_the_sample_is_sound() -> None:
    assert len(list(walk(parse(SAMPLE).entry().body))) == 15


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    outcome(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.sampled_from(SAMPLE.split("\n")), max_size=40))
def test_any_soup_of_pieces(pieces: list[str]) -> None:
    outcome(" ".join(pieces))
    outcome("\n".join(pieces))
    outcome("module {\ntt.func @f(%x: i32) {\n" + "\n".join(pieces))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_mutated_text(data: st.DataObject) -> None:
    """Cut, repeat or replace a few stretches of a real module."""
    text = SAMPLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 80)))
        new = data.draw(st.sampled_from(["", text[start:end] * 2, *PIECES]))
        text = text[:start] + new + text[end:]
    outcome(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, SAMPLE.count("\n")), max_size=5))
def test_missing_lines(missing: list[int]) -> None:
    lines = SAMPLE.split("\n")
    outcome("\n".join(line for index, line in enumerate(lines) if index not in missing))


@pytest.mark.parametrize(
    "line",
    [
        "%a,%a," * 20_000, "x.y " + "(" * 100_000, "x.y " + "{" * 100_000, 'x.y "' + "\\" * 100_000,
        "x.y " + "^a(" * 50_000, "x.y k = " + "a" * 100_000, '"x.y"() ' + "{}" * 50_000,
        "x.y %c " + "<" * 100_000 + " : " + "tensor<" * 20_000,
        "%x = tt.load %c : " + "tensor<" * 20_000 + ">" * 20_000,
        "x.y loc(" + "callsite(" * 50_000, "x.y loc(" + "fused[" * 50_000 + ")", "cf.br " + "^b," * 50_000,
        "tt.func @f(" + "%a: i32, " * 20_000, "x.y {" + "a = [" * 50_000 + "} : i32",
        "%x = arith.constant " + "dense<" * 50_000,
    ],
    ids=lambda line: line[:20],
)  # fmt: skip
def test_long_lines_take_linear_time(line: str) -> None:
    start = time.process_time()
    outcome(f"module {{\ntt.func @k(%c: i1) {{\n{line}\n")
    assert time.process_time() - start < 3


def test_many_unclosed_lines_take_linear_time() -> None:
    start = time.process_time()
    outcome("module {\ntt.func @k(%c: i1) {\n" + "x.y [\n" * 100_000)
    assert time.process_time() - start < 3
