"""The line at which lowering failed, and the changes that can be made to the guesses behind it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath

from triton_mutlint.kernel_source.dtypes import FLOATING
from triton_mutlint.kernel_source.learned.facts import facts
from triton_mutlint.kernel_source.learned.learned_walk import LearningBody
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.kernel_source.values import MayBe, made
from triton_mutlint.signature.evidence import program_of
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, Kernel, PointerType, ScalarType

_MOST_TARGETS = 16
_MOST_PARTS = 200


@dataclass(frozen=True)
class Probed:
    """A parameter behind an expression: itself, or the elements of its memory; of a tuple, the whole."""

    name: str
    element: bool = False


Change = Mapping[Probed, ArgType]


@dataclass(frozen=True)
class Line:
    """What a source line is made of: its subexpressions, outermost first, and the names in reach of it."""

    parts: list[tuple[ast.expr, tuple[Probed, ...]]]
    names: Mapping[str, list[Probed]]
    integral: frozenset[str]  # parameters that are integers, by what is done with them


@dataclass(frozen=True)
class Scene:
    """The failing line and the arguments as they are, of which those that are inferred may change."""

    args: Mapping[str, ArgType]
    inferred: frozenset[str]
    line: Line

    def targets(self, *, element: bool | None = None) -> list[Probed]:
        """The inferred parameters behind the line, outermost first."""
        return self.open((t for _, targets in self.line.parts for t in targets), element)

    def behind(self, nodes: Iterable[ast.expr], element: bool | None = None) -> list[Probed]:
        """Those behind some of its subexpressions."""
        wanted = {id(node) for node in nodes}
        return self.open((t for node, targets in self.line.parts if id(node) in wanted for t in targets), element)

    def around(self) -> list[Probed]:
        """Those behind any name that the line could use."""
        return self.open(t for targets in self.line.names.values() for t in targets)

    def named(self, name: str) -> list[Probed]:
        return self.open(self.line.names.get(name, ()))

    def open(self, targets: Iterable[Probed], element: bool | None = None) -> list[Probed]:
        return [t for t in dict.fromkeys(targets)
                if t.name in self.inferred and (element is None or t.element is element)]

    def type(self, target: Probed) -> ArgType | None:
        return self.args.get(target.name)

    def sizes(self) -> dict[Probed, int]:
        """The guessed sizes of the kernel."""
        return {Probed(n): t.value for n, t in self.args.items()
                if n in self.inferred and isinstance(t, ConstexprValue) and type(t.value) is int and t.value > 0}


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
    """Change every target whose dtype is `when` to `dtype`: each alone, then all together."""
    changes: dict[Probed, ArgType] = {}
    for target in targets:
        type_ = scene.type(target)
        new = as_dtype(type_, dtype) if when(dtype_of(type_)) else None
        if new is not None and new != type_ and (target.element or not isinstance(type_, PointerType)):
            changes[target] = new
    for target, type_ in changes.items():
        yield {target: type_}
    if len(changes) > 1:
        yield changes


def floats(dtype: str) -> bool:
    return dtype in FLOATING


def integers(dtype: str) -> bool:
    return bool(dtype) and dtype not in FLOATING


# --------------------------------------------------------------------------- reading the line


@dataclass
class _Watch:
    """Watches the walk over a kernel and keeps what the wanted line is made of."""

    file: str
    line: int
    parts: list[tuple[ast.expr, tuple[Probed, ...]]] = field(default_factory=list)
    names: dict[str, list[Probed]] = field(default_factory=dict)

    def statement(self, body: LearningBody, node: ast.stmt) -> None:
        if body.here.is_repeated or PurePath(body.file).name != PurePath(self.file).name:
            return
        if not node.lineno <= self.line <= (node.end_lineno or node.lineno):
            return
        for name, value in body.env.items():
            self.names.setdefault(name, []).extend(_targets(value))
        inside = getattr(node, "body", None)
        if inside and self.line >= inside[0].lineno:
            return  # a statement inside it is meant
        for child in ast.iter_child_nodes(node):
            for part in ast.walk(child) if isinstance(child, ast.expr) else ():
                if isinstance(part, ast.expr) and len(self.parts) < _MOST_PARTS:
                    self.parts.append((part, _targets(body.eval(part))))


def _targets(value: MayBe) -> tuple[Probed, ...]:
    found: dict[Probed, None] = {}
    for part in made((value,)):
        if part.is_dtype and isinstance(part.dtype, Slot):
            found[Probed(part.dtype.name, True)] = None
        for slots, element in ((part.takes_part, False), (part.memory, True)):
            found.update({Probed(name, element): None for name in sorted(s.name for s in slots)})
    return tuple(found)[:_MOST_TARGETS]


@lru_cache(maxsize=8)  # the variants of one kernel fail at few places
def read_line(kernel: Kernel, file: str, line: int) -> Line:
    """The statement at `file`:`line`."""
    watch = _Watch(file, line)
    slots = facts(kernel, program_of(kernel, {}), watch).slots
    return Line(watch.parts, watch.names, frozenset(name for name, slot in slots.items() if slot.integer))


Rule = Callable[[Scene, "re.Match[str]"], Iterator[Change]]
