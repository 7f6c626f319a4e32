"""Which variants are kept when there are too many."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.kernels_by_hand import config, loaded
from tests.helpers.plans_by_hand import FLAG, guess, plan, values
from triton_mutlint.types import (
    Kernel,
    Origin,
)


def flags(count: int) -> tuple[Kernel, Any]:
    names = [f"F{i}" for i in range(count)]
    kernel = loaded(f"def k({', '.join(f'{name}: tl.constexpr' for name in names)}): ...")
    return kernel, guess(**dict.fromkeys(names, FLAG))


def test_the_cap_keeps_every_value_of_every_parameter() -> None:
    kernel, infer = flags(10)
    found = plan(kernel, inferred=infer, max_variants=16)
    assert (len(found.variants), found.total) == (16, 1024)
    assert found.notes == ("16 of 1024 variants analysed; raise --max-variants for more",)
    for name in kernel.parameter_names:
        assert {value for (value,) in values(found, name)} == {"False", "True"}
    assert ("True",) * 10 in values(found, *kernel.parameter_names)
    assert found == plan(kernel, inferred=infer, max_variants=16)


def test_a_cap_below_the_number_of_values_moves_all_parameters_at_once() -> None:
    kernel, infer = flags(10)
    found = plan(kernel, inferred=infer, max_variants=2)
    assert values(found, "F0", "F9") == [("False", "False"), ("True", "True")]


def test_beyond_what_can_be_counted_the_total_is_the_product() -> None:
    kernel, infer = flags(40)
    found = plan(kernel, inferred=infer)
    assert (len(found.variants), found.total) == (64, 2**40)


def test_beyond_what_can_be_counted_heuristics_count_what_they_can_give() -> None:
    kernel, infer = flags(20)
    kernel = loaded(
        f"def k(n, H: tl.constexpr, {', '.join(f'{name}: tl.constexpr' for name in kernel.parameter_names)}): ...",
        heuristics={"H": lambda args: args["F0"]},
    )
    found = plan(kernel, "kernels: {k: {args: {n: i32}}}", inferred=infer)
    assert (len(found.variants), found.total) == (64, 2**20)
    assert all(a == b for a, b in values(found, "H", "F0"))


@pytest.mark.parametrize(("flags", "sizes", "kept"), [(13, 1, 64), (6, 1, 64), (12, 3, 64)])
def test_what_heuristics_may_give_beyond_the_cap_is_counted(flags: int, sizes: int, kept: int) -> None:
    names = [f"H{i}" for i in range(flags)]
    kernel = loaded(f"def k(n, B: tl.constexpr, {', '.join(f'{name}: tl.constexpr' for name in names)}): ...",
                    heuristics=dict.fromkeys(names, lambda args: args["n"] > 0))
    found = plan(kernel, f"kernels: {{k: {{args: {{n: i32, B: {list(range(sizes))}}}}}}}")
    assert len(found.variants) == kept
    assert (found.total > kept) is (sizes * 2**flags > kept)


def test_the_cap_keeps_both_of_a_pointer_beside_many_heuristics() -> None:
    names = [f"H{i}" for i in range(7)]
    kernel = loaded(f"def k(n, p, {', '.join(f'{name}: tl.constexpr' for name in names)}): ...",
                    heuristics=dict.fromkeys(names, lambda args: args["n"] > 0))
    found = plan(kernel, "kernels: {k: {args: {n: i32, p: ['*fp32', null]}}}")
    assert {value for (value,) in values(found, "p")} == {"*fp32", "None"}


def test_the_cap_keeps_configs_that_bring_in_new_values() -> None:
    many = tuple(config(B=b, W=w) for b in (16, 32, 64, 128) for w in range(25))
    kernel = loaded("def k(B: tl.constexpr, W: tl.constexpr): ...", configs=many)
    found = plan(kernel, max_variants=28)
    assert (len(found.variants), found.total) == (28, 100)
    assert len({b for (b,) in values(found, "B")}) == 4
    assert len({w for (w,) in values(found, "W")}) == 25


def test_a_cap_of_zero_still_analyses_one() -> None:
    kernel, infer = flags(2)
    assert len(plan(kernel, inferred=infer, max_variants=0).variants) == 1


def test_equal_variants_count_once() -> None:
    found = plan(loaded("def k(n): ..."), "kernels: {k: {args: {n: [i32, int32, i64]}}}")
    assert (values(found, "n"), found.total) == ([("i32",), ("i64",)], 2)


def test_a_kernel_without_parameters() -> None:
    found = plan(loaded("def k(): ..."), "kernels: {k: {}}")
    assert (len(found.variants), found.total, found.origin) == (1, 1, Origin.SPEC)
