"""Guesses for compile-time parameters, and the constraints they must meet."""

from __future__ import annotations

from tests.helpers.inference_by_hand import guesses, main
from tests.helpers.kernels_by_hand import loaded
from triton_mutlint.signature.infer import infer


def test_defaults_and_literals() -> None:
    found = guesses("""
        def k(out, B: tl.constexpr = 32, MODE: tl.constexpr = "sum", FLAG: tl.constexpr = True,
              ACT: tl.constexpr, N: tl.constexpr, TIGHT: tl.constexpr = True):
            x = tl.zeros((B,), tl.float32)
            if MODE == "sum":
                tl.store(out, 1.0)
            elif MODE == "max":
                tl.store(out, 2.0)
            if FLAG:
                tl.store(out, 3.0)
            if ACT == "relu":
                x = tl.maximum(x, 0.0)
            if N == 3:
                tl.store(out, 4.0)
            if TIGHT:
                x += 1.0
    """.replace("ACT: tl.constexpr, N: tl.constexpr,", 'ACT: tl.constexpr = "", N: tl.constexpr = 1,'))
    assert found["B"] == ["32"]
    assert found["MODE"] == ["'sum'", "'max'"]
    assert found["FLAG"] == ["True", "False"]
    assert found["ACT"] == ["''", "'relu'"]
    assert found["N"] == ["1", "3"]
    assert found["TIGHT"] == ["True"]  # decides no write


def test_without_a_default() -> None:
    found = guesses("""
        def k(out, x, MODE: tl.constexpr, WRITE: tl.constexpr, SCALED: tl.constexpr, DT: tl.constexpr,
              BITS: tl.constexpr, STEPS: tl.constexpr, EPS: tl.constexpr, BLOCK: tl.constexpr):
            v = tl.load(x + tl.arange(0, BLOCK)).to(DT)
            if MODE in ("a", "b"):
                tl.store(out, v)
            if WRITE:
                tl.store(x, v)
            if SCALED:
                v = v * (1 << BITS)
            for i in tl.static_range(STEPS):
                v += EPS
    """)
    assert found["MODE"][:2] == ["'a'", "'b'"]
    assert found["WRITE"] == ["False", "True"]
    assert found["SCALED"] == ["False"]
    assert found["DT"] == ["tl.float32"]
    assert (found["BITS"], found["STEPS"], found["EPS"]) == (["4"], ["2"], ["64"])
    assert found["BLOCK"] == ["64"]


def test_a_dtype_that_a_flag_may_replace_is_one() -> None:
    found = guesses("""
        def k(out, PRECISE: tl.constexpr, DT: tl.constexpr, BLOCK: tl.constexpr):
            acc = tl.float32 if PRECISE else DT
            tl.store(out + tl.arange(0, BLOCK), tl.zeros((BLOCK,), dtype=acc))
    """)
    assert found["DT"] == ["tl.float32"]


def test_a_flag_that_chooses_a_pointer_matters() -> None:
    found = guesses("""
        def k(a, b, FIRST: tl.constexpr, N: tl.constexpr, OTHER: tl.constexpr):
            if FIRST:
                p = a
            else:
                p = b
            q = 1 if OTHER else 2
            if q == 2:
                tl.store(p, 1.0)
    """)
    assert found["FIRST"] == ["False", "True"]
    assert found["OTHER"] == ["False", "True"]  # through the name that is tested


def test_a_flag_that_a_helper_reads_matters() -> None:
    found = guesses("""
        def put(p, v, DO: tl.constexpr):
            if DO:
                tl.store(p, v)

        def k(a, WRITE: tl.constexpr):
            put(a, 1.0, WRITE)
    """)
    assert found["WRITE"] == ["False", "True"]


def test_both_sides_of_a_size_that_guards_a_write() -> None:
    found = guesses("""
        def k(a, b, K: tl.constexpr):
            tl.store(a, 1.0)
            if K > 128:
                tl.store(b, 1.0)
    """)
    assert found["K"] == ["64", "256"]


def test_an_assertion_under_a_condition_that_does_not_hold_asks_nothing() -> None:
    found = main("""
        def k(B: tl.constexpr, MODE: tl.constexpr = "plain"):
            if MODE == "wide":
                tl.static_assert(B == 4096)
    """)
    assert found["B"] == "64"


def test_what_heuristics_ask_of_a_pointer() -> None:
    kernel = loaded(
        "def k(a, b, HAS: tl.constexpr, LOADS: tl.constexpr):\n"
        "    v = 0.0\n    if LOADS:\n        v = tl.load(b)\n    if HAS:\n        tl.store(a, v)\n",
        heuristics={"HAS": lambda args: args["a"] is not None, "LOADS": lambda args: args["b"] is not None},
    )
    found = infer(kernel, {})
    assert [str(a) for a in found["a"].alternatives] == ["*fp32", "None"]
    assert [str(a) for a in found["b"].alternatives] == ["*fp32"]


def test_a_heuristic_that_raises_says_nothing() -> None:
    kernel = loaded(
        "def k(a, HAS: tl.constexpr):\n    if HAS:\n        tl.store(a, 1.0)\n",
        heuristics={"HAS": lambda args: args["a"].shape[0] > 1},
    )
    assert [str(a) for a in infer(kernel, {})["a"].alternatives] == ["*fp32"]


def test_what_a_size_is_divided_by_is_small_unless_it_is_a_dimension_too() -> None:
    found = main("""
        def k(a, BLOCK: tl.constexpr, SLICES: tl.constexpr, GROUP: tl.constexpr):
            part = tl.arange(0, BLOCK // SLICES)
            groups = tl.zeros((BLOCK // GROUP, GROUP), tl.float32)
    """)
    assert (found["BLOCK"], found["SLICES"], found["GROUP"]) == ("64", "1", "64")
