"""The values of a compile-time parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triton_mutlint.kernel_source.dtypes import dtype_value, short_name
from triton_mutlint.kernel_source.learned.marks import named_like_dtype
from triton_mutlint.kernel_source.objects import UNKNOWN, own
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.signature.evidence import SIZES, Dossier, Inferred
from triton_mutlint.signature.launch_sites import Passed
from triton_mutlint.signature.runtime import class_with
from triton_mutlint.types import ArgType, ConstexprValue, unwrap_constexpr

MAX_ALTERNATIVES = 6
_GLUON = "triton.experimental.gluon.language"
_OPTIONS: Mapping[str, Any] = {
    "cache_modifier": "", "eviction_policy": "", "input_precision": "ieee", "padding_option": "", "sem": "relaxed",
    "scope": "gpu", "format": "e5m2", "allow_tf32": False, "volatile": False, "rounding_mode": "rn",
    "fp_downcast_rounding": "rtne", "max_num_imprecise_acc": 0,
}  # fmt: skip
_BY_LAUNCH: Mapping[str, int] = {"num_warps": 4, "num_ctas": 1, "num_stages": 3, "warp_size": 32}  # or as it says


def compile_time(dossier: Dossier) -> Inferred:
    """The guesses for a constexpr parameter, or for one that can only be one."""
    slot, parameter = dossier.slot, dossier.parameter
    if parameter.has_default and unwrap_constexpr(parameter.default) is not None:
        return _with_default(slot, parameter.default)
    passed = _passed(dossier)
    if passed is not None:
        return _optional(slot, passed, parameter.has_default)
    return _optional(slot, _from_body(dossier), parameter.has_default)


def needs_constexpr(slot: Slot) -> bool:
    """Whether a parameter without the annotation is used as only a compile-time value can be."""
    if slot.pointer or slot.descriptor:
        return False
    text = any(isinstance(v, str) for v in slot.literals)
    return bool(slot.called or slot.dtype or text or slot.unroll)


def _values(values: Sequence[Any]) -> tuple[ArgType, ...]:
    return tuple(v if isinstance(v, ConstexprValue) else ConstexprValue(v) for v in values[:MAX_ALTERNATIVES])


def _with_default(slot: Slot, default: Any) -> Inferred:
    default = unwrap_constexpr(default)
    reason = f"its default is {default!r}"
    if isinstance(default, bool):
        return Inferred(_values((default, not default) if slot.matters else (default,)), reason)
    others = [v for v in slot.literals if type(v) is type(default) and v != default]
    if isinstance(default, (int, str)):
        return Inferred(_values((default, *others)), reason)
    return Inferred((ConstexprValue(default),), reason)


def _optional(slot: Slot, found: Inferred, default_none: bool) -> Inferred:
    absent = any(isinstance(a, ConstexprValue) and a.value is None for a in found.alternatives)
    if absent or not (slot.none_test or default_none):
        return found
    return Inferred((*found.alternatives, ConstexprValue(None, "None")), f"{found.reason}; may be None")


def _passed(dossier: Dossier) -> Inferred | None:
    """What launch sites pass: literals, booleans, dtypes, functions."""
    values: list[Any] = []
    line = 0
    for passed in dossier.launches:
        found = _told_by(passed, dossier.namespace)
        line = line or (passed.line if found else 0)
        values += [v for v in found if not any(type(v) is type(s) and v == s for s in values)]
    if None in values and _used(dossier.slot) and not (dossier.slot.none_test or dossier.slot.branch):
        values.remove(None)  # no use of it would accept a None
    if not values or values == [None]:
        return None if _used(dossier.slot) or not values else Inferred(_values(values), f"launch site line {line}")
    values += [v for v in dossier.slot.literals if isinstance(v, str) and v not in values]
    if dossier.slot.shape:
        values = [v for v in values if not isinstance(v, bool)] or values
    values.sort(key=lambda v: v is None)
    if any(isinstance(v, bool) for v in values):
        if not dossier.slot.matters:
            off = [v for v in values if v is False]  # what a flag switches off needs no pointer that may be None
            return Inferred(_values((off or values)[:1]), f"launch site line {line}")
        values = [False, True, *(v for v in values if not isinstance(v, bool))]
    return Inferred(_values(values), f"launch site line {line}")


def _told_by(passed: Passed, namespace: Mapping[str, Any]) -> list[Any]:
    """The values that one launch may pass; none where they are not known."""
    if passed.value is UNKNOWN:
        return [False, True] if passed.type is bool else []
    if short_name(passed.value):
        return [dtype_value(short_name(passed.value))]
    if own(passed.value, "arg_names"):  # else all globals would be evaluated in vain
        names = [name for name, value in namespace.items() if value is passed.value]
        return [ConstexprValue(passed.value, names[0])] if names else [passed.value]
    return [passed.value]


def _used(slot: Slot) -> bool:
    uses = slot.called or slot.dtype or slot.literals or slot.shape or slot.integer
    return bool(uses or slot.bounds or slot.arithmetic or slot.floating)


def _from_body(dossier: Dossier) -> Inferred:
    slot = dossier.slot
    if slot.called:
        return _function(dossier)
    named = named_like_dtype(slot.name) and not (slot.literals or slot.branch or slot.arithmetic)
    if slot.dtype or named:
        where = f"used as a dtype at line {slot.dtype}" if slot.dtype else "by its name"
        return Inferred((dtype_value(_dtype(slot)),), where)
    if "layout" in slot.name.lower() and not (slot.children or slot.branch or slot.literals):
        gluon = next((v for v in dossier.namespace.values() if own(v, "__name__") == _GLUON), None)
        if gluon is not None:
            return Inferred((ConstexprValue(gluon.AutoLayout(), "AutoLayout()"),), "a layout by its name")
    if slot.keyword and slot.keyword in _OPTIONS:
        return Inferred((ConstexprValue(_OPTIONS[slot.keyword]),), f"passed as {slot.keyword}")
    if slot.name.lower() in _BY_LAUNCH:
        return Inferred((ConstexprValue(_BY_LAUNCH[slot.name.lower()]),), "by its name, what a launch has by default")
    if slot.children:
        return _sequence(slot, dossier.namespace)
    literals = [v for v in slot.literals if v is not None]
    text = [v for v in literals if isinstance(v, str)]
    if text:
        return Inferred(_values((*text[:5], "none")), f"compared with {', '.join(map(repr, text))}")
    return _number(slot, literals)


def _dtype(slot: Slot) -> str:
    """Which dtype a dtype parameter stands for, from what is done with values cast to it."""
    if slot.elem_bits:
        return {8: "fp8e4nv", 16: "fp16", 64: "fp64"}.get(slot.elem_bits, "fp32")
    return slot.elem_dtype or ("i32" if slot.elem_int else "fp32")


def _number(slot: Slot, literals: list[Any]) -> Inferred:
    if slot.shape:
        return Inferred(_values((SIZES[0],)), f"a dimension at line {slot.shape}")
    flags = [v for v in literals if isinstance(v, bool)]
    numbers = [v for v in literals if isinstance(v, int) and not isinstance(v, bool)]
    arithmetic = slot.integer
    if flags or (slot.branch and not numbers and not arithmetic and not slot.bounds):
        return _flag(slot, f"decides a branch at line {slot.branch or slot.none_test}")
    if slot.exponent:
        return Inferred(_values((4,)), f"a number of bits at line {slot.exponent}")
    if slot.unroll:
        return Inferred(_values((2,)), f"unrolled at line {slot.unroll}")
    if numbers:
        others = [] if arithmetic else [next(n for n in range(len(numbers) + 1) if n not in numbers)]
        first = [SIZES[0]] if arithmetic else []
        return Inferred(_values((*first, *numbers[:4], *others)), f"compared with {', '.join(map(str, numbers))}")
    if slot.floating:
        return Inferred(_values((1.0,)), "computed with as a number")
    if slot.divides:
        return Inferred(_values((1,)), f"what a size is divided by at line {slot.divides}")
    return Inferred(_values((SIZES[0],)), "nothing tells: a size")


def _flag(slot: Slot, reason: str) -> Inferred:
    """Both values where they may decide what is written; else one."""
    if slot.matters:
        return Inferred(_values((False, True)), f"{reason}; decides what is written at line {slot.matters}")
    return Inferred(_values((False,)), f"{reason}; writes are the same either way")


def _sequence(slot: Slot, namespace: Mapping[str, Any]) -> Inferred:
    """A tuple of sizes or ones: of the class in the kernel's module that has the fields used, if there are some."""
    names = [k for k in slot.children if isinstance(k, str) and k != "*"]
    if names:
        cls = class_with(names, namespace, slot.name)
        return Inferred(_values((cls(*(1 for _ in cls._fields)),)), f"used as a tuple with {', '.join(names)}")
    numbers = [k for k in slot.children if isinstance(k, int)]
    length = max((k + 1 for k in numbers), default=2)
    size = SIZES[0] if any(c.shape for c in slot.children.values()) else 1
    return Inferred(_values(((size,) * length,)), "used as a tuple")


def _function(dossier: Dossier) -> Inferred:
    """A jit function of the kernel's module that takes as many arguments."""
    slot = dossier.slot
    found = []
    for name, value in dossier.namespace.items():
        names = own(value, "arg_names")
        if isinstance(names, list) and len(names) == slot.arity:
            module = str(getattr(own(value, "fn"), "__module__", ""))
            if not module.startswith("triton."):
                found.append(ConstexprValue(value, name))
    # a function that returns nothing is a kernel, not one to be passed
    reason = f"called with {slot.arity} arguments at line {slot.called}"
    if not found:
        return Inferred((ConstexprValue(None, "None"),), f"{reason}; no jit function of that shape was found")
    return Inferred(tuple(found[:MAX_ALTERNATIVES]), reason)
