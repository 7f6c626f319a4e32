"""The argument type of a Python value, by the rules of Triton's own argument specialisation.

Torch tensors and descriptors are recognised by their attributes, so torch is never imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from enum import Enum
from typing import Any

from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.spec.notation import Resolve, TypeTextError, parse_type
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    PointerType,
    ScalarType,
    TupleType,
    unwrap_constexpr,
)

_ARG_TYPES = (PointerType, ScalarType, DescriptorType, ConstexprValue, TupleType)
_I32 = range(-(2**31), 2**31)
_I64 = range(-(2**63), 2**63)
_U64 = range(2**64)


def type_of_value(value: Any, *, is_constexpr: bool = False, resolve: Resolve | None = None) -> ArgType:
    """The type of one argument given as a type string, an `ArgType` or a sample value.

    A tensor becomes a pointer to its element type without an alignment hint, and the integer 1
    stays an `i32`: the verdict then holds for every alignment and value. With `is_constexpr` every
    value, strings included, stands for itself.
    Raises `TypeTextError` for a string that is no type, an integer beyond 64 bits or an element
    type that Triton lacks.
    """
    if isinstance(value, _ARG_TYPES):
        return value
    if is_constexpr:
        return ConstexprValue(unwrap_constexpr(value), text_of(value))
    if isinstance(value, str):
        return parse_type(value, resolve=resolve)
    if isinstance(value, bool):
        return ScalarType("i1")
    if isinstance(value, int):
        return _scalar_of_int(value)
    if isinstance(value, float):
        return ScalarType("fp32")
    if isinstance(value, tuple):
        elements = tuple(type_of_value(element, resolve=resolve) for element in value)
        fields = getattr(type(value), "_fields", ())
        return TupleType(elements, tuple(fields), type(value) if fields else None)
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        return _descriptor(value)
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return PointerType(_element(value.dtype))
    return ConstexprValue(unwrap_constexpr(value), text_of(value))


def _scalar_of_int(value: int) -> ScalarType:
    """`i32`, else `i64`, else `u64`, with `:16` for multiples of 16, as Triton's launcher decides."""
    for name, values in (("i32", _I32), ("i64", _I64), ("u64", _U64)):
        if value in values:
            return ScalarType(name, 16 if value % 16 == 0 else 1)
    raise TypeTextError(f"{value} does not fit 64 bits", "i64")


def text_of(value: Any) -> str:
    """How a constexpr value is shown: its own name for functions, classes and element types."""
    value = unwrap_constexpr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return ""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(text_of(element) or repr(element) for element in value)})"
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    shown = str(value)
    # A default repr holds the object's address, which differs from run to run.
    return f"<{type(value).__name__}>" if " at 0x" in shown else shown


def value_key(arg: ArgType) -> tuple[str, str]:
    """Tells argument types apart as lowering does: the kind of a constexpr's value and how it prints."""
    if isinstance(arg, TupleType):
        return "tuple", f"{arg.fields}{[value_key(element) for element in arg.elements]}"
    value = getattr(arg, "value", arg)
    return type(value).__name__, repr(value)


def number_like(example: float, number: float) -> Any:
    """The number as a value of the example's kind: a member of its enumeration if one has that value, else a plain one.

    The example itself where there is no such number.
    """
    kinds: list[type[Any]] = [type(example)] if isinstance(example, Enum) else []
    kinds += [kind for kind in (bool, int, float) if isinstance(example, kind)] or [type(example)]
    for kind in kinds:
        with suppress(Exception):  # no member, infinite, too large; `_missing_` is foreign code
            return kind(number)
    return example


def distinct(args: Iterable[ArgType]) -> tuple[ArgType, ...]:
    """Each once: of those that lowering does not tell apart, the first."""
    return tuple({value_key(arg): arg for arg in reversed(list(args))}.values())[::-1]


def _descriptor(value: Any) -> DescriptorType:
    layout = repr(value.layout) if hasattr(value, "layout") else ""
    return DescriptorType(_element(value.base.dtype), tuple(int(size) for size in value.block_shape), layout)


def _element(dtype: Any) -> str:
    element = canonical_dtype(str(dtype))
    if element is None:
        raise TypeTextError(f"Triton has no element type for {dtype}")
    return element
