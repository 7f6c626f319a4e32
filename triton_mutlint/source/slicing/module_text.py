"""A module as it is written: its text, its tree, and what can be told of it without running it."""

from __future__ import annotations
import __future__

import ast
import re
from functools import cached_property

from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.outline import Function, Outline, outline
from triton_mutlint.source.slicing.bodies import Body, read_body
from triton_mutlint.source.slicing.scopes import OPEN, mentioned

_LISTING = re.compile(r"\b(?:globals|vars|locals|exec|eval)\b|sys\.modules")


class ModuleText:
    """One file. `linted` is true for one that was asked for, rather than imported by another."""

    def __init__(self, place: ModulePlace, text: str, tree: ast.Module, known: Outline | None = None) -> None:
        self.linted = False
        self.kernels: frozenset[str] = frozenset()  # that were asked for by name
        self.outline = known or outline(tree)
        self.place, self.path, self.text, self.tree = place, place.path, text, tree
        self.dotted, self.is_package = place.dotted, place.is_package
        self.flags = _future_flags(tree)
        self._bodies: dict[ast.AST, Body] = {}

    @cached_property
    def jits(self) -> frozenset[ast.AST]:
        """The functions that a decorator may make jit functions."""
        return frozenset(found.node for found in self.outline.jits)

    @cached_property
    def concerns(self) -> tuple[str, ...]:
        """The names in its jit functions and launches; those in some jit functions, where these were asked for."""
        wanted = [found for found in self.outline.jits if found.node.name in self.kernels] or self.outline.jits
        jits = (name for found in wanted for name in (found.node.name, *mentioned(found.node)))
        launched = (call for call in self.outline.calls if isinstance(call.func, ast.Subscript))
        makers = (found.parents[0].name for found in wanted if found.parents)
        return (*jits, *(name for call in launched for name in mentioned(call)), *makers)

    @cached_property
    def is_listed(self) -> bool:
        """Whether a function may look at all names of the module at once."""
        return _LISTING.search(self.text) is not None and any(
            not OPEN.isdisjoint(mentioned(found.node)) for found in self.outline.functions)

    @cached_property
    def _by_line(self) -> dict[int, Function]:
        lines = {found.first_line: found.node for found in self.outline.functions}
        return lines | {found.node.lineno: found.node for found in self.outline.functions}

    def function_at(self, line: int) -> ast.FunctionDef | None:
        """The function that starts on a line, at its `def` or first decorator."""
        node = self._by_line.get(line)
        return node if isinstance(node, ast.FunctionDef) else None

    def body(self, node: ast.FunctionDef) -> Body:
        """What the body of one of its functions reads from outside."""
        if node not in self._bodies:
            self._bodies[node] = read_body(node)
        return self._bodies[node]

    @cached_property
    def _tries(self) -> list[tuple[int, int]]:
        bodies = (node.body for node in self.outline.tries if node.handlers)
        return [(body[0].lineno, body[-1].end_lineno or body[-1].lineno) for body in bodies]

    def in_try(self, line: int) -> bool:
        """Whether a line stands in the body of a `try` that has handlers."""
        return any(first <= line <= last for first, last in self._tries)


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature = getattr(__future__, alias.name, None)
                flags |= feature.compiler_flag if feature else 0
    return flags
