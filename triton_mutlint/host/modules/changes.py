"""What the code of a file changes in place, or binds otherwise than by plain assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.source.changes import changes
from triton_mutlint.source.walking import children, dotted, walk

_CHANGES = frozenset({
    "append", "extend", "insert", "update", "setdefault", "pop", "popitem", "clear", "remove", "add", "discard", "sort",
    "reverse", "appendleft", "extendleft", "__setitem__", "register",
})  # fmt: skip


_REGISTERING = (("impl",), ("custom_op",), ("triton_op",), ("register_kernel",), ("register_fake",))


def otherwise(body: list[ast.stmt]) -> Iterator[str]:
    """Names that module-level code binds by `+=`, in loops, `with` and `del`, and by `:=`."""
    for node in body:
        targets: list[ast.expr] = []
        if isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
            targets = [node.target]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        elif isinstance(node, ast.Delete):
            targets = node.targets
        yield from (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from otherwise(getattr(node, block, []) if not isinstance(node, ast.Expr) else [])
        for handler in getattr(node, "handlers", ()):
            yield from otherwise(handler.body)


def filled(tree: ast.Module) -> Iterator[str]:
    """`fill(TABLE)`: the names that module-level code passes to what may change what they stand for."""
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) \
                and dotted(statement.value.func)[-1:] not in _REGISTERING:
            given = (*statement.value.args, *(k.value for k in statement.value.keywords))
            yield from (value.id for value in given if isinstance(value, ast.Name))


def changed_paths(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """`a.b[k] = v` as ("a", "b"): the names in which something is changed."""
    for node in walk(tree):
        yield from (change.path for change in changes(node) if change.path
                    and (not isinstance(node, ast.Call) or change.method in _CHANGES))


@dataclass(frozen=True)
class Rebinding:
    """Code that gives a top-level name a new value: by `global` (no `owner`), by `m.NAME = v`, by `setattr(m, …, v)`.

    It stands in `unit`, a function or a statement at the top level; `name` is "" where it is computed. `deep` says
    that it is in a function in that function.
    """

    owner: tuple[str, ...]
    name: str
    unit: ast.stmt
    deep: bool = False


def stores(tree: ast.Module) -> Iterator[Rebinding]:
    pending: list[tuple[ast.AST, ast.stmt, int]] = [(node, node, 0) for node in tree.body]
    while pending:
        node, unit, depth = pending.pop()
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not depth:
            unit = node
        for change in changes(node) if not isinstance(node, ast.Nonlocal) else ():
            if change.name is not None and (change.whole or isinstance(node, ast.Call)):
                yield Rebinding(change.path if change.whole else (), change.name, unit, depth > 1)
        pending.extend((inner, unit, depth + is_function) for inner in children(node))


def given_fields(node: ast.AST) -> Iterator[str]:
    """`o.x = v` and `setattr(o, "x", v)` anywhere but in constructors; "" for any name."""
    for inner in children(node):
        if isinstance(inner, ast.FunctionDef) and inner.name in ("__init__", "__post_init__", "__new__"):
            continue
        if (isinstance(inner, ast.Attribute) and inner.attr == "__dict__") or (
                isinstance(inner, ast.Call) and dotted(inner.func) == ("vars",)):
            yield ""
        elif not isinstance(inner, (ast.Global, ast.Nonlocal)):
            yield from (change.name for change in changes(inner) if change.name is not None)
        yield from given_fields(inner)
