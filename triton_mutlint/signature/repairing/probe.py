"""Which parameters the expressions of one source line are made of."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath

from triton_mutlint.kernel_source.learned.facts import facts
from triton_mutlint.kernel_source.learned.learned_walk import LearningBody
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.kernel_source.values import MayBe, made
from triton_mutlint.signature.evidence import program_of
from triton_mutlint.types import Kernel

MAX_TARGETS = 16


@dataclass(frozen=True)
class Probed:
    """A parameter (or element of one) behind an expression: itself, or the elements of its memory."""

    name: str
    path: tuple[int | str, ...]
    element: bool


@dataclass(frozen=True)
class ProbePart:
    """One subexpression of the line and what it is made of, outermost first."""

    node: ast.expr
    targets: tuple[Probed, ...]
    dtype: str = ""


@dataclass
class Probe:
    """Watches the walk over a kernel and keeps what the wanted line is made of."""

    file: str
    line: int
    parts: list[tuple[ast.expr, MayBe]] = field(default_factory=list)
    names: dict[str, list[MayBe]] = field(default_factory=dict)  # values of every name, at every hit

    def statement(self, body: LearningBody, node: ast.stmt) -> None:
        if body.here.is_repeated or PurePath(body.file).name != PurePath(self.file).name:
            return
        if not node.lineno <= self.line <= (node.end_lineno or node.lineno):
            return
        for name, value in body.env.items():
            self.names.setdefault(name, []).append(value)
        inside = getattr(node, "body", None)
        if inside and self.line >= inside[0].lineno:
            return  # a statement inside it is meant
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                for part in ast.walk(child):
                    if isinstance(part, ast.expr) and len(self.parts) < 200:
                        self.parts.append((part, body.eval(part)))


def _targets(value: MayBe) -> tuple[Probed, ...]:
    found: dict[Probed, None] = {}
    for part in made((value,)):
        if part.is_dtype and isinstance(part.dtype, Slot):
            found[Probed(part.dtype.name, part.dtype.path, True)] = None
        for slots, element in ((part.base, False), (part.mixed, False), (part.memory, True)):
            for slot in sorted(slots, key=lambda s: (s.name, str(s.path))):
                found[Probed(slot.name, slot.path, element)] = None
    return tuple(found)[:MAX_TARGETS]


@lru_cache(maxsize=8)  # the variants of one kernel fail at few places
def probe(
    kernel: Kernel, file: str, line: int
) -> tuple[list[ProbePart], Mapping[str, list[Probed]], frozenset[str]]:
    """The parts of the statement at `file`:`line`, what each name there may be made of, and which are integers."""
    watch = Probe(file, line)
    slots = facts(kernel, program_of(kernel, {}), watch).slots
    parts = [ProbePart(node, _targets(value), value.made.dtype if isinstance(value.made.dtype, str) else "")
             for node, value in watch.parts]  # fmt: skip
    names = {
        name: list(dict.fromkeys(t for value in values for t in _targets(value)))
        for name, values in watch.names.items()
    }
    return parts, names, frozenset(name for name, slot in slots.items() if slot.integer)
