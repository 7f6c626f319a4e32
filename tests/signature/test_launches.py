"""What launches plainly say of a kernel's parameters."""

from __future__ import annotations

import pytest

from tests.helpers.inference_by_hand import guesses
from tests.helpers.kernels_by_hand import loaded
from triton_mutlint.signature.infer import infer

KERNEL = """
def launch(x: torch.Tensor, causal: bool, alpha: float, n: int):
    mode = "sum"
    BLOCK = 32
    k[(4,)](x, n, alpha, None if causal else 2, kind=mode, SIZE=BLOCK, CAUSAL=causal, DT=tl.float16)

def k(a, b, c, d, kind: tl.constexpr, SIZE: tl.constexpr, CAUSAL: tl.constexpr, DT: tl.constexpr):
    if CAUSAL:
        tl.store(a, 1.0)
"""


def test_they_become_guesses() -> None:
    found = infer(loaded(KERNEL), {})
    shown = {name: [str(a) for a in guess.alternatives] for name, guess in found.items()}
    assert (shown["b"], shown["c"]) == (["i32"], ["fp32"])
    assert (shown["kind"], shown["SIZE"], shown["CAUSAL"]) == (["'sum'"], ["32"], ["False", "True"])
    assert "launch site line 5" in found["c"].reason
    assert found["d"].is_partial


@pytest.mark.parametrize("wrapper", ["wrap_triton", "torch.library.wrap_triton", "capture_triton"])
def test_a_branch_gives_both_and_a_name_passed_twice_is_followed(wrapper: str) -> None:
    text = f"""
def go(x, flag):
    mode = 1
    if flag:
        mode = 2
    {wrapper}(k)[(1,)](x, mode)

def k(p, MODE: tl.constexpr):
    if MODE == 1:
        tl.store(p, 1.0)
"""
    found = infer(loaded(text), {})["MODE"]
    assert [str(a) for a in found.alternatives] == ["1", "2"]


def test_a_launch_of_what_a_function_makes_of_a_kernel_is_one_of_the_kernel() -> None:
    text = "def go(x):\n    launcher({}, t=True)[(1,)](x, EPS=1e-12)\n\ndef k(a, EPS: tl.constexpr):\n    pass\n"
    assert guesses(text.format("k"))["EPS"] == ["1e-12"]
    assert guesses(text.format("{True: k, False: j}[flag]"))["EPS"] == ["1e-12"]


def test_what_follows_a_starred_argument_is_not_told() -> None:
    assert guesses("def go(x, args):\n    k[(1,)](x, *args, 1.0)\n\ndef k(a, b, c):\n    pass\n")["c"] == ["i32"]


def test_names_that_refer_to_each_other_end() -> None:
    text = "def go(x):\n    y = x\n    x = y\n    k[(1,)](y)\n\ndef k(a):\n    pass\n"
    assert guesses(text)["a"] == ["i32"]


def test_names_made_of_one_another_many_times_over_cost_nothing() -> None:
    names = [f"v{i}" for i in range(12)]
    lines = [f"    {a} = {b} + {c} * {b}" for a in names for b in names for c in names[:4]]
    text = "def go(x):\n" + "\n".join(lines) + "\n    k[(1,)](v0, v1)\n\ndef k(a, b):\n    pass\n"
    assert guesses(text)["a"] == ["i32"]


def test_what_is_computed_of_annotated_numbers_is_a_number() -> None:
    text = "def go(n: int, f: float):\n    k[(1,)](n * 2, n * f, 2 * x)\n\ndef k(a, b, output):\n    pass\n"
    assert guesses(text) == {"a": ["i32"], "b": ["fp32"], "output": ["*fp32"]}
