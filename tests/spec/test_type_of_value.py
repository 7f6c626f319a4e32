"""The type of a Python value given to the API."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from triton_mutlint.spec.notation import TypeTextError
from triton_mutlint.spec.values import text_of, type_of_value
from triton_mutlint.types import ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

Pair = namedtuple("Pair", ["x", "n"])


@dataclass
class Layout:
    width: int


class Dtype:
    """Prints as torch's element types do."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


class constexpr:  # noqa: N801  # Triton's own spelling, which is what is recognised
    def __init__(self, value: object) -> None:
        self.value = value


def tensor(dtype: str) -> SimpleNamespace:
    return SimpleNamespace(dtype=Dtype(dtype), data_ptr=lambda: 64, shape=(4,))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tensor("float32"), PointerType("fp32")),
        (tensor("bfloat16"), PointerType("bf16")),
        (tensor("bool"), PointerType("i1")),
        (tensor("float8_e5m2"), PointerType("fp8e5")),
        (tensor("int64"), PointerType("i64")),
        (SimpleNamespace(base=tensor("float16"), block_shape=[16, 32]), DescriptorType("fp16", (16, 32))),
        (5, ScalarType("i32")),
        (1, ScalarType("i32")),
        (0, ScalarType("i32", 16)),
        (1024, ScalarType("i32", 16)),
        (2**31 - 1, ScalarType("i32")),
        (2**31, ScalarType("i64", 16)),
        (-(2**31), ScalarType("i32", 16)),
        (-(2**31) - 1, ScalarType("i64")),
        (2**63 + 1, ScalarType("u64")),
        (1.5, ScalarType("fp32")),
        (True, ScalarType("i1")),
        (None, ConstexprValue(None)),
        ("*fp16:16", PointerType("fp16", divisibility=16)),
        (PointerType("i8"), PointerType("i8")),
        ((tensor("float32"), 3), TupleType((PointerType("fp32"), ScalarType("i32")))),
        (Pair(tensor("float32"), 3), TupleType((PointerType("fp32"), ScalarType("i32")), ("x", "n"), Pair)),
        (SimpleNamespace(base=tensor("float16"), block_shape=[16], layout=Layout(8)),
         DescriptorType("fp16", (16,), "Layout(width=8)")),
        (constexpr(7), ConstexprValue(7)),
        (tensor, ConstexprValue(tensor, "tensor")),
    ],
)
def test_follows_tritons_own_specialisation(value: object, expected: object) -> None:
    assert type_of_value(value) == expected


@pytest.mark.parametrize("value", ["*fp32", "relu", 1, 2.5, None, (1, 2)])
def test_a_constexpr_stands_for_itself(value: object) -> None:
    assert type_of_value(value, is_constexpr=True).value == value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("relu", "unknown type 'relu'"),
        (2**64, "does not fit 64 bits"),
        (tensor("complex64"), "Triton has no element type for torch.complex64"),
    ],
)
def test_refuses_what_triton_cannot_take(value: object, message: str) -> None:
    with pytest.raises(TypeTextError, match=message):
        type_of_value(value)


def test_shown_text_never_holds_an_address() -> None:
    shown = [text_of(value) for value in (object(), (object(), 1), tensor, Dtype("float32"), constexpr(3))]
    assert shown == ["<object>", "(<object>, 1)", "tensor", "torch.float32", ""]


@pytest.mark.torch
def test_real_tensors_and_elements_types() -> None:
    import torch

    assert type_of_value(torch.empty(4, dtype=torch.float8_e4m3fn, device="meta")) == PointerType("fp8e4nv")
    assert type_of_value(torch.empty(4, dtype=torch.bool)) == PointerType("i1")
    assert type_of_value(torch.float16) == ConstexprValue(torch.float16, "torch.float16")
