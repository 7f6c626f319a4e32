"""A file or function body cut into units: the smallest statements that are run by themselves.

`if`, `try` and `with` are flattened; what stood above a unit is kept as guards. A unit is run when a name that it
binds is asked for, or one whose value it may change (`scopes.py`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from triton_mutlint.source.walking import bound_in


@dataclass(frozen=True, eq=False)
class Guard:
    """One branch of an `if` (`body`, `orelse`) or `try` (`body`, `handler`)."""

    node: ast.If | ast.Try
    branch: str


@dataclass(frozen=True, eq=False)
class Unit:
    """A statement and the names it binds; `alias` is set for one name of an import."""

    node: ast.stmt
    binds: tuple[str, ...]
    order: int
    guards: tuple[Guard, ...] = ()
    alias: ast.alias | None = None


def cut(body: list[ast.stmt]) -> tuple[list[Unit], list[tuple[int, ast.ImportFrom]]]:
    """The units of a module, function or class body; and its star imports, each with the number of units before it."""
    cutter = _Cutter()
    cutter.flatten(body, ())
    return cutter.units, cutter.stars


class _Cutter:
    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.stars: list[tuple[int, ast.ImportFrom]] = []

    def flatten(self, body: list[ast.stmt], guards: tuple[Guard, ...]) -> None:
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._imports(node, guards)
            elif isinstance(node, ast.If):
                if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
                    self._add(ast.copy_location(ast.Expr(node.test), node.test), guards)
                self.flatten(node.body, (*guards, Guard(node, "body")))
                self.flatten(node.orelse, (*guards, Guard(node, "orelse")))
            elif isinstance(node, ast.Try):
                self.flatten([*node.body, *node.orelse], (*guards, Guard(node, "body")))
                for handler in node.handlers:
                    self.flatten(handler.body, (*guards, Guard(node, "handler")))
                self.flatten(node.finalbody, guards)
            elif isinstance(node, ast.With) and not any(item.optional_vars for item in node.items):
                self.flatten(node.body, guards)
            elif not isinstance(node, (ast.Pass, ast.Assert, ast.Raise, ast.Global, ast.Nonlocal, ast.Return)):
                self._add(node, guards)

    def _add(self, node: ast.stmt, guards: tuple[Guard, ...]) -> None:
        binds = tuple(bound_in(node))
        if binds or not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            self.units.append(Unit(node, binds, len(self.units), guards))

    def _imports(self, node: ast.Import | ast.ImportFrom, guards: tuple[Guard, ...]) -> None:
        for alias in node.names:
            if alias.name == "*":
                assert isinstance(node, ast.ImportFrom)
                self.stars.append((len(self.units), node))
                continue
            name = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
            self.units.append(Unit(node, (name,), len(self.units), guards, alias))
