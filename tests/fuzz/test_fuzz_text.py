"""A fixed seed of broken TTIR, made from the text of lowered kernels."""

from __future__ import annotations

import random

import pytest

from fuzz.text import FIXTURES, failure_of, lowered_texts, mutated

KERNELS = ("noinline_swaps_and_stores", "return_nested_two_levels", "while_outer_for_inner", "scan_crosses_addresses",
           "dev_desc_atomics", "asm_predicated_store", "map_elementwise_two_results", "atomic_all_kinds")  # fmt: skip


@pytest.fixture(scope="module")
def texts() -> list[str]:
    found = lowered_texts([FIXTURES / "hard" / "kernels" / f"{name}.py" for name in KERNELS])
    assert len(found) >= len(KERNELS)
    return found


def test_whole_texts_are_taken(texts: list[str]) -> None:
    assert [failure_of(text) for text in texts] == [None] * len(texts)


def test_broken_text_gives_a_parse_error_with_a_line_or_a_module(texts: list[str]) -> None:
    rng = random.Random(20)
    assert [f.message for _ in range(1500) if (f := failure_of(mutated(rng, texts))) is not None] == []
