"""What each of Triton's error messages says to change."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triton_mutlint.model import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    PointerType,
    ScalarType,
    TupleType,
)
from triton_mutlint.signature.compile_time import SIZES
from triton_mutlint.signature.dtype_names import FLOATING, bits
from triton_mutlint.signature.dtypes import canonical_dtype
from triton_mutlint.signature.evaluate import next_power_of_2
from triton_mutlint.signature.probe import Part, Target

Change = Mapping[Target, ArgType]
Rule = Callable[["Scene", "re.Match[str]"], Iterator[Change]]
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Scene:
    """The failing line: its parts, the names in reach, and the arguments as they are."""

    args: Mapping[str, ArgType]
    inferred: frozenset[str]
    parts: list[Part]
    names: Mapping[str, list[Target]]

    def targets(self, *kinds: type[ast.expr], element: bool | None = None) -> list[Target]:
        """The inferred parameters behind the line (behind its parts of `kinds`), outermost first."""
        found: dict[Target, None] = {}
        for part in self.parts:
            if not kinds or isinstance(part.node, kinds):
                found.update(dict.fromkeys(part.targets))
        return self.open(found, element)

    def operands(self, function: str) -> list[Target]:
        """The parameters whose elements are operands of `function`, in argument order."""
        calls = [p.node for p in self.parts if isinstance(p.node, ast.Call)]
        named = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == function]
        operands = [a for c in named for a in c.args[:2]]
        return self.open(dict.fromkeys(t for p in self.parts if p.node in operands for t in p.targets), True)

    def open(self, targets: Iterable[Target], element: bool | None = None) -> list[Target]:
        return [t for t in targets if t.name in self.inferred and (element is None or t.element is element)]

    def type(self, target: Target) -> ArgType | None:
        type_ = self.args.get(target.name)
        for key in target.path:
            if not isinstance(type_, TupleType):
                return None
            index = 0 if key == "*" else type_.fields.index(key) if key in type_.fields else key
            if not isinstance(index, int) or index >= len(type_.elements):
                return None
            type_ = type_.elements[index]
        return type_


def _dtype(type_: ArgType | None) -> str:
    if isinstance(type_, (PointerType, DescriptorType)):
        return type_.element
    return type_.name if isinstance(type_, ScalarType) else ""


def _as_dtype(type_: ArgType | None, dtype: str) -> ArgType | None:
    """The same kind of argument with elements (or a scalar) of `dtype`."""
    if isinstance(type_, PointerType):
        return PointerType(dtype, type_.const)
    if isinstance(type_, DescriptorType):
        return DescriptorType(dtype, type_.block_shape)
    return ScalarType(dtype) if isinstance(type_, ScalarType) else None


def _retyped(scene: Scene, targets: Iterable[Target], dtype: str, when: Callable[[str], bool]) -> Iterator[Change]:
    """Change every target whose dtype is `when` to `dtype`: each alone, after all together."""
    changes: dict[Target, ArgType] = {}
    for target in targets:
        type_ = scene.type(target)
        if isinstance(type_, PointerType) and not target.element:
            continue
        new = _as_dtype(type_, dtype) if when(_dtype(type_)) else None
        if new is not None and new != type_:
            changes[target] = new
    for target, type_ in changes.items():
        yield {target: type_}
    if len(changes) > 1:
        yield changes


def _floats(dtype: str) -> bool:
    return dtype in FLOATING


def _integers(dtype: str) -> bool:
    return bool(dtype) and dtype not in FLOATING


# --------------------------------------------------------------------------- kinds


def _to_integer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    operands = [p for p in scene.parts if isinstance(p.node, ast.BinOp) and isinstance(p.node.op, _BITWISE)]
    near = scene.open(dict.fromkeys(t for p in operands for t in p.targets))
    yield from _retyped(scene, near, "i32", _floats)
    yield from _retyped(scene, scene.targets(), "i32", _floats)


def _to_float(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    yield from _retyped(scene, scene.targets(), "fp32", _integers)
    yield from _retyped(scene, scene.targets(), "fp16", _integers)


def _pointer_met_number(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`invalid operands of type pointer<int32> and triton.language.int32`"""
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, PointerType):
            yield {target: ScalarType("i32" if _integers(type_.element) else "fp32")}
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
    for target in scene.targets(element=True):
        if _dtype(scene.type(target)) not in ("i64", "u64"):
            new = _as_dtype(scene.type(target), "i64")
            if new is not None:
                yield {target: new}


def _known_float8(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for name, type_ in scene.args.items():
        if name in scene.inferred and _dtype(type_).startswith("fp8") and _dtype(type_) != "fp8e4nv":
            new = _as_dtype(type_, "fp8e4nv")
            if new is not None:
                yield {Target(name, (), True): new}


def _scaled_format(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    wanted = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8"}.get(match.group("format"), "fp8e5")
    yield from _retyped(scene, scene.targets(element=True), wanted, lambda dtype: dtype != wanted)


def _masked(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    masks = [p for p in scene.parts if isinstance(p.node, (ast.Name, ast.Call, ast.BinOp))]
    targets = scene.open(dict.fromkeys(t for p in reversed(masks) for t in p.targets))
    yield from _retyped(scene, targets, "i1", lambda dtype: dtype != "i1")


# --------------------------------------------------------------------------- dtypes


def _same_dtype(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Two dtypes that should be one: change what has the second to the first, and the other way."""
    first, second = (_kind(match.group(g)) for g in ("a", "b"))
    near = scene.operands("dot")
    targets = near + scene.targets(element=True) + scene.targets(element=False)
    if near and _integers(first) and _floats(second):
        first, second = second, first
    if bits(first) and bits(second):
        yield from _retyped(scene, targets, first, second.__eq__)
        yield from _retyped(scene, targets, second, first.__eq__)


_BY_WIDTH = {
    1: ("i1",), 8: ("i8", "u8"), 16: ("fp16", "i16"), 32: ("fp32", "i32"), 64: ("fp64", "i64"),
}  # fmt: skip


def _width(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    size, wanted = int(match.group("a")), int(match.group("b"))
    for dtype in _BY_WIDTH.get(wanted, ()):
        everything = scene.targets() + scene.open(t for name in scene.names.values() for t in name)
        pointers = [Target(n, (), True) for n in sorted(scene.inferred)]

        def same_class(have: str, dtype: str = dtype) -> bool:
            return bits(have) == size and _floats(have) is _floats(dtype)

        yield from _retyped(scene, everything, dtype, same_class)
        yield from _retyped(scene, pointers, dtype, same_class)


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
    integral = first if _integers(first) else second
    floats = second if integral == first else first
    if _integers(integral) and _floats(floats):
        yield from _retyped(scene, targets, integral if bits(integral) > 1 else "i32", _floats)
        yield from _retyped(scene, targets, floats, _integers)
        return
    for wanted, have in ((first, second), (second, first)):
        yield from _retyped(scene, targets, wanted, have.__eq__)


def _one_block(scene: Scene, targets: list[Target]) -> Iterator[Change]:
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


# --------------------------------------------------------------------------- compile-time values


def _constants(scene: Scene) -> list[tuple[Target, ConstexprValue]]:
    found = []
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue):
            found.append((target, type_))
    return found


def _power_of_2(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target, type_ in _constants(scene):
        if isinstance(type_.value, int) and not isinstance(type_.value, bool):
            rounded = next_power_of_2(max(type_.value, 1))
            for size in (rounded, *SIZES[:9]):
                if size != type_.value:
                    yield {target: ConstexprValue(size)}


def _larger(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`Input shapes should have M >= 16`: some block size is too small."""
    everything = _constants(scene) + [(Target(n, (), False), t) for n, t in scene.args.items()
                                      if n in scene.inferred and isinstance(t, ConstexprValue)]  # fmt: skip
    small = {t: ConstexprValue(32) for t, v in everything
             if isinstance(v.value, int) and not isinstance(v.value, bool) and 0 < v.value < 32}  # fmt: skip
    for target, type_ in small.items():
        yield {target: type_}
    if len(small) > 1:
        yield small


def _smaller(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    sizes = [(t, v.value) for t, v in _constants(scene) if type(v.value) is int and v.value > 4]
    for target, size in sorted(sizes, key=lambda item: -item[1]):
        yield {target: ConstexprValue(4 if size <= 64 else size // 4)}
    everything = {Target(n, (), False): ConstexprValue(max(t.value // 2, 16)) for n, t in scene.args.items()
                  if n in scene.inferred and isinstance(t, ConstexprValue) and type(t.value) is int and t.value > 16}
    yield everything


def _shapes(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Two dimensions that should be one: of a descriptor, or given by a block size."""
    numbers = list(map(int, re.findall(r"\d+", match.group(0))))
    if len(numbers) % 2:
        numbers = numbers[-2:]  # "dimensions at index 0: 64 and 16"
    half = len(numbers) // 2
    pairs = dict.fromkeys((a, b) for a, b in zip(numbers[:half], numbers[half:], strict=True) if a != b)
    for first, second in pairs:
        yield from _resized(scene, first, second)
        yield from _resized(scene, second, first)


def _resized(scene: Scene, have: int, wanted: int) -> Iterator[Change]:
    blocks = {t: scene.type(t) for t in scene.targets(element=True)}
    together = {t: DescriptorType(d.element, tuple(wanted if n == have else n for n in d.block_shape))
                for t, d in blocks.items() if isinstance(d, DescriptorType) and have in d.block_shape}  # fmt: skip
    if together:
        yield together
    for target in scene.targets() + scene.open(t for name in scene.names.values() for t in name):
        type_ = scene.type(target)
        if isinstance(type_, DescriptorType) and have in type_.block_shape:
            whole = tuple(wanted if size == have else size for size in type_.block_shape)
            yield {target: DescriptorType(type_.element, whole)}
            for axis, size in enumerate(type_.block_shape):
                if size == have:
                    shape = (*type_.block_shape[:axis], wanted, *type_.block_shape[axis + 1 :])
                    yield {target: DescriptorType(type_.element, shape)}
        elif isinstance(type_, ConstexprValue) and type(type_.value) is int and type_.value == have:
            yield {target: ConstexprValue(wanted)}


def _reshaped(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target in scene.targets(element=True):
        type_ = scene.type(target)
        rank = len(type_.block_shape) if isinstance(type_, DescriptorType) else 0
        for ones in range(1, rank):
            assert isinstance(type_, DescriptorType)
            yield {target: DescriptorType(type_.element, (*(1,) * ones, *type_.block_shape[ones:]))}
    sizes = {t: v.value for t, v in _constants(scene) if type(v.value) is int and v.value > 0}
    others = {Target(n, (), False): t.value for n, t in scene.args.items() if n in scene.inferred
              and isinstance(t, ConstexprValue) and type(t.value) is int and 1 < t.value <= 256}  # fmt: skip
    whole = 1
    for size in sizes.values():
        whole *= size
    for target, size in others.items():
        if target not in sizes:
            if size <= 64:
                yield {target: ConstexprValue(size * 2)}
            if size != whole <= 4096:
                yield {target: ConstexprValue(whole)}
    for target, size in sizes.items():
        for smaller in (size // 2, 1):
            yield {target: ConstexprValue(max(smaller, 1))}


def _present(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """A None where a value is needed."""
    for target in scene.targets(element=False) + [Target(n, (), False) for n in sorted(scene.inferred)]:
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue) and type_.value is None:
            yield {target: ConstexprValue(64)}
            yield {target: PointerType("fp32")}
            yield {target: ScalarType("i32")}


def _longer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target in scene.targets(element=False):
        type_ = scene.args.get(target.name)
        if isinstance(type_, TupleType) and not type_.fields and type_.elements and len(type_.elements) < 64:
            yield {Target(target.name, (), False): TupleType(type_.elements * 2)}
    for target, value in _constants(scene):
        if isinstance(value.value, tuple) and value.value and len(value.value) < 16:
            yield {target: ConstexprValue(value.value * 2)}


def fallback(scene: Scene) -> Iterator[Change]:
    """Nothing in the message says what to do: try the usual other guesses for the line's parameters."""
    for target in scene.targets():
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue):
            for value in _others(type_.value):
                yield {target: ConstexprValue(value)}
        elif isinstance(type_, (PointerType, DescriptorType)) and target.element:
            for dtype in ("i32", "fp16", "i8") if _floats(type_.element) else ("fp32",):
                new = _as_dtype(type_, dtype)
                if new is not None:
                    yield {target: new}
        elif isinstance(type_, ScalarType) and not target.element:
            yield {target: ScalarType("i32" if _floats(type_.name) else "fp32")}


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return tuple(s for s in (16, 32, 128, 1, 2, 4, 256) if s != value)
    return ()


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(pattern, re.DOTALL), rule


RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    _rule(r"(Loop-carried variable|Mismatched type for|initial value for) `?(?P<name>\w+)`?.*?"
          r"(?P<a>tensordesc\S+|pointer<\w+>|<\[.*?\], \w+>|\b(?:u?int\d+|fp\d\w*|bf16)\b).*?"
          r"(?P<b>tensordesc\S+|pointer<\w+>|<\[.*?\], \w+>|\b(?:u?int\d+|fp\d\w*|bf16)\b)", _variable),
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
    _rule(r"Unsupported (lhs|rhs) dtype", _to_float),
    _rule(r"bitcast data-type of size (?P<a>\d+) to data-type of size (?P<b>\d+)", _width),
    _rule(r"[Mm]ask", _masked),
    _rule(r"should have M >=|K >= \d+|N >= \d+", _larger),
    _rule(r"power of (2|two)", _power_of_2),
    _rule(r"(incompatible dimensions|must be equal but|[Cc]annot broadcast|should be equal|expected value shape).*",
          _shapes),
    _rule(r"cannot change total number of elements|reshape", _reshaped),
    _rule(r"must not exceed the size", _smaller),
    _rule(r"numel .*exceeds|exceeds triton maximum", _smaller),
    _rule(r"Nonrepresentable integer|negative shift|out of range for type", _smaller),
    _rule(r"NoneType", _present),
    _rule(r"list index out of range|tuple index out of range|IndexError|unpack", _longer),
)  # fmt: skip
