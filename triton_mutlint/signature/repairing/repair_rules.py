"""What each of Triton's error messages says to change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from triton_mutlint.kernel_source.dtype_names import bits
from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.signature.repairing import repair_values
from triton_mutlint.signature.repairing.probe import Probed
from triton_mutlint.signature.repairing.repair_pointers import as_value, one_element, one_shape, sized, together, wider
from triton_mutlint.signature.repairing.repair_shapes import reshaped
from triton_mutlint.signature.repairing.scene import Change, Rule, Scene, as_dtype, dtype_of, floats, integers, retyped
from triton_mutlint.types import ConstexprValue, DescriptorType, PointerType, ScalarType

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.FloorDiv, ast.Mod)


# --------------------------------------------------------------------------- kinds


def _to_integer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    operands = [p for p in scene.parts if isinstance(p.node, ast.BinOp) and isinstance(p.node.op, _BITWISE)]
    near = scene.open(dict.fromkeys(t for p in operands for t in p.targets))
    yield from retyped(scene, near, "i32", floats)
    yield from retyped(scene, scene.targets(), "i32", floats)


def _dot_operands(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`tl.dot` takes no wide integers: an integer accumulator means bytes, all else is floating."""
    if match.group("dtype").startswith(("int", "uint")):
        pairs = {t: as_dtype(scene.type(t), "i8") for t in scene.operands("dot")}
        yield {target: type_ for target, type_ in pairs.items() if type_ is not None}
    yield from _to_float(scene, match)


def _to_float(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    yield from retyped(scene, scene.targets(), "fp32", integers)
    yield from retyped(scene, scene.targets(), "fp16", integers)


def _pointer_met_number(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`invalid operands of type pointer<int32> and triton.language.int32`"""
    if re.search(r"language\.(fp|float|bf)\d+", match.string):
        yield from retyped(scene, scene.targets(element=True), "i32", floats)  # an index that was loaded
        for target, value in repair_values.constants(scene):
            if isinstance(value.value, float):
                yield {target: ConstexprValue(64)}
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, PointerType):
            yield {target: ScalarType("i32" if integers(type_.element) else "fp32")}
            yield {target: ScalarType("i32")}
        if isinstance(type_, ConstexprValue) and isinstance(type_.value, float):
            yield {target: ConstexprValue(64)}
    yield from _to_pointer(scene, match)


def _one_pointer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Of two pointers in a sum the first is the address."""
    for target in reversed(scene.targets(ast.Name, element=False)):
        if isinstance(scene.type(target), PointerType):
            yield {target: ScalarType("i32")}


def _to_number(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    wanted = canonical_dtype(match.group("to")) or "i32"
    for target in scene.targets(element=False):
        if isinstance(scene.type(target), PointerType):
            yield {target: ScalarType(wanted)}


def _to_pointer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, ScalarType):
            yield {target: PointerType("fp32")}
            yield {target: ScalarType("i64")}
    for target in scene.targets(element=True):
        if dtype_of(scene.type(target)) not in ("i64", "u64"):
            new = as_dtype(scene.type(target), "i64")
            if new is not None:
                yield {target: new}


def _known_float8(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for name, type_ in scene.args.items():
        if name in scene.inferred and dtype_of(type_).startswith("fp8") and dtype_of(type_) != "fp8e4nv":
            new = as_dtype(type_, "fp8e4nv")
            if new is not None:
                yield {Probed(name, (), True): new}


def _scaled_format(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    wanted = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8"}.get(match.group("format"), "fp8e5")
    yield from retyped(scene, scene.targets(element=True), wanted, lambda dtype: dtype != wanted)


def _masked(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    masks = [p for p in scene.parts if isinstance(p.node, (ast.Name, ast.Call, ast.BinOp))]
    targets = scene.open(dict.fromkeys(t for p in reversed(masks) for t in p.targets))
    yield from retyped(scene, targets, "i1", lambda dtype: dtype != "i1")


# --------------------------------------------------------------------------- dtypes


def _same_dtype(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Two dtypes that should be one: change what has the second to the first, and the other way."""
    first, second = (_kind(match.group(g)) for g in ("a", "b"))
    near = scene.operands("dot")
    targets = near + scene.targets(element=True) + scene.targets(element=False)
    if near and integers(first) and floats(second):
        first, second = second, first
    if bits(first) and bits(second):
        yield from retyped(scene, targets, first, second.__eq__)
        yield from retyped(scene, targets, second, first.__eq__)


_BY_WIDTH = {
    1: ("i1",), 8: ("i8", "u8"), 16: ("fp16", "i16"), 32: ("fp32", "i32"), 64: ("fp64", "i64"),
}  # fmt: skip


def _width(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    size, wanted = int(match.group("a")), int(match.group("b"))
    for dtype in _BY_WIDTH.get(wanted, ()):
        everything = scene.targets() + scene.open(t for name in scene.names.values() for t in name)
        pointers = [Probed(n, (), True) for n in sorted(scene.inferred)]

        def same_class(have: str, dtype: str = dtype) -> bool:
            return bits(have) == size and floats(have) is floats(dtype)

        yield from retyped(scene, everything, dtype, same_class)
        yield from retyped(scene, pointers, dtype, same_class)


def _variable(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """A name is of one type before a branch or loop and of another after it."""
    found = match.groupdict()
    name = found.get("name") or ""
    first, second = _kind(found["a"]), _kind(found["b"])
    targets = scene.open(scene.names.get(name, [])) or scene.targets()
    blocks = [t for t in targets if isinstance(scene.type(t), DescriptorType)]
    yield from _one_block(scene, blocks)
    if blocks:
        return
    if "pointer" in (first, second):
        for target in targets:
            type_ = scene.type(target)
            if isinstance(type_, ScalarType) and not target.element:
                yield {target: PointerType("fp32")}
        return
    integral = first if integers(first) else second
    fractional = second if integral == first else first
    if integers(integral) and floats(fractional):
        yield from retyped(scene, targets, integral if bits(integral) > 1 else "i32", floats)
        yield from retyped(scene, targets, fractional, integers)
        return
    for wanted, have in ((first, second), (second, first)):
        yield from retyped(scene, targets, wanted, have.__eq__)


def _one_block(scene: Scene, targets: list[Probed]) -> Iterator[Change]:
    """Descriptors that take turns have one type: each one's in turn."""
    for model in targets:
        shared = scene.type(model)
        if isinstance(shared, DescriptorType):
            yield dict.fromkeys(targets, shared)


def _turns(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    everything = scene.open(dict.fromkeys(t for name in scene.names.values() for t in name))
    yield from _one_block(scene, [t for t in everything if isinstance(scene.type(t), DescriptorType)])


def _kind(text: str) -> str:
    if "pointer" in text:
        return "pointer"
    name = re.search(r"(fp\d\w*|bf16|u?int\d+|float\d\w*|[iuf]\d+)", text)
    if name is None:
        return ""
    return canonical_dtype(re.sub(r"^f(\d)", r"fp\1", name.group(1))) or ""



def fallback(scene: Scene) -> Iterator[Change]:
    """Nothing in the message says what to do: try the usual other guesses for the line's parameters."""
    for target in scene.targets():
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue):
            for value in _others(type_.value):
                yield {target: ConstexprValue(value)}
        elif isinstance(type_, (PointerType, DescriptorType)) and target.element:
            for dtype in ("i32", "fp16", "i8") if floats(type_.element) else ("fp32",):
                new = as_dtype(type_, dtype)
                if new is not None:
                    yield {target: new}
        elif isinstance(type_, ScalarType) and not target.element and target.name not in scene.integral:
            yield {target: ScalarType("i32" if floats(type_.name) else "fp32")}


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return tuple(s for s in (16, 32, 128, 1, 2, 4, 256) if s != value)
    return ()


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(pattern, re.DOTALL), rule


_HELD = r"(?:pointer|tensor_descriptor)<(?:<\[[^]]*\], )?(?P<%s>\w+)>"
_POINTERS = _HELD % "a" + ".*?" + _HELD % "b"
_BLOCKS = r"!tt\.tensordesc<(?:tensor<)?(?:\d+x)*(?P<%s>\w+)"
_SHAPES = r"!tt\.tensordesc<(?:tensor<)?(?P<%s>\d+(?:x\d+)*)x"
RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    _rule(r"(?:Loop-carried variable|initial value for) `?(?P<name>\w+)`? .*?" + _POINTERS, one_element),
    _rule(r"(?:inconsistent types|invalid operands of type) .*?" + _POINTERS, one_element),
    _rule(r"(?:different type:|successor operand type #\d+) '" + _BLOCKS % "a" + ".*?" + _BLOCKS % "b", one_element),
    _rule(r"(?:different type:|successor operand type #\d+) '" + _SHAPES % "a" + ".*?" + _SHAPES % "b", one_shape),
    _rule(r"value\.shape == desc\.block_shape", sized),
    _rule(r"Block element type\((?P<a>\w+)\) and value element type\((?P<b>\w+)\)", as_value),
    _rule(r"element type must match block \('(?P<a>\w+)'\), but got 'tensor<(?:\d+x)*(?P<b>\w+)>'", as_value),
    _rule(r"atomic_\w+ (only supports elements with width|does not support)|that ptr type matches cmp type", wider),
    _rule(r"(Loop-carried variable|Mismatched type for|initial value for) `?(?P<name>\w+)`?.*?"
          r"(?P<a>tensordesc\S+|pointer<\w+>|<\[.*?\], \w+>|\b(?:u?int\d+|fp\d\w*|bf16)\b).*?"
          r"(?P<b>tensordesc\S+|pointer<\w+>|<\[.*?\], \w+>|\b(?:u?int\d+|fp\d\w*|bf16)\b)", _variable),
    _rule(r"(?:Loop-carried variable|initial value for) `?(?P<name>\w+)", together),
    _rule(r"control flow edge|successor operand type", _turns),
    _rule(r"inconsistent types (?P<a>\S+) and (?P<b>\S+)", _variable),
    _rule(r"cannot cast pointer<\w+>(\[\])? to (?P<to>\w+)", _to_number),
    _rule(r"pointer<(?P<a>\w+)> and pointer<(?P<b>\w+)>", _same_dtype),
    _rule(r"cannot cast \w+(\[\])? to pointer", _to_pointer),
    _rule(r"cannot add pointers together", _one_pointer),
    _rule(r"(invalid operands|IncompatibleType).*pointer<", _pointer_met_number),
    _rule(r"(invalid operands of type|unexpected type|IncompatibleType)", _to_integer),
    _rule(r"unexpected type|Expected dtype|only supports? float|must be a float", _to_float),
    _rule(r"[Uu]nsupported ptr type", _to_pointer),
    _rule(r"not supported in this architecture", _known_float8),
    _rule(r"Unexpected dtype for (?P<format>e\w+)", _scaled_format),
    _rule(r"only supported for integers|bounds and step must all be ints|Return type mismatch", _to_integer),
    _rule(r"has no attribute 'element_ty'", _to_pointer),
    _rule(r"same dtype.*?Got (?P<a>\w+) and (?P<b>\w+)", _same_dtype),
    _rule(r"descriptor element type '(?P<a>\w+)' and tensor element type '(?P<b>\w+)'", _same_dtype),
    _rule(r"Unsupported (lhs|rhs) dtype (?P<dtype>\w+)", _dot_operands),
    _rule(r"bitcast data-type of size (?P<a>\d+) to data-type of size (?P<b>\d+)", _width),
    _rule(r"[Mm]ask", _masked),
    _rule(r"should have M >=|K >= \d+|N >= \d+", repair_values.larger),
    _rule(r"power of (2|two)", repair_values.power_of_2),
    _rule(r"(incompatible dimensions|must be equal but|[Cc]annot broadcast|should be equal|expected value shape|"
          r"Block shape).*", repair_values.shapes),
    _rule(r"cannot change total number of elements|reshape", reshaped),
    _rule(r"must not exceed the size", repair_values.smaller),
    _rule(r"numel .*exceeds|exceeds triton maximum", repair_values.smaller),
    _rule(r"Nonrepresentable integer|negative shift|out of range for type", repair_values.smaller),
    _rule(r"NoneType", repair_values.present),
    _rule(r"list index out of range|tuple index out of range|IndexError|unpack", repair_values.longer),
)  # fmt: skip
