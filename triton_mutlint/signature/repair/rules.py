"""What each of Triton's error messages says to change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from triton_mutlint.kernel_source.dtypes import bits, canonical_dtype
from triton_mutlint.signature.repair import sizes
from triton_mutlint.signature.repair.scene import (
    Change,
    Probed,
    Rule,
    Scene,
    as_dtype,
    dtype_of,
    floats,
    integers,
    retyped,
)
from triton_mutlint.types import ConstexprValue, DescriptorType, PointerType, ScalarType

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.FloorDiv, ast.Mod)
_DEFAULT = "fp32"  # the element type of which nothing is known: the first to give way
_BY_WIDTH = {1: ("i1",), 8: ("i8", "u8"), 16: ("fp16", "i16"), 32: ("fp32", "i32"), 64: ("fp64", "i64")}
_DTYPE = re.compile(r"(?<![a-z])(?:fp\d\w*|bf16|u?int\d+|float\d\w*|[iuf]\d+)\b")


# --------------------------------------------------------------------------- kinds


def _to_integer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    operations = [n for n, _ in scene.line.parts if isinstance(n, ast.BinOp) and isinstance(n.op, _BITWISE)]
    yield from retyped(scene, scene.behind(operations), "i32", floats)
    yield from retyped(scene, scene.targets(), "i32", floats)


def _to_float(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    yield from retyped(scene, scene.targets(), "fp32", integers)
    yield from retyped(scene, scene.targets(), "fp16", integers)


def _dot_operands(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`tl.dot` takes no wide integers: an integer accumulator means bytes, all else is floating."""
    calls = [n for n, _ in scene.line.parts if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    operands = [a for call in calls if call.func.attr == "dot" for a in call.args[:2]]  # type: ignore[attr-defined]
    if match.group("dtype").startswith(("int", "uint")):
        pairs = {t: as_dtype(scene.type(t), "i8") for t in scene.behind(operands, True)}
        yield {target: type_ for target, type_ in pairs.items() if type_ is not None}
    yield from _to_float(scene, match)


def _pointer_met_number(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`invalid operands of type pointer<int32> and triton.language.int32`"""
    if re.search(r"language\.(fp|float|bf)\d+", match.string):
        yield from retyped(scene, scene.targets(element=True), "i32", floats)  # an index that was loaded
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, PointerType):
            yield {target: ScalarType("i32" if integers(type_.element) else "fp32")}
            yield {target: ScalarType("i32")}
        if isinstance(type_, ConstexprValue) and isinstance(type_.value, float):
            yield {target: ConstexprValue(64)}
    yield from _to_pointer(scene, match)


def _to_number(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Something is a number and not a pointer: of two pointers in a sum the second one."""
    wanted = canonical_dtype(match.groupdict().get("to") or "") or "i32"
    for target in reversed(scene.targets(element=False)):
        if isinstance(scene.type(target), PointerType):
            yield {target: ScalarType(wanted)}


def _to_pointer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target in scene.targets(element=False):
        if isinstance(scene.type(target), ScalarType):
            yield {target: PointerType("fp32")}
            yield {target: ScalarType("i64")}
    yield from retyped(scene, scene.targets(element=True), "i64", lambda dtype: dtype not in ("i64", "u64"))


# --------------------------------------------------------------------------- dtypes


def _one_type(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """The message names two types where there should be one: what has the one gets the other."""
    found = dict.fromkeys(name for text in _DTYPE.findall(match.string[match.start():]) if (name := _short(text)))
    pair = sorted(list(found)[:2], key=_DEFAULT.__eq__)
    near = scene.named(match.groupdict().get("name") or "") or scene.targets()
    if "pointer<" in match.string:
        yield from ({t: PointerType("fp32")} for t in near if isinstance(scene.type(t), ScalarType) and not t.element)
        near = [Probed(t.name, True) for t in near]
    for have, wanted in ((pair[1], pair[0]), pair) if len(pair) > 1 else ():
        yield from retyped(scene, [*near, *scene.around()], wanted, have.__eq__)
        yield from retyped(scene, [Probed(name, True) for name in sorted(scene.inferred)], wanted, have.__eq__)


def _width(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    size, wanted = int(match.group("a")), int(match.group("b"))
    pointers = [Probed(n, True) for n in sorted(scene.inferred)]
    for dtype in _BY_WIDTH.get(wanted, ()):

        def same_class(have: str, dtype: str = dtype) -> bool:
            return bits(have) == size and floats(have) is floats(dtype)

        yield from retyped(scene, [*scene.targets(), *scene.around()], dtype, same_class)
        yield from retyped(scene, pointers, dtype, same_class)


def _atomic(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """An atomic op knows no elements of this type."""
    for dtype in ("i32", "fp32", "i64"):
        yield from retyped(scene, scene.targets(element=True), dtype, dtype.__ne__)


def _short(text: str) -> str:
    name = canonical_dtype(re.sub(r"^f(\d)", r"fp\1", text)) or ""
    return name if bits(name) else ""


def fallback(scene: Scene) -> Iterator[Change]:
    """Nothing in the message says what to do: try the usual other guesses for the line's parameters."""
    for target in scene.targets():
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue):
            for value in _others(type_.value):
                yield {target: ConstexprValue(value)}
        elif isinstance(type_, (PointerType, DescriptorType)) and target.element:
            for dtype in ("i32", "fp16", "i8") if floats(type_.element) else ("fp32",):
                yield from retyped(scene, [target], dtype, dtype_of(type_).__eq__)
        elif isinstance(type_, ScalarType) and not target.element and target.name not in scene.line.integral:
            yield {target: ScalarType("i32" if floats(type_.name) else "fp32")}


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    return tuple(s for s in (16, 32, 128, 1, 2, 4, 256) if s != value) if isinstance(value, int) else ()


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(pattern, re.DOTALL), rule


RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    _rule(r"(?:Loop-carried variable|[Mm]ismatched type for|initial value for) `?(?P<name>\w+)", _one_type),
    _rule(r"inconsistent types|pointer<\w+> and pointer<|different type:|successor operand type|"
          r"[Ee]lement type ?\(?.*element type|element type must match|same dtype", _one_type),
    _rule(r"atomic_\w+ (?:only supports elements|does not support)|that ptr type matches cmp type", _atomic),
    _rule(r"cannot cast pointer<\w+>(\[\])? to (?P<to>\w+)|cannot add pointers together", _to_number),
    _rule(r"cannot cast \w+(\[\])? to pointer|[Uu]nsupported ptr type|has no attribute 'element_ty'", _to_pointer),
    _rule(r"(invalid operands|IncompatibleType).*pointer<", _pointer_met_number),
    _rule(r"invalid operands of type|unexpected type|IncompatibleType|only supported for integers|"
          r"bounds and step must all be ints|Return type mismatch", _to_integer),
    _rule(r"unexpected type|Expected dtype|only supports? float|must be a float", _to_float),
    _rule(r"Unsupported (lhs|rhs) dtype (?P<dtype>\w+)", _dot_operands),
    _rule(r"bitcast data-type of size (?P<a>\d+) to data-type of size (?P<b>\d+)", _width),
    _rule(r"power of (2|two)", sizes.power_of_2),
    _rule(r"(incompatible dimensions|must be equal but|[Cc]annot broadcast|should be equal|expected value shape|"
          r"Block shape).*", sizes.shapes),
    _rule(r"value\.shape == desc\.block_shape", sizes.as_another),
    _rule(r"cannot change total number of elements|reshape", sizes.reshaped),
    _rule(r"must not exceed the size|numel .*exceeds|exceeds triton maximum|Nonrepresentable integer|negative shift|"
          r"out of range for type", sizes.smaller),
    _rule(r"NoneType", sizes.present),
    _rule(r"list index out of range|tuple index out of range|IndexError|unpack", sizes.longer),
)
