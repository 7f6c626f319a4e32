"""Which parameters the expressions of one source line are made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath

from triton_mutlint.signature.expressions import Evaluator
from triton_mutlint.signature.facts import Slot, Value, every
from triton_mutlint.signature.usage import usage
from triton_mutlint.types import Kernel

MAX_TARGETS = 16


@dataclass(frozen=True)
class Target:
    """A parameter (or element of one) behind an expression: itself, or the elements of its memory."""

    name: str
    path: tuple[int | str, ...]
    element: bool


@dataclass(frozen=True)
class Part:
    """One subexpression of the line and what it is made of, outermost first."""

    node: ast.expr
    targets: tuple[Target, ...]
    dtype: str = ""


@dataclass
class Probe:
    """Watches the walk over a kernel and keeps what the wanted line is made of."""

    file: str
    line: int
    parts: list[tuple[ast.expr, Value]] = field(default_factory=list)
    names: dict[str, list[Value]] = field(default_factory=dict)  # values of every name, at every hit
    _origins: dict[int, list[Value]] = field(default_factory=dict)

    def passed(self, slots: Mapping[str, Slot], bound: Mapping[str, Value]) -> None:
        for name, value in bound.items():
            seen = self._origins.setdefault(id(slots[name]), [])
            if len(seen) < 8:
                seen.append(value)

    def statement(self, walk: Evaluator, node: ast.stmt) -> None:
        if walk.repeated or PurePath(walk.file).name != PurePath(self.file).name:
            return
        last = node.end_lineno or node.lineno
        if not node.lineno <= self.line <= last:
            return
        for name, value in walk.env.items():
            self.names.setdefault(name, []).append(value)
        body = getattr(node, "body", None)
        if body and self.line >= body[0].lineno:
            return  # a statement inside it is meant
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                for part in ast.walk(child):
                    if isinstance(part, ast.expr) and len(self.parts) < 200:
                        self.parts.append((part, walk.eval(part)))

    def targets(self, value: Value) -> tuple[Target, ...]:
        found: dict[Target, None] = {}
        for part in every((value,)):
            if part.is_dtype and isinstance(part.dtype, Slot):
                found.update(dict.fromkeys(self._lift(part.dtype, True, 0)))
            for slots, element in ((part.base, False), (part.mixed, False), (part.memory, True)):
                for slot in sorted(slots, key=lambda s: (s.name, str(s.path))):
                    found.update(dict.fromkeys(self._lift(slot, element, 0)))
        return tuple(found)[:MAX_TARGETS]

    def _lift(self, slot: Slot, element: bool, depth: int) -> Iterator[Target]:
        top = slot
        while top.parent is not None:
            top = top.parent
        values = self._origins.get(id(top))
        if values is None or depth > 6:
            yield Target(slot.name, slot.path, element)
            return
        for value in values:
            for key in slot.path:
                value = (value.items or {}).get(key, value)
            for base in value.base:
                yield from self._lift(base, element, depth + 1)
            if not element:
                for mixed in value.mixed:
                    yield from self._lift(mixed, False, depth + 1)
                for loaded in value.memory:
                    yield from self._lift(loaded, True, depth + 1)


@lru_cache(maxsize=8)  # the variants of one kernel fail at few places
def probe(
    kernel: Kernel, file: str, line: int
) -> tuple[list[Part], Mapping[str, list[Target]], frozenset[str]]:
    """The parts of the statement at `file`:`line`, what each name there may be made of, and which are integers."""
    watch = Probe(file, line)
    slots = usage(kernel, watch=watch).slots
    parts = [Part(node, watch.targets(value), value.dtype if isinstance(value.dtype, str) else "")
             for node, value in watch.parts]  # fmt: skip
    names = {
        name: list(dict.fromkeys(t for value in values for t in watch.targets(value)))
        for name, values in watch.names.items()
    }
    return parts, names, frozenset(name for name, slot in slots.items() if slot.integer)
