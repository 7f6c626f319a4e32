"""What inference and the source's defaults add to a plan."""

from __future__ import annotations

from collections.abc import Mapping

from tests.helpers.kernels_by_hand import config, loaded
from tests.helpers.plans_by_hand import FLAG, guess, plan, values
from triton_mutlint.signature.planning import Inferred
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    Kernel,
    Origin,
    PointerType,
    ScalarType,
)

ADD = "def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr): ..."
FP32 = PointerType("fp32")
I32 = ScalarType("i32")


def test_without_a_spec_everything_is_inferred() -> None:
    seen: list[Mapping[str, ArgType]] = []

    def infer(kernel: Kernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        seen.append(known)
        return guess(x_ptr=(FP32,), out_ptr=(FP32,), n=(I32,), BLOCK=(ConstexprValue(64),))(kernel, known)

    found = plan(loaded(ADD), inferred=infer)
    assert (found.origin, seen) == (Origin.INFERRED, [{}])
    assert found.inferred == {"x_ptr", "out_ptr", "n", "BLOCK"}
    assert found.reasons["n"] == "guessed n"


def test_inference_is_told_what_is_known() -> None:
    seen: list[Mapping[str, ArgType]] = []

    def infer(kernel: Kernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        seen.append(known)
        return guess(x_ptr=(FP32,), out_ptr=(FP32,))(kernel, known)

    plan(
        loaded(ADD, configs=(config(BLOCK=32), config(BLOCK=64))),
        "kernels: {add: {args: {n: [i32, i64]}}}",
        inferred=infer,
    )
    assert seen == [{"n": I32, "BLOCK": ConstexprValue(32)}]


def test_flags_are_analysed_both_ways_even_with_a_default() -> None:
    kernel = loaded("def k(x, A: tl.constexpr, B: tl.constexpr = True, C: tl.constexpr = 8): ...")
    found = plan(kernel, inferred=guess(x=(FP32,), A=FLAG, B=FLAG[::-1], C=(ConstexprValue(8),)))
    assert values(found, "A", "B", "C") == [
        ("False", "True", "8"),
        ("False", "False", "8"),
        ("True", "True", "8"),
        ("True", "False", "8"),
    ]
    assert found.inferred == {"x", "A", "B"}  # C's default stands


def test_an_optional_pointer_is_analysed_both_ways() -> None:
    kernel = loaded("def k(x, bias=None): ...")
    found = plan(kernel, inferred=guess(x=(FP32,), bias=(FP32, ConstexprValue(None))))
    assert values(found, "bias") == [("*fp32",), ("None",)]


def test_declared_defaults_stand_where_inference_is_silent() -> None:
    kernel = loaded("def k(x, eps=1e-6, n=16, o=None, A: tl.constexpr = 'none', D: tl.constexpr = None): ...")
    found = plan(kernel, """kernels: {k: {args: {x: "*fp32"}}}""")
    assert values(found, "eps", "n", "o", "A", "D") == [("fp32", "i32:16", "None", "'none'", "None")]
    assert found.origin is Origin.SPEC


def test_a_default_gives_way_to_a_guess_that_says_more() -> None:
    kernel = loaded("def k(D: tl.constexpr = None): ...")
    none = ConstexprValue(None, "None")
    assert values(plan(kernel, inferred=guess(D=(ConstexprValue(4), none))), "D") == [("4",), ("None",)]
