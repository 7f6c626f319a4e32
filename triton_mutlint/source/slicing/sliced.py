"""One module of a slice: its text, tree and lazily evaluated namespace."""

from __future__ import annotations
import __future__

import ast
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.outline import Function, Outline, outline
from triton_mutlint.source.slicing.bodies import Body, read_body
from triton_mutlint.source.slicing.namespace import Namespace
from triton_mutlint.source.slicing.scopes import Scope
from triton_mutlint.source.slicing.tracing import PRIVATE

if TYPE_CHECKING:
    from triton_mutlint.source.slicing.modules import Modules


class SlicedModule:
    """A module whose names are evaluated when asked for; `proxy` is what importers get."""

    def __init__(self, modules: Modules, path: Path, text: str, tree: ast.Module, known: Outline | None = None) -> None:
        self.linted = False
        self.outline = known or outline(tree)
        self.modules, self.path, self.text, self.tree = modules, path, text, tree
        self.place = ModulePlace(path, modules.finder.folders)
        self.dotted = self.place.dotted
        self.scope: Scope = Scope(tree.body)
        self.flags = _future_flags(tree)
        self.is_package = self.place.is_package
        self.namespace = Namespace(self, self.scope, None)
        self.namespace.update(self._dunders())
        self.proxy = ModuleType(self.dotted)
        self.proxy.__dict__.update(self._dunders(), __name__=self.dotted, __getattr__=self.attribute)
        self._own = len(vars(self.proxy))
        self._scopes: dict[ast.AST, Namespace] = {}
        self._bodies: dict[ast.AST, Body] = {}
        if tree.body:
            modules.session.sources.add(str(path), text, self.outline.functions)

    def _dunders(self) -> dict[str, Any]:
        package = self.dotted if self.is_package else self.dotted.rpartition(".")[0]
        names: dict[str, Any] = {
            "__name__": f"{PRIVATE}.{self.dotted}",
            "__file__": str(self.path),
            "__package__": package,
            "__builtins__": self.modules.builtins,
            "__doc__": None,
            "__spec__": None,
        }
        return names | ({"__path__": [str(self.place.folder)]} if self.is_package else {})

    def adopt(self) -> None:
        """Take in what others have bound to attributes of the module."""
        given = vars(self.proxy)
        if len(given) != self._own:
            for name in list(given)[self._own:]:
                self.namespace[name] = given.pop(name)

    def attribute(self, name: str) -> Any:
        """A name of the module, or a submodule. Raises `AttributeError` if there is neither."""
        try:
            return self.namespace[name]
        except KeyError:
            pass
        if self.is_package:
            path = self.modules.finder.below(self.place.folder, name, self.place)
            if path is not None:
                self.place.asked.add(str(path))
                return self.modules.at(path)
        if "__getattr__" in self.scope.by_name and not name.startswith("__"):
            # made on demand, from what is there at run time: not known, but it exists
            return self.modules.stand_ins.missing(f"{self.dotted}.{name}", "is only made at run time")
        raise AttributeError(f"module `{self.dotted}` defines no `{name}`")

    @cached_property
    def jits(self) -> frozenset[ast.AST]:
        """The functions that a decorator may make jit functions."""
        return frozenset(found.node for found in self.outline.jits)

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

    def inner(self, parents: tuple[Function | ast.ClassDef, ...]) -> Namespace:
        """The namespace of code nested in `parents` (functions and classes, outermost first)."""
        if not parents:
            return self.namespace
        node = parents[-1]
        if node not in self._scopes:
            outer = self.inner(parents[:-1])
            self._scopes[node] = Namespace(self, Scope(node.body, outer.scope), outer, node)
        return self._scopes[node]


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature = getattr(__future__, alias.name, None)
                flags |= feature.compiler_flag if feature else 0
    return flags
