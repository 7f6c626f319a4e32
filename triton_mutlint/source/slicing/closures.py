"""What functions take from those around them, and whether all that one `def` makes are alike for that."""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import Any

from triton_mutlint.source.walking import bound_in, walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def closure(function: Any) -> dict[str, Any]:
    """Closure variables that have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet
    return found


def parameters(args: ast.arguments) -> list[tuple[str, ast.expr | None]]:
    """The names of the parameters, with their defaults."""
    positional = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(positional) - len(args.defaults)), *args.defaults, *args.kw_defaults]
    pairs = [(a.arg, default) for a, default in zip([*positional, *args.kwonlyargs], defaults, strict=True)]
    return [*pairs, *((a.arg, None) for a in (args.vararg, args.kwarg) if a is not None)]


def differ(tree: ast.Module, node: ast.FunctionDef) -> bool:
    """Whether what `node`, somewhere in `tree`, makes depends on an argument of a function around it, or on the round
    of a loop.
    """
    read, end = _read(node), node.end_lineno or node.lineno
    return any(not read.isdisjoint(_varying(outer, node)) for outer in walk(tree)
               if isinstance(outer, (*_FUNCTIONS, *_LOOPS)) and outer.lineno < node.lineno
               and end <= (outer.end_lineno or outer.lineno))


def _varying(outer: ast.AST, kernel: ast.FunctionDef) -> set[str]:
    """The names whose values are those of a function's arguments, or of a round of a loop, or are computed from such,
    conditions included.
    """
    if not isinstance(outer, _FUNCTIONS):
        return {*bound_in(outer)}
    inside = {*walk(kernel)}
    statements = [(_read(node, inside), bound_in(node)) for node in walk(outer)
                  if isinstance(node, ast.stmt) and node is not outer and node not in inside]
    found = {name for name, _ in parameters(outer.args)}
    while more := {name for read, bound in statements if read & found for name in bound} - found:
        found |= more
    return found


def _read(node: ast.AST, but: Set[ast.AST] = frozenset()) -> set[str]:
    return {inner.id for inner in walk(node)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner not in but}
