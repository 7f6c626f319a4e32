"""The line at which lowering failed, and the changes that can be made to the guesses behind it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from triton_mutlint.kernel_source.dtype_names import FLOATING
from triton_mutlint.signature.repairing.probe import Probed, ProbePart
from triton_mutlint.types import ArgType, DescriptorType, PointerType, ScalarType, TupleType

Change = Mapping[Probed, ArgType]


Rule = Callable[["Scene", "re.Match[str]"], Iterator[Change]]


@dataclass(frozen=True)
class Scene:
    """The failing line: its parts, the names in reach, and the arguments as they are."""

    args: Mapping[str, ArgType]
    inferred: frozenset[str]
    parts: list[ProbePart]
    names: Mapping[str, list[Probed]]
    integral: frozenset[str] = frozenset()  # parameters that are integers, by what is done with them

    def targets(self, *kinds: type[ast.expr], element: bool | None = None) -> list[Probed]:
        """The inferred parameters behind the line (behind its parts of `kinds`), outermost first."""
        found: dict[Probed, None] = {}
        for part in self.parts:
            if not kinds or isinstance(part.node, kinds):
                found.update(dict.fromkeys(part.targets))
        return self.open(found, element)

    def operands(self, function: str) -> list[Probed]:
        """The parameters whose elements are operands of `function`, in argument order."""
        calls = [p.node for p in self.parts if isinstance(p.node, ast.Call)]
        named = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == function]
        operands = [a for c in named for a in c.args[:2]]
        return self.open(dict.fromkeys(t for p in self.parts if p.node in operands for t in p.targets), True)

    def open(self, targets: Iterable[Probed], element: bool | None = None) -> list[Probed]:
        return [t for t in targets if t.name in self.inferred and (element is None or t.element is element)]

    def type(self, target: Probed) -> ArgType | None:
        type_ = self.args.get(target.name)
        for key in target.path:
            if not isinstance(type_, TupleType):
                return None
            index = 0 if key == "*" else type_.fields.index(key) if key in type_.fields else key
            if not isinstance(index, int) or not -len(type_.elements) <= index < len(type_.elements):
                return None
            type_ = type_.elements[index]
        return type_


def dtype_of(type_: ArgType | None) -> str:
    if isinstance(type_, (PointerType, DescriptorType)):
        return type_.element
    return type_.name if isinstance(type_, ScalarType) else ""


def as_dtype(type_: ArgType | None, dtype: str) -> ArgType | None:
    """The same kind of argument with elements (or a scalar) of `dtype`."""
    if isinstance(type_, PointerType):
        return PointerType(dtype, type_.const)
    if isinstance(type_, DescriptorType):
        return DescriptorType(dtype, type_.block_shape)
    return ScalarType(dtype) if isinstance(type_, ScalarType) else None


def retyped(scene: Scene, targets: Iterable[Probed], dtype: str, when: Callable[[str], bool]) -> Iterator[Change]:
    """Change every target whose dtype is `when` to `dtype`: each alone, after all together."""
    changes: dict[Probed, ArgType] = {}
    for target in targets:
        type_ = scene.type(target)
        if isinstance(type_, PointerType) and not target.element:
            continue
        new = as_dtype(type_, dtype) if when(dtype_of(type_)) else None
        if new is not None and new != type_:
            changes[target] = new
    for target, type_ in changes.items():
        yield {target: type_}
    if len(changes) > 1:
        yield changes


def floats(dtype: str) -> bool:
    return dtype in FLOATING


def integers(dtype: str) -> bool:
    return bool(dtype) and dtype not in FLOATING
