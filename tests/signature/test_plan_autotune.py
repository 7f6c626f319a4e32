"""Autotune configs and heuristics as variants."""

from __future__ import annotations

import sys
from collections import namedtuple
from typing import Any

import pytest

from tests.helpers.kernels_by_hand import config, loaded, missing
from tests.helpers.plans_by_hand import guess, plan, values
from triton_mutlint.types import (
    ConstexprValue,
    Origin,
    Plan,
    StageError,
)

ADD = "def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr): ..."
Pair = namedtuple("Pair", ["x", "n"])


def test_every_config_is_a_variant_and_equal_constexprs_collapse() -> None:
    kernel = loaded(ADD, configs=(config(2, BLOCK=32), config(4, BLOCK=64), config(8, BLOCK=64)))
    found = plan(kernel, """kernels: {add: {args: {x_ptr: "*fp32", out_ptr: "*fp32", n: i32}}}""")
    assert [(v.choices, dict(v.options)) for v in found.variants] == [
        ((("BLOCK", "32"),), {"num_warps": 2}),
        ((("BLOCK", "64"),), {"num_warps": 4}),
    ]
    assert (found.total, found.origin) == (2, Origin.SPEC)


def test_configs_tell_true_from_one() -> None:
    kernel = loaded("def k(A: tl.constexpr): ...", configs=(config(A=1), config(A=True), config(A=1.0)))
    assert values(plan(kernel), "A") == [("1",), ("True",), ("1.0",)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("64", [("64", "1"), ("64", "2")]),  # keeps the configs that have it
        ("[64, 32]", [("64", "1"), ("64", "2"), ("32", "1")]),
        ("256", [("256", "1"), ("256", "2")]),  # no config has it: it replaces theirs
        ("[256, 32]", [("256", "1"), ("256", "2"), ("32", "1")]),
    ],
)
def test_a_spec_value_for_an_autotuned_parameter(given: str, expected: list[tuple[str, ...]]) -> None:
    kernel = loaded(
        "def k(BLOCK: tl.constexpr, W: tl.constexpr): ...",
        configs=(config(BLOCK=32, W=1), config(BLOCK=64, W=1), config(BLOCK=64, W=2)),
    )
    found = plan(kernel, f"kernels: {{k: {{args: {{BLOCK: {given}}}}}}}")
    assert sorted(values(found, "BLOCK", "W")) == sorted(expected)


def test_an_autotuned_parameter_without_annotation_takes_values() -> None:
    kernel = loaded("def k(BLOCK): ...", configs=(config(BLOCK=32),))
    assert values(plan(kernel, "kernels: {k: {args: {BLOCK: 64}}}"), "BLOCK") == [("64",)]


def test_config_values_that_are_no_parameter_are_options() -> None:
    kernel = loaded("def k(B: tl.constexpr): ...", configs=(config(4, B=1, waves_per_eu=2),))
    assert dict(plan(kernel).variants[0].options) == {"num_warps": 4, "waves_per_eu": 2}


def test_a_kernel_that_takes_num_warps_gets_the_configs() -> None:
    kernel = loaded("def k(num_warps: tl.constexpr): ...", configs=(config(4), config(8)))
    found = plan(kernel)
    assert values(found, "num_warps") == [("4",), ("8",)]
    assert [dict(v.options) for v in found.variants] == [{"num_warps": 4}, {"num_warps": 8}]


def test_a_parameter_that_only_some_configs_tune() -> None:
    kernel = loaded(
        "def k(B: tl.constexpr, S: tl.constexpr = 1): ...", configs=(config(B=1), config(B=2, S=4))
    )
    assert values(plan(kernel), "B", "S") == [("1", "1"), ("2", "4")]


def test_autotune_goes_before_the_specs_defaults() -> None:
    kernel = loaded("def k(B: tl.constexpr): ...", configs=(config(B=1), config(B=2)))
    assert values(plan(kernel, "defaults: {constexpr: {B: 128}}"), "B") == [("1",), ("2",)]


# --------------------------------------------------------------------------- heuristics

HEURISTIC = "def k(x, bias, n, B: tl.constexpr, H: tl.constexpr): ..."
ARGS = """kernels: {k: {args: {x: "*fp32", bias: [null, "*fp32"], n: i32, B: [16, 32]}}}"""


def heuristic(function: Any, spec: str = ARGS, **options: Any) -> Plan:
    return plan(loaded(HEURISTIC, heuristics={"H": function}), spec, **options)


def test_a_heuristic_follows_the_other_arguments_of_its_variant() -> None:
    found = heuristic(lambda args: args["bias"] is not None)
    assert values(found, "bias", "H") == [("None", "False")] * 2 + [("*fp32", "True")] * 2
    assert (found.total, found.origin) == (4, Origin.SPEC)


def test_a_heuristic_of_constexprs_is_exact() -> None:
    assert set(values(heuristic(lambda args: args["B"] * 2), "B", "H")) == {("16", "32"), ("32", "64")}


def test_a_flag_that_looks_at_a_run_time_number_is_analysed_both_ways() -> None:
    found = heuristic(lambda args: args["n"] % args["B"] == 0)
    assert set(values(found, "B", "H")) == {("16", "True"), ("16", "False"), ("32", "True"), ("32", "False")}
    assert found.total == 8
    as_number = heuristic(lambda args: 1 if args["n"] > 4 else 0)
    assert set(values(as_number, "H")) == {("0",), ("1",)}


def test_a_comparison_that_needs_real_tensors_is_analysed_both_ways() -> None:
    found = heuristic(lambda args: args["x"].data_ptr() % 16 == 0)
    assert set(values(found, "H")) == {("False",), ("True",)}


def _branches(args: Any) -> bool:
    if args["x"].shape[0] > 3:  # noqa: SIM103  # as people write heuristics
        return True
    return False


def _either_kind(args: Any) -> bool | int:
    if args["x"].shape[0] > 3:
        return True
    return 3


@pytest.mark.parametrize(
    ("function", "both"),
    [
        (_branches, True),
        (lambda args: not args["x"].shape, True),
        (lambda args: args["x"].a == 1 and args["x"].b is None, True),
        (lambda args: 3 in args["x"].shape, True),
        (_either_kind, False),
        (lambda args: args["x"].shape[0] + 1, False),
        (namedtuple("Callable", [])._make, False),
    ],
)
def test_only_what_always_returns_a_flag_is_taken_both_ways(function: Any, both: bool) -> None:
    found = heuristic(function, inferred=guess(H=(ConstexprValue(8),)))
    assert set(values(found, "H")) == ({("False",), ("True",)} if both else {("8",)})


def test_a_heuristic_that_cannot_be_told_is_inferred() -> None:
    found = heuristic(
        lambda args: args["x"].shape[0], inferred=guess(H=(ConstexprValue(8), ConstexprValue(9)))
    )
    assert set(values(found, "H")) == {("8",), ("9",)}
    assert (found.origin, found.inferred) == (Origin.MIXED, {"H"})
    assert "the heuristic for 'H' needs real arguments" in found.notes


def test_a_heuristic_that_cannot_be_told_falls_back_to_the_specs_defaults() -> None:
    found = heuristic(lambda args: args["x"].shape[0], f"defaults: {{constexpr: {{H: 3}}}}\n{ARGS}")
    assert set(values(found, "H")) == {("3",)}
    assert found.origin is Origin.SPEC


def test_a_heuristic_that_nothing_gives_is_an_error() -> None:
    with pytest.raises(StageError, match="no value for constexpr 'H'"):
        heuristic(lambda args: args["x"].shape[0])


def test_a_spec_value_goes_before_the_heuristic() -> None:
    spec = ARGS.replace("B: [16, 32]", "B: 16, H: 5")
    assert set(values(heuristic(lambda args: 1 / 0, spec), "H")) == {("5",)}


def test_heuristics_see_earlier_ones_and_the_config() -> None:
    kernel = loaded(
        "def k(n, B: tl.constexpr, E: tl.constexpr, F: tl.constexpr): ...",
        configs=(config(4, B=32), config(8, B=64)),
        heuristics={
            "E": lambda args: args["B"] * args["num_warps"],
            "F": lambda args: {**args}["E"] + 1,
            "num_stages": lambda args: args["n"].missing,
        },
    )
    found = plan(kernel, "kernels: {k: {args: {n: i32}}}")
    assert values(found, "B", "E", "F") == [("32", "128", "129"), ("64", "512", "513")]


def test_heuristics_read_tuples_floats_and_flags() -> None:
    kernel = loaded(
        "def k(t, eps, on, H: tl.constexpr): ...",
        heuristics={"H": lambda args: args["t"].n * int(args["eps"]) * args["on"]},
        namespace={"Pair": Pair},
    )
    spec = """kernels: {k: {args: {t: "Pair(x=*fp32, n=i32)", eps: fp32, on: i1}}}"""
    assert values(plan(kernel, spec), "H") == [(str(1024 * 1024),)]


def test_a_heuristic_made_from_something_missing_is_not_told() -> None:
    best = missing("lib.best")
    found = heuristic(lambda args: best, inferred=guess(H=(ConstexprValue(8),)))
    assert (set(values(found, "H")), found.inferred) == ({("8",)}, {"H"})
    flag = heuristic(lambda args: best == 3)
    assert set(values(flag, "H")) == {("False",), ("True",)}


def test_a_heuristic_that_exits_does_not_end_the_run() -> None:
    found = heuristic(lambda args: sys.exit(3), inferred=guess(H=(ConstexprValue(8),)))
    assert set(values(found, "H")) == {("8",)}


def test_an_interrupt_in_a_heuristic_ends_it() -> None:
    def interrupted(args: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        heuristic(interrupted)
