"""Under which values a parameter is said to be written, where not all variants are analysed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import triton
import triton.language as tl

import triton_mutlint
from triton_mutlint.analysis.conditions import condition
from triton_mutlint.types import Mutation, ParameterReport

FLAGS = "ABCDEF"


@triton.jit
def guarded(all_ptr, some_ptr, one_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr,
            E: tl.constexpr, F: tl.constexpr, SIZE: tl.constexpr):
    if A and B and C and D and E and F:
        tl.store(all_ptr, 1.0)
    if B and E:
        tl.store(some_ptr + SIZE, 1.0)
    if D:
        tl.store(one_ptr + SIZE, 1.0)


def conditions(cap: int, sizes: int) -> dict[str, ParameterReport]:
    given = {"all_ptr": "*fp32", "some_ptr": "*fp32", "one_ptr": "*fp32", "SIZE": list(range(sizes)),
             **{flag: [False, True] for flag in FLAGS}}
    report = triton_mutlint.analyze(guarded, given, target="cuda:90", max_variants=cap)
    assert report.analyzed_variants == min(cap, 2 ** len(FLAGS) * sizes)
    return {p.name: p for p in report.parameters}


@pytest.mark.parametrize("cap", [2, 3, 4, 8, 20, 64])
def test_a_condition_that_was_not_seen_alone_is_not_named_alone(cap: int) -> None:
    """Of all combinations, none that satisfies the condition leaves the parameter unwritten."""
    needed = {"all_ptr": FLAGS, "some_ptr": "BE", "one_ptr": "D"}
    for name, parameter in conditions(cap, 1).items():
        assert parameter.mutation in (Mutation.CONDITIONAL, Mutation.UNWRITTEN) if name in needed else True
        rows = [dict(part.split("=") for part in row.split(", ")) for row in parameter.when]
        for values in product(("False", "True"), repeat=len(FLAGS)):
            combination = dict(zip(FLAGS, values, strict=True))
            if any(row.items() <= combination.items() for row in rows):
                assert all(combination[flag] == "True" for flag in needed[name]), (name, parameter.when)


def test_few_values_are_named_where_variants_differ_in_them_alone() -> None:
    found = conditions(40, 30)
    assert found["one_ptr"].when == ("D=True",)
    assert found["all_ptr"].when[0].startswith("A=True, B=True, C=True, D=True, E=True, F=True")


A, B, C, D = "ABCD"
BITS = [dict(zip("ABCD", values, strict=True)) for values in product(("0", "1"), repeat=4)]
MODES = [{"MODE": str(mode), "FLAG": flag} for mode in range(4) for flag in ("0", "1")]


@pytest.mark.parametrize(("every", "writes", "expected"), [
    (BITS, lambda v: "1" in (v[A], v[B], v[C]), ("A=1", "B=1", "C=1")),
    (BITS, lambda v: (v[A], v[B], v[C]) == ("1", "0", "1"), ("A=1, B=0, C=1",)),
    (BITS, lambda v: v[A] == v[B] == "1" or v[C] == v[D] == "1", ("A=1, B=1", "C=1, D=1")),
    (BITS, lambda v: v[A] != v[B], ("A=0, B=1", "A=1, B=0")),
    (MODES, lambda v: v["MODE"] != "0", ("MODE!=0",)),
    (MODES, lambda v: v["MODE"] in "12", ("MODE=1 | 2",)),
    (MODES, lambda v: (v["MODE"] in "12" and v["FLAG"] == "1") or v["MODE"] == "3", ("MODE!=0, FLAG=1", "MODE=3")),
])
def test_the_shortest_true_statement(every: list[dict[str, str]], writes: Callable[[dict[str, str]], bool],
                                     expected: tuple[str, ...]) -> None:
    assert condition([v for v in every if writes(v)], [v for v in every if not writes(v)], complete=True) == expected


def test_a_tensor_that_may_be_left_out_is_told_from_none_whatever_its_type_is() -> None:
    assert condition([{"h": "*fp32"}], [{"h": "None"}], complete=True) == ("h!=None",)
