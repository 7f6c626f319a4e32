"""What the code of a file changes in place, or binds otherwise than by plain assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

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
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            targets = [node.func]
        for target in targets:
            if not isinstance(target, (ast.Attribute, ast.Subscript)):
                continue
            owner = target.value
            names: list[str] = []
            while isinstance(owner, (ast.Attribute, ast.Subscript)):
                names = [owner.attr, *names] if isinstance(owner, ast.Attribute) else []
                owner = owner.value
            if isinstance(owner, ast.Name):
                yield (owner.id, *names)


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
        if isinstance(node, ast.Global):
            yield from (Rebinding((), name, unit, depth > 1) for name in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and (owner := dotted(node.value)):
            yield Rebinding(owner, node.attr, unit, depth > 1)
        elif isinstance(node, ast.Call) and dotted(node.func) == ("setattr",) and node.args:
            key = node.args[1] if len(node.args) > 1 else None
            name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            yield Rebinding(dotted(node.args[0]), name, unit, depth > 1)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and (names := _names_in(node.value)):
            key = node.slice
            name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            yield Rebinding(() if names == ("globals",) else names, name, unit, depth > 1)
        pending.extend((inner, unit, depth + is_function) for inner in children(node))


def _names_in(node: ast.expr) -> tuple[str, ...]:
    """What `m.__dict__`, `vars(m)` and `globals()` are the names of: `m`, or this file."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return dotted(node.value)
    called = dotted(node.func) if isinstance(node, ast.Call) else ()
    if called == ("vars",) and isinstance(node, ast.Call) and node.args:
        return dotted(node.args[0])
    return called if called == ("globals",) else ()


def given_fields(node: ast.AST) -> Iterator[str]:
    """`o.x = v` and `setattr(o, "x", v)` anywhere but in constructors; "" for any name."""
    for inner in children(node):
        if isinstance(inner, ast.FunctionDef) and inner.name in ("__init__", "__post_init__", "__new__"):
            continue
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield inner.attr
        elif isinstance(inner, ast.Attribute) and inner.attr == "__dict__":
            yield ""
        elif isinstance(inner, ast.Call) and dotted(inner.func)[-1:] in (("setattr",), ("__setattr__",), ("vars",)):
            keys = [a.value for a in inner.args[:2] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            yield keys[0] if keys else ""
        yield from given_fields(inner)
