"""A module as it is written: its text, its tree, and what can be told of it and its functions without running it."""

from __future__ import annotations
import __future__

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.function_text import TRITON, parameters
from triton_mutlint.source.outline import outline
from triton_mutlint.source.slicing.scopes import OPEN
from triton_mutlint.source.slicing.statement_text import mentioned
from triton_mutlint.source.walking import children, dotted, walk
from triton_mutlint.types import split_lines

_LISTING = re.compile(r"\b(?:globals|vars|locals|exec|eval)\b|sys\.modules")


class ModuleText:
    """One file. `linted` is true for one that was asked for, rather than imported by another."""

    def __init__(self, place: ModulePlace, text: str, tree: ast.Module) -> None:
        self.linted = False
        self.outline = outline(tree)
        self.place, self.path, self.text, self.tree = place, place.path, text, tree
        self.dotted, self.is_package = place.dotted, place.is_package
        self.flags = _future_flags(tree)
        self._bodies: dict[ast.AST, Body] = {}

    @cached_property
    def jits(self) -> frozenset[ast.AST]:
        """The functions that a decorator may make jit functions."""
        return frozenset(found.node for found in self.outline.jits)

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(self.text)

    @cached_property
    def is_listed(self) -> bool:
        """Whether a function may look at all names of the module at once."""
        return _LISTING.search(self.text) is not None and any(
            not OPEN.isdisjoint(mentioned(found.node)) for found in self.outline.functions)

    def body(self, node: ast.FunctionDef) -> Body:
        """What the body of one of its functions reads from outside."""
        if node not in self._bodies:
            self._bodies[node] = _Reader().body(node)
        return self._bodies[node]


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature = getattr(__future__, alias.name, None)
                flags |= feature.compiler_flag if feature else 0
    return flags


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

    `lenient` are names that Triton may look up all the same (annotations, also where Python keeps them as text; names
    that only a comprehension binds).
    """

    uses: tuple[Use, ...]
    lenient: frozenset[str]

    @property
    def called(self) -> frozenset[str]:
        """The last parts of names that may be jit functions."""
        chains = [use.chain for use in self.uses]
        return frozenset(name for chain in chains for name in (chain[:1] if chain[0] in TRITON else chain))


class _Reader:
    """A walk in no order: the places where names stand restore it."""

    def __init__(self) -> None:
        self.local: set[str] = set()
        self.comprehended: set[str] = set()
        self.lenient: set[str] = set()
        self.found: dict[tuple[tuple[str, ...], bool], tuple[int, int]] = {}  # where each name is read first

    def body(self, node: ast.FunctionDef) -> Body:
        self._arguments(node.args)
        stack: list[tuple[ast.AST, bool]] = [(statement, False) for statement in node.body]
        while stack:
            child, guarded = stack.pop()
            branches = self._read(child, guarded)
            stack.extend((part, guarded or part in branches) for part in self._parts(child))
        local = self.local | self.comprehended
        uses = (Use(chain, guarded, line, column + 1) for (chain, guarded), (line, column) in self.found.items()
                if chain[0] not in local)
        lenient = self.lenient | (self.comprehended - self.local)
        return Body(tuple(sorted(uses, key=lambda use: (use.line, use.column))), frozenset(lenient))

    def _arguments(self, args: ast.arguments) -> None:
        self.local.update(name for name, _ in parameters(args))
        for argument in walk(args):
            if isinstance(argument, ast.arg) and argument.annotation is not None:
                self.lenient.update(n.id for n in walk(argument.annotation) if isinstance(n, ast.Name))

    def _read(self, node: ast.AST, guarded: bool) -> tuple[ast.AST, ...]:
        """Take in the names that a node reads or binds by itself; the parts of it that may not be evaluated."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.local.add(node.id)
            elif (chain := dotted(node)) and isinstance(node.ctx, ast.Load):
                place = (node.lineno, node.col_offset)
                self.found[chain, guarded] = min(place, self.found.get((chain, guarded), place))
        elif isinstance(node, ast.If):
            return (*node.body, *node.orelse)
        elif isinstance(node, ast.IfExp):
            return (node.body, node.orelse)
        elif isinstance(node, ast.BoolOp):
            return tuple(node.values[1:])
        elif isinstance(node, ast.AnnAssign):
            self.lenient.update(dotted(node.annotation)[:1])
        elif isinstance(node, ast.comprehension):
            self.comprehended.update(n.id for n in walk(node.target) if isinstance(n, ast.Name))
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            self._arguments(node.args)
            self.local.update([node.name] if isinstance(node, ast.FunctionDef) else [])
        return ()

    @staticmethod
    def _parts(node: ast.AST) -> list[ast.AST]:
        """The parts of a node that hold more names."""
        if isinstance(node, ast.Attribute) and dotted(node):
            return []
        left_out = [getattr(node, "annotation", None)]
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            left_out.append(node.args)  # its defaults are evaluated by Python
        elif isinstance(node, ast.comprehension):
            left_out.append(node.target)
        return [part for part in children(node) if part not in left_out]
