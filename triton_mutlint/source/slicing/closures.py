"""What functions take from those around them, and whether all that one `def` makes are alike for that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from triton_mutlint.source.walking import walk

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
_enclosing: WeakKeyDictionary[ast.Module, dict[int, tuple[Function | Loop, ...]]] = WeakKeyDictionary()


def closure(function: Any) -> dict[str, Any]:
    """Closure variables that have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    return found


def differ(tree: ast.Module, node: ast.FunctionDef) -> bool:
    """Whether what `node`, somewhere in `tree`, makes depends on an argument of a function around it, or on the round
    of a loop.
    """
    read = _names(node, ast.Load)
    for outer in _around(tree, node):
        if isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
            bound = _names(outer, ast.Store, node)
        else:
            bound = _computed_from({name for name, _ in parameters(outer.args)}, outer, node)
        if read & bound:
            return True
    return False


def _around(tree: ast.Module, node: ast.FunctionDef) -> tuple[Function | Loop, ...]:
    """The functions and loops that `node` stands in, outermost first."""
    if tree not in _enclosing:
        _enclosing[tree] = {id(inner): outer for inner, outer in _functions(tree, ())}
    return _enclosing[tree].get(id(node), ())


def _functions(
    node: ast.AST, outer: tuple[Function | Loop, ...]
) -> Iterator[tuple[ast.AST, tuple[Function | Loop, ...]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child, outer
            yield from _functions(child, (*outer, child))
        elif isinstance(child, (ast.For, ast.AsyncFor, ast.While)):
            yield from _functions(child, (*outer, child))
        elif not isinstance(child, ast.expr):
            yield from _functions(child, outer)


def parameters(args: ast.arguments) -> list[tuple[str, ast.expr | None]]:
    """The names of the parameters, with their defaults."""
    positional = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(positional) - len(args.defaults)), *args.defaults, *args.kw_defaults]
    pairs = [(a.arg, default) for a, default in zip([*positional, *args.kwonlyargs], defaults, strict=True)]
    return [*pairs, *((a.arg, None) for a in (args.vararg, args.kwarg) if a is not None)]


def _computed_from(names: set[str], function: Function, kernel: ast.FunctionDef) -> set[str]:
    """`names` and what the function's statements bind that have one of them in it, conditions included."""
    found, before = set(names), -1
    while len(found) != before:
        before = len(found)
        for statement in walk(function):
            is_own = isinstance(statement, ast.stmt) and statement not in (function, kernel)
            if is_own and _names(statement, ast.Load, kernel) & found:
                found |= _names(statement, ast.Store, kernel)
    return found


def _names(node: ast.AST, context: type[ast.expr_context], but: ast.AST | None = None) -> set[str]:
    """The names that are read or bound from `node` down, but for what stands in `but`."""
    inside = set(map(id, walk(but))) if but is not None else set()
    found: set[str] = set()
    for inner in walk(node):
        if id(inner) in inside:
            continue
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, context):
            found.add(inner.id)
        elif context is ast.Store and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(inner.name)
        elif context is ast.Store and isinstance(inner, (ast.Import, ast.ImportFrom)):
            found.update(a.asname or a.name.partition(".")[0] for a in inner.names)
    return found
