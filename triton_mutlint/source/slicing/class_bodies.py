"""What running a class body reads from outside the class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.source.walking import BLOCKS, FIELDS, children

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read_by_class(node: ast.ClassDef) -> set[str]:
    """Names that the statements of a class body read, decorators and defaults of its methods included.

    A name that the body has bound by then is the class's own: `BOTH = FORWARD | BACKWARD` reads no global.
    """
    read: set[str] = set()
    _statements(node.body, set(), read)
    return read


def _statements(body: list[ast.stmt], bound: set[str], read: set[str]) -> None:
    for statement in body:
        blocks = BLOCKS.get(statement.__class__, ()) if not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)) else ()
        heads = [part for part in children(statement) if not _stands_in(part, statement, blocks)]
        if isinstance(statement, _FUNCTIONS):
            heads = [*statement.decorator_list, statement.args, *([statement.returns] if statement.returns else [])]
        names = [name for head in heads for name in _names(head)]
        read.update(name.id for name in names if isinstance(name.ctx, ast.Load) and name.id not in bound)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.update({statement.target.id} - bound)
        for block in blocks:
            for child in getattr(statement, block):
                _statements([child] if isinstance(child, ast.stmt) else child.body, bound, read)
        bound.update(name.id for name in names if isinstance(name.ctx, ast.Store))
        bound.update(_defined(statement))


def _stands_in(part: ast.AST, statement: ast.stmt, blocks: tuple[str, ...]) -> bool:
    return any(part in getattr(statement, block) for block in blocks)


def _names(node: ast.AST) -> Iterator[ast.Name]:
    """The names from `node` down, but for those in the bodies of functions."""
    stack = [node]
    while stack:
        child = stack.pop()
        if isinstance(child, ast.Name):
            yield child
        elif isinstance(child, _FUNCTIONS):
            stack.extend([*child.decorator_list, child.args])
        elif isinstance(child, ast.Lambda):
            stack.append(child.args)
        elif child.__class__ in FIELDS:
            stack.extend(children(child))


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return set()
