"""The transfer functions on single values, bit by bit (docs/analysis.md, section 3)."""

from __future__ import annotations

import pytest

from triton_mutlint.analysis import transfer
from triton_mutlint.analysis.lattice import Lattice

L = Lattice(3)
A, B, C = (L.param(i) for i in range(3))
LOADED, INTEGER = L.loaded_from(A), L.integer(1)
WEAK = L.weaken(LOADED)
D = L.difference
MIXED = A | D(0, A)


def test_the_parts_of_a_value_are_apart() -> None:
    parts = (A | B | C, LOADED, INTEGER, L.unknown, WEAK, L.weaken(INTEGER), L.weaken(L.unknown), D(A, 0), D(0, A))
    assert all(not one & other for i, one in enumerate(parts) for other in parts[i + 1 :])
    assert L.weaken(A | LOADED | INTEGER | L.unknown) == A | WEAK | L.weaken(INTEGER) | L.weaken(L.unknown)
    assert L.weak(A | WEAK) == LOADED
    assert L.strong(L.weaken(L.unknown | LOADED | INTEGER)) == 0
    assert (L.plus(D(A, B) | C), L.minus(D(A, B) | C)) == (A, B)


@pytest.mark.parametrize(("value", "address"), [
    (A | D(B, C) | WEAK, A), (D(B, C) | WEAK, B), (WEAK, LOADED), (0, 0), (LOADED | D(A, 0), LOADED),
])  # fmt: skip
def test_as_an_address(value: int, address: int) -> None:
    assert L.as_address(value) == address


@pytest.mark.parametrize(("value", "pointer"), [
    (A | D(B, C) | WEAK, A | D(B, C) | WEAK), (D(B, C) | WEAK, B | D(0, C) | WEAK), (WEAK, WEAK | LOADED), (0, 0),
    (D(A, A), MIXED),
])  # fmt: skip
def test_what_is_cast_to_a_pointer_is_no_difference_any_more(value: int, pointer: int) -> None:
    assert transfer.int_to_ptr(L, (value,)) == pointer


@pytest.mark.parametrize(("value", "mixed"), [
    (A, MIXED), (MIXED, MIXED), (D(A, B), D(A | B, A | B)), (D(A, A), D(A, A)), (D(A, 0), MIXED), (D(0, A), MIXED),
    (A | D(A, B), A | B | D(0, A | B)), (D(A | B, A), A | B | D(0, A | B)), (LOADED | WEAK, LOADED | WEAK), (0, 0),
    (LOADED | D(A, B), LOADED | A | B | D(0, A | B)), (A | INTEGER, MIXED | INTEGER),
])  # fmt: skip
def test_of_either_sign(value: int, mixed: int) -> None:
    assert L.mixed(value) == mixed


@pytest.mark.parametrize(("value", "lone"), [
    (D(A, 0), A), (D(A, B), 0), (D(A, A), 0), (D(A | B, A), B), (D(A, A | B), B), (A, 0), (D(0, A), 0),
])  # fmt: skip
def test_what_may_be_all_there_is(value: int, lone: int) -> None:
    assert L.lone(value) == lone
    assert L.revealed(value) == value
    assert L.revealed(value | LOADED) == value | LOADED | lone


def test_memory_keeps_differences_and_asm_may_use_all_of_one() -> None:
    assert L.kept(A | WEAK | D(B, C)) == A | B | D(B, C)
    assert L.reaching(INTEGER | WEAK | D(B, C)) == INTEGER | B | C


@pytest.mark.parametrize(("one", "other", "result"), [
    (A, B, A | B), (A, D(B, C), A | B | D(B, C)), (LOADED, D(B, 0), LOADED | B | D(B, 0)), (D(A, B), 0, D(A, B)),
    (D(A, B), D(C, 0), D(A | C, B)), (A, 0, A), (A | D(B, 0), C, A | C | D(B, 0)), (WEAK, D(A, 0), WEAK | D(A, 0)),
])  # fmt: skip
def test_one_or_the_other(one: int, other: int, result: int) -> None:
    for left, right in ((one, other), (other, one)):
        assert L.either(left, right) == result
        assert transfer.select(L, (C, left, right)) == result
        assert transfer.either(L, (left, right)) == result


@pytest.mark.parametrize(("base", "offset", "result"), [
    (A, LOADED | INTEGER | WEAK, A), (A, B, A | B), (A, D(B, A), A | B | D(B, A)), (A, D(C, B), A | D(C, B)),
    (0, LOADED, LOADED), (0, WEAK, WEAK | LOADED), (WEAK, B, WEAK | B), (0, D(A, B), A | D(A, B)),
    (A, MIXED | INTEGER, MIXED | INTEGER), (A, MIXED | WEAK, MIXED), (MIXED, WEAK, MIXED | LOADED),
    (A | B | D(B, A), INTEGER, A | B | D(B, A)), (B, MIXED | INTEGER, B | MIXED), (A, D(0, A) | WEAK, MIXED | LOADED),
])  # fmt: skip
def test_pointer_plus_offset(base: int, offset: int, result: int) -> None:
    assert transfer.addptr(L, (base, offset)) == result


@pytest.mark.parametrize(("one", "other", "result"), [
    (A, LOADED, A | WEAK), (A, B, A | B), (A | LOADED, INTEGER, A | LOADED | INTEGER), (A, B | LOADED, A | B | LOADED),
    (A, D(B, A), A | B | D(B, A)), (A, D(B, 0), A | B | D(B, 0)), (A, D(B, C), A | D(B, C)),
    (LOADED, INTEGER, LOADED | INTEGER), (D(A, B), D(B, C), D(A | B, B | C)),
    (MIXED, WEAK, MIXED | WEAK | LOADED), (MIXED, LOADED, MIXED | LOADED), (A, MIXED | WEAK, MIXED | WEAK),
    (MIXED | WEAK, B | D(0, B) | WEAK, MIXED | B | D(0, B) | WEAK), (A | B | D(B, A), LOADED, A | B | D(B, A) | WEAK),
    (LOADED, D(A | B, A), LOADED | B | D(A | B, A)), (LOADED, D(A, A), LOADED | D(A, A)),
    (A | D(0, B), B | D(C, 0), A | B | C | D(C, B)),
])  # fmt: skip
def test_sums(one: int, other: int, result: int) -> None:
    assert transfer.addi(L, (one, other)) == result
    assert transfer.addi(L, (other, one)) == result


@pytest.mark.parametrize(("left", "right", "result"), [
    (A, B, D(A, B)), (A | LOADED, B, LOADED | D(A, B)), (A | WEAK, A, WEAK | LOADED | D(A, A)),
    (A, B | INTEGER, INTEGER | D(A, B)), (LOADED, A, LOADED | MIXED), (WEAK, A, WEAK | LOADED | MIXED),
    (A, LOADED, A | WEAK), (0, A, MIXED), (A, A | WEAK, WEAK | LOADED | D(A, A)),
    (A, A | D(A, B), B | D(A | B, A)), (A, A | D(A, B) | WEAK, B | D(A | B, A) | WEAK),
    (A, D(A, 0) | WEAK, A | LOADED | WEAK | D(0, A)), (A, D(A, B) | WEAK, A | B | D(B, A) | WEAK),
    (MIXED, B, MIXED | B | D(A, A | B)), (C, D(A, B) | INTEGER, B | C | L.weaken(INTEGER) | D(B, A)),
    (LOADED, D(A, A) | INTEGER, LOADED | INTEGER | D(A, A)), (A | B | LOADED, A, B | LOADED | D(A | B, A)),
    (A | INTEGER, LOADED, A | INTEGER | LOADED),
    (A, D(A, B), A | B | D(B, A)), (C, D(A, B), C | D(B, A)), (D(A, B), D(C, A), D(A, B | C)),
    (A | D(C, B), B, D(A | C, B)), (WEAK, INTEGER, WEAK | INTEGER),
    (D(A, B), LOADED, LOADED | D(A, B)), (0, D(A, B), D(B, A)), (D(A, 0), B, B | D(A, B)),
])  # fmt: skip
def test_differences(left: int, right: int, result: int) -> None:
    assert transfer.subi(L, (left, right)) == result
    ours = left & L.params if right & L.params else 0
    assert transfer.subi(L, (left, right), number=True) == result | ours


def test_products_and_low_bits() -> None:
    assert transfer.muli(L, (A | LOADED, INTEGER)) == A | LOADED | L.weaken(INTEGER)
    assert transfer.muli(L, (INTEGER, A)) == A | L.weaken(INTEGER)
    assert transfer.low_bits(L, (A | LOADED, B)) == D(A | B, 0) | WEAK
    assert transfer.join(L, (A, D(B, C), LOADED)) == A | D(B, C) | LOADED
    assert transfer.first(L, (A, B)) == A
    assert transfer.nothing(L, (A, B)) == 0


@pytest.mark.parametrize(("one", "other", "result"), [
    (A, D(B, 0), A | B | D(B, 0)), (A, D(B, C), A | D(B, C)), (D(A, B), C, C | D(A, B)), (A, B, A | B),
    (MIXED, WEAK, MIXED | WEAK | LOADED), (A, WEAK, A | WEAK), (MIXED, D(B, 0), MIXED | B | D(B, 0)),
])  # fmt: skip
def test_bits_of_one_and_of_the_other(one: int, other: int, result: int) -> None:
    assert transfer.blend(L, (one, other)) == result
    assert transfer.blend(L, (other, one)) == result
