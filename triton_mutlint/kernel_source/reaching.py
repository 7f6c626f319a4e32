"""Which parameters a statement of a kernel is computed from, by the names in its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from triton_mutlint.types import Kernel


def reaching(kernel: Kernel, line: int) -> list[str]:
    """The parameters that the statement at `line` is computed from, nearest first, and that decide whether it runs."""
    statement = _statement(kernel.node, line)
    if statement is None:
        return []
    return leading_to(kernel, [*names_of(statement), *conditions(kernel.node, line)])


def leading_to(kernel: Kernel, names: Sequence[str]) -> list[str]:
    """The parameters that `names` are, or are computed from."""
    wanted = set(kernel.parameter_names)
    sources = _assigned_from(kernel.node)
    found = list(dict.fromkeys(names))
    for name in found:  # grows while it is walked
        found.extend(n for n in sources.get(name, ()) if n not in found)
    return [name for name in found if name in wanted]


def deciding(kernel: Kernel, name: str) -> list[str]:
    """The parameters that decide whether `name` is assigned to, the nearest first."""
    bound = [n for n in _statements(kernel.node) if name in _bound(n)]
    return leading_to(kernel, [test for n in bound for test in conditions(kernel.node, n.lineno)])


def conditions(function: ast.FunctionDef, line: int) -> list[str]:
    """The names that decide in an `if` whether a line is compiled: one around it, or one before it that returns."""
    ifs = [n for n in _statements(function) if isinstance(n, ast.If) and n.lineno < line]
    around = [n for n in ifs if line <= (n.end_lineno or line) or any(isinstance(r, ast.Return) for r in ast.walk(n))]
    return [name for n in reversed(around) for name in names_of(ast.Expr(n.test))]


def _statement(function: ast.FunctionDef, line: int) -> ast.stmt | None:
    """The innermost statement that holds a line."""
    found = None
    for node in _statements(function):
        if node.lineno <= line <= (node.end_lineno or line):
            found = node
    return found


@lru_cache(maxsize=4)
def _statements(function: ast.FunctionDef) -> tuple[ast.stmt, ...]:
    """The statements in a function, from the outside in."""
    return tuple(n for n in ast.walk(function) if isinstance(n, ast.stmt) and n is not function)


def names_of(node: ast.AST) -> Iterator[str]:
    """Names that a statement reads; of a compound one, those of its head only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif not isinstance(child, ast.stmt):
            yield from names_of(child)


@lru_cache(maxsize=4)  # a kernel may be lowered with many guesses, and fail with all of them
def _assigned_from(function: ast.FunctionDef) -> dict[str, list[str]]:
    """For each local name, the names that its assignments read, and those that decide whether they run."""
    found: dict[str, list[str]] = {}
    pending: list[tuple[ast.AST, list[str]]] = [(function, [])]
    while pending:
        node, conditions = pending.pop()
        for name in _bound(node):
            found.setdefault(name, []).extend([*names_of(node), *conditions])
        if isinstance(node, (ast.If, ast.While)):
            conditions = [*names_of(ast.Expr(node.test)), *conditions]
        pending.extend((child, conditions) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return found


def _bound(statement: ast.AST) -> Iterator[str]:
    """The names that a statement assigns to."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        targets = [statement.target]
    else:
        return
    for target in targets:
        yield from names_of(ast.Expr(target))


def end_of(kernel: Kernel, line: int) -> int:
    """The last line of the statement at a line."""
    statement = _statement(kernel.node, line)
    return line if statement is None else statement.end_lineno or line


def said_of(kernel: Kernel, name: str, line: int) -> str:
    """The source of the statement at a line without what it encloses, and of all conditions that a name stands in."""
    statement = _statement(kernel.node, line)
    parts = [] if statement is None else [n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr)]
    tests = [n.test for n in _statements(kernel.node) if isinstance(n, ast.If) and name in names_of(ast.Expr(n.test))]
    return "\n".join(map(ast.unparse, (*parts, *tests)))
