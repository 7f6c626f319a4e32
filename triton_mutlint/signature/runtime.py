"""The type of a run-time parameter: pointer, scalar, descriptor or tuple."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from triton_mutlint.kernel_source.dtypes import INTEGRAL, bits, canonical_dtype
from triton_mutlint.kernel_source.learned.marks import named_like_integer, named_like_pointer
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.signature.evidence import Dossier, Inferred
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

NONE_VALUE = ConstexprValue(None, "None")
BLOCK = 64


def runtime(dossier: Dossier) -> Inferred:
    """The guesses for a parameter that is not a constexpr."""
    main, reason = _main(dossier)
    slot, parameter = dossier.slot, dossier.parameter
    if slot.pointer and slot.scalar and isinstance(main, PointerType) and not slot.to_int:
        return Inferred((main, ScalarType("i32")), f"{reason}; a number at line {slot.scalar}")
    optional = slot.none_test or (slot.branch and isinstance(main, (PointerType, DescriptorType)))
    if optional and not slot.matters and isinstance(main, (PointerType, DescriptorType)):
        return Inferred((main,), f"{reason}; writes are the same if it is None", is_partial=True)
    if optional:
        return Inferred((main, NONE_VALUE), f"{reason}; may be None (tested at line {optional})")
    idle = not (slot.pointer or slot.descriptor or slot.integer or slot.children)
    if idle and parameter.has_default and parameter.default is None and not named_like_pointer(slot.name):
        return Inferred((NONE_VALUE,), "its default is None and nothing needs more")
    absent = parameter.has_default and parameter.default is None
    return Inferred((main,), reason, is_partial=absent or dossier.passed(type(None)) is not None)


def _main(dossier: Dossier) -> tuple[ArgType, str]:
    slot, parameter = dossier.slot, dossier.parameter
    if parameter.is_const:
        return PointerType(element(slot), const=True), "annotated tl.const"
    if slot.address_int and "addr" in slot.name.lower():
        return ScalarType("i64"), f"cast to a pointer at line {slot.address_int}"
    if slot.pointer:
        return PointerType(element(slot)), _used_as(slot)
    if slot.unit:
        return ConstexprValue(1), f"the last stride of a tensor descriptor at line {slot.unit}"
    written = _annotated(parameter.annotation)
    if written is not None:
        return written, f"annotated {parameter.annotation}"
    if slot.descriptor:
        return descriptor(slot), f"descriptor method at line {slot.descriptor}"
    if slot.children:
        return tuple_type(slot, dossier.namespace), "used as a tuple"
    return _passed(dossier) or _plain(dossier)


def _used_as(slot: Slot) -> str:
    how = "stored to" if slot.stored == slot.pointer else "loaded from" if slot.loaded else "used as an address"
    return f"{how} at line {slot.pointer}"


def _annotated(text: str) -> ArgType | None:
    short = text.strip("'\"")
    if short.startswith("*") and bits(short.removeprefix("*k").lstrip("*")):
        return PointerType(short.removeprefix("*k").lstrip("*"), const=short.startswith("*k"))
    found = canonical_dtype(short)
    return ScalarType("fp32" if short == "float" else found) if found else None


def _passed(dossier: Dossier) -> tuple[ArgType, str] | None:
    slot = dossier.slot
    for type_, name, what in ((float, "fp32", "a float"), (int, "i32", "an integer"), (bool, "i1", "a boolean")):
        found = dossier.passed(type_)
        if found and not (slot.integer if type_ is float else slot.floating):
            return ScalarType(name), f"launch site line {found.line} passes {what}"
    return None


def _plain(dossier: Dossier) -> tuple[ArgType, str]:
    slot, default = dossier.slot, dossier.parameter.default
    if _only_cast(slot) and _may_be_address(slot, dossier.pointers):
        return PointerType(element(slot)), f"used as an address at line {slot.to_int}"
    if slot.address_int:
        return ScalarType("i64"), f"cast to a pointer at line {slot.address_int}"
    for fact, type_, what in (
        (slot.integer, "i32", "used as an integer"), (slot.floating, "fp32", "used as a number"),
        (slot.truth, "i1", "used as a boolean"),
    ):  # fmt: skip
        if fact:
            return ScalarType(type_), f"{what} at line {fact}"
    if isinstance(default, (int, float)):
        type_ = {bool: "i1", int: "i32"}.get(type(default), "fp32")
        return ScalarType(type_), f"its default is {default}"
    if slot.fraction and not named_like_integer(slot.name):
        return ScalarType("fp32"), f"computed with beside a float at line {slot.fraction}"
    fact = slot.number or slot.scalar or slot.direct
    return (ScalarType("i32"), f"computed with at line {fact}") if fact else _by_name(slot)


def _only_cast(slot: Slot) -> bool:
    """Whether a parameter is made a wide integer and is not used otherwise."""
    return bool(slot.to_int) and not (slot.direct or slot.integer or slot.shape or named_like_integer(slot.name))


def _may_be_address(slot: Slot, pointers: bool) -> bool:
    """Whether a wide integer goes where addresses go; `pointers` says that the body makes pointers of numbers."""
    return bool(slot.addressed or (slot.kept and pointers) or slot.distant)


def _by_name(slot: Slot) -> tuple[ArgType, str]:
    used = slot.branch or slot.literals or slot.bounds
    if not used and (named_like_pointer(slot.name) or slot.none_test):
        return PointerType(element(slot)), "by its name"
    return ScalarType("i32"), "nothing tells: an integer"


def element(slot: Slot) -> str:
    """The element type of a pointer; fp32 where nothing says otherwise."""
    if slot.elem_address:
        return "i64"
    if slot.elem_dtype and not (slot.elem_int and slot.elem_dtype not in INTEGRAL):
        return slot.elem_dtype
    if slot.elem_bits:
        return {8: "i8", 16: "fp16", 64: "i64"}.get(slot.elem_bits, "i32" if slot.elem_int else "fp32")
    return "i32" if slot.elem_int else "fp32"


def descriptor(slot: Slot) -> DescriptorType:
    """A descriptor; dimensions that nothing gives are left to `shaped`."""
    kind = element(slot)
    kind = "fp16" if kind == "fp32" and not slot.elem_dtype else kind
    rank = max(map(len, slot.ranks), default=0) or 2
    block = (1, *(BLOCK,) * (rank - 1)) if slot.gathered else (BLOCK,) * rank
    return DescriptorType(kind, block)


def tuple_type(slot: Slot, namespace: Any) -> TupleType:
    """A tuple with the elements or fields that the body uses."""
    names = [k for k in slot.children if isinstance(k, str) and k != "*"]
    if names:
        cls = class_with(names, namespace, slot.name)
        fields: tuple[str, ...] = tuple(cls._fields)
        return TupleType(tuple(_element(slot.child(f)) for f in fields), fields, cls)
    numbers = [k for k in slot.children if isinstance(k, int)]
    rest = slot.children.get("*")
    length = max([k + 1 if k >= 0 else -k for k in numbers] + [4 if rest else 0])
    found = (slot.children.get(i) or slot.children.get(i - length) or rest for i in range(length))  # from either end
    return TupleType(tuple(_element(child or Slot(slot.name)) for child in found))


def _element(slot: Slot) -> ArgType:
    if slot.pointer:
        return PointerType(element(slot))
    if slot.descriptor:
        return descriptor(slot)
    if slot.children:
        return tuple_type(slot, {})
    return ScalarType("fp32" if slot.floating else "i32")


def class_with(names: list[str], namespace: Mapping[str, Any], name: str) -> Any:
    """The namedtuple class among the globals of a kernel that has these fields; else a new one, of this name."""
    for value in namespace.values():
        fields = vars(value).get("_fields") if isinstance(value, type) else None
        if fields and set(names) <= set(fields):
            return value
    return namedtuple(name, names)
