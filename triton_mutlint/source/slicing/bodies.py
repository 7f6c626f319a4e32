"""What the body of a jit function reads from outside itself, found in one walk."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from triton_mutlint.source.function_text import TRITON
from triton_mutlint.source.walking import FIELDS, children, dotted, walk

Found = dict[tuple[str, ...], tuple[int, int]]  # dotted name → its first line and column
_SPECIAL = frozenset({
    ast.If, ast.IfExp, ast.BoolOp, ast.AnnAssign, ast.comprehension, ast.FunctionDef, ast.Lambda,
})  # fmt: skip


@dataclass(frozen=True)
class Use:
    """A dotted name read by a body; `guarded` when a branch decides whether it is evaluated."""

    chain: tuple[str, ...]
    guarded: bool
    line: int
    column: int  # from 1


@dataclass(frozen=True)
class Body:
    """`uses` holds each outside name once per guardedness, in order, at its first line.

    `called` are the last parts of names that may be jit functions. `lenient` are names that Triton may
    look up all the same (annotations, also where Python keeps them as text; names that only a comprehension binds).
    """

    uses: tuple[Use, ...]
    called: frozenset[str]
    lenient: frozenset[str]


def read_body(node: ast.FunctionDef) -> Body:
    """What the body of a function reads from outside."""
    reader = _Reader()
    reader.arguments(node.args)
    reader.statements(node.body)
    return reader.body()


class _Reader:
    """A walk in no order: the places where names stand restore it."""

    def __init__(self) -> None:
        self.local: set[str] = set()
        self.comprehended: set[str] = set()
        self.lenient: set[str] = set()
        self.sure: Found = {}
        self.guarded: Found = {}

    def body(self) -> Body:
        local = self.local | self.comprehended
        uses, called = [], set()
        for found, guarded in ((self.sure, False), (self.guarded, True)):
            for chain, place in found.items():
                if chain[0] not in local:
                    uses.append((place, Use(chain, guarded, place[0], place[1] + 1)))
                    called.add(chain[0])
                if chain[0] not in TRITON:
                    called.update(chain[1:])
        uses.sort(key=lambda item: item[0])
        lenient = self.lenient | (self.comprehended - self.local)
        return Body(tuple(use for _, use in uses), frozenset(called), frozenset(lenient))

    def arguments(self, args: ast.arguments) -> None:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a)]
        self.local.update([a.arg for a in every])
        for argument in every:
            if argument.annotation is not None:
                self.lenient.update(n.id for n in walk(argument.annotation) if isinstance(n, ast.Name))

    def statements(self, body: list[ast.stmt]) -> None:
        branches: list[ast.AST] = []
        self._walk(list(body), branches, self.sure)
        self._walk(branches, branches, self.guarded)

    def _walk(self, stack: list[Any], branches: list[Any], found: Found) -> None:
        """Read the nodes in `stack`; what a branch may leave out goes to `branches`."""
        local = self.local
        while stack:
            node = stack.pop()
            cls = node.__class__
            if cls is ast.Name:
                if node.ctx.__class__ is ast.Load:
                    _note(found, (node.id,), node)
                else:
                    local.add(node.id)
            elif cls is ast.Attribute:
                chain = dotted(node)
                if not chain:
                    stack.append(node.value)
                elif node.ctx.__class__ is ast.Load:
                    _note(found, chain, node)
            elif cls in _SPECIAL:
                self._special(node, stack, branches)
            else:
                for field in FIELDS.get(cls, ()):
                    value = getattr(node, field)
                    if value.__class__ is list:
                        stack.extend(value)
                    elif value is not None:
                        stack.append(value)

    def _special(self, node: ast.AST, stack: list[ast.AST], branches: list[ast.AST]) -> None:
        """Nodes with parts that may not be evaluated, and nodes that bind names."""
        if isinstance(node, (ast.If, ast.IfExp)):
            stack.append(node.test)
            for block in (node.body, node.orelse):
                branches.extend(block if isinstance(block, list) else (block,))
        elif isinstance(node, ast.BoolOp):
            stack.append(node.values[0])
            branches.extend(node.values[1:])
        elif isinstance(node, ast.AnnAssign):
            self.lenient.update(dotted(node.annotation)[:1])
            stack.extend(part for part in (node.target, node.value) if part is not None)
        elif isinstance(node, ast.comprehension):
            self.comprehended.update(n.id for n in walk(node.target) if isinstance(n, ast.Name))
            stack.extend((node.iter, *node.ifs))
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            self.arguments(node.args)
            if isinstance(node, ast.FunctionDef):
                self.local.add(node.name)
            stack.extend(child for child in children(node) if not isinstance(child, ast.arguments))


def _note(found: Found, chain: tuple[str, ...], node: ast.expr) -> None:
    place = (node.lineno, node.col_offset)
    known = found.get(chain)
    if known is None or place < known:
        found[chain] = place
