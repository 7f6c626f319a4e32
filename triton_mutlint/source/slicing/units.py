"""A file or function body cut into units: the smallest statements that bind names.

A unit is run only when a name it binds is asked for, so a slice is simply the set of units that a
kernel's names reach. `if`, `try` and `with` are flattened; what stood above a unit is kept as guards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from triton_mutlint.source.walking import BLOCKS

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MUTATORS = ("add", "append", "extend", "insert", "register", "set", "update")  # how such methods begin


@dataclass(frozen=True, eq=False)
class Guard:
    """One branch of an `if` (`body`, `orelse`) or `try` (`body`, `handler`)."""

    node: ast.If | ast.Try
    branch: str


@dataclass(frozen=True, eq=False)
class Unit:
    """A statement and the names it binds or changes; `alias` is set for one name of an import."""

    node: ast.stmt
    binds: tuple[str, ...]
    order: int
    guards: tuple[Guard, ...] = ()
    alias: ast.alias | None = None
    mutates: tuple[str, ...] = ()


@dataclass(eq=False)
class Scope:
    """The units of one body, by the names they bind or change, and its star imports."""

    units: list[Unit] = field(default_factory=list)
    stars: list[ast.ImportFrom] = field(default_factory=list)

    @cached_property
    def by_name(self) -> dict[str, list[Unit]]:
        index: dict[str, list[Unit]] = {}
        for unit in self.units:
            for name in (*unit.binds, *unit.mutates):
                index.setdefault(name, []).append(unit)
        return index

    def binds(self, name: str) -> bool:
        return any(name in unit.binds for unit in self.by_name.get(name, ()))


def cut(body: list[ast.stmt]) -> Scope:
    """The scope of a module, function or class body."""
    scope = Scope()
    _flatten(body, (), scope)
    return scope


def _flatten(body: list[ast.stmt], guards: tuple[Guard, ...], scope: Scope) -> None:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _imports(node, guards, scope)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope.units.append(Unit(node, (node.name,), len(scope.units), guards))
        elif isinstance(node, ast.If):
            _conditions(node, guards, scope)
            _flatten(node.body, (*guards, Guard(node, "body")), scope)
            _flatten(node.orelse, (*guards, Guard(node, "orelse")), scope)
        elif isinstance(node, ast.Try):
            _flatten([*node.body, *node.orelse], (*guards, Guard(node, "body")), scope)
            for handler in node.handlers:
                _flatten(handler.body, (*guards, Guard(node, "handler")), scope)
            _flatten(node.finalbody, guards, scope)
        elif isinstance(node, (ast.With, ast.AsyncWith)) and not _binds_entered(node):
            _flatten(node.body, guards, scope)
        else:
            _simple(node, guards, scope)


def _imports(node: ast.Import | ast.ImportFrom, guards: tuple[Guard, ...], scope: Scope) -> None:
    for alias in node.names:
        if alias.name == "*":
            assert isinstance(node, ast.ImportFrom)
            scope.stars.append(node)
            continue
        name = alias.asname or (alias.name.split(".")[0] if isinstance(node, ast.Import) else alias.name)
        scope.units.append(Unit(node, (name,), len(scope.units), guards, alias))


def _conditions(node: ast.If, guards: tuple[Guard, ...], scope: Scope) -> None:
    """What `if (name := …):` binds."""
    if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
        _simple(ast.copy_location(ast.Expr(node.test), node.test), guards, scope)


def _binds_entered(node: ast.With | ast.AsyncWith) -> bool:
    """Whether it is a plain `with … as name:`: run whole, so that what was entered is left again."""
    plain = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Pass)
    return any(item.optional_vars for item in node.items) and all(isinstance(child, plain) for child in node.body)


def _simple(node: ast.stmt, guards: tuple[Guard, ...], scope: Scope) -> None:
    """Assignments, loops, and calls such as `CONFIGS.append(…)`; any other statement is left out."""
    binds: dict[str, None] = {}
    mutates: dict[str, None] = {}
    for child in _statements(node):
        for target in _targets(child):
            _bind(target, binds, mutates)
        if isinstance(child, ast.Expr):
            for part in ast.walk(child.value):
                if isinstance(part, ast.NamedExpr):
                    _bind(part.target, binds, mutates)
            mutates.update(dict.fromkeys(_mutated(child.value)))
    for name in binds:
        mutates.pop(name, None)
    if binds or mutates:
        scope.units.append(Unit(node, tuple(binds), len(scope.units), guards, None, tuple(mutates)))


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statement and those nested in it, leaving function and class bodies out."""
    yield node
    for block in BLOCKS.get(node.__class__, ()):
        for child in getattr(node, block):
            if isinstance(child, ast.stmt) and not isinstance(child, _DEFINITIONS):
                yield from _statements(child)


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, ast.AnnAssign):
        return [node.target] if node.value is not None else []
    if isinstance(node, (ast.AugAssign, ast.For)):
        return [node.target]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.optional_vars for item in node.items if item.optional_vars is not None]
    return []


def _bind(target: ast.expr, binds: dict[str, None], mutates: dict[str, None]) -> None:
    if isinstance(target, ast.Name):
        binds[target.id] = None
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            _bind(element, binds, mutates)
    elif isinstance(target, ast.Starred):
        _bind(target.value, binds, mutates)
    elif isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
        mutates[target.value.id] = None


def _mutated(node: ast.expr) -> Iterator[str]:
    function = node.func if isinstance(node, ast.Call) else None
    owner = function.value if isinstance(function, ast.Attribute) else None
    if isinstance(owner, ast.Name) and isinstance(function, ast.Attribute) and function.attr.startswith(_MUTATORS):
        yield owner.id
