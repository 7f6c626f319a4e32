"""What a node of a file's text changes, other than what it assigns to plain names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.source.walking import dotted

_NAMES = (("globals",), ("vars",), ("locals",))  # what they give holds the names of this file
_SETTING = (("setattr",), ("__setattr__",))


@dataclass(frozen=True)
class Changed:
    """What `path` leads to is changed: in place, or by giving it a `name` that holds something else.

    A path goes as far as names tell: that of `a.b[k].c` is `a.b`, and not the `whole` of it. It begins with "" where
    no name stands first, and is empty for the names of the file itself. A name that is computed is "". `method` is the
    method that is called, which may change nothing.
    """

    path: tuple[str, ...]
    whole: bool = True
    name: str | None = None
    method: str = ""


def changes(node: ast.AST) -> Iterator[Changed]:
    """What a node changes by itself: the nodes below it change more."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from (Changed((), name=name) for name in node.names)
    elif isinstance(node, ast.Call):
        yield from _called(node)
    elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        owner = _holder(node.value) if isinstance(node, ast.Subscript) else None
        if owner is not None:
            yield Changed(*owner, _constant(node.slice))  # type: ignore[union-attr]  # as it is a subscript
        else:
            yield Changed(*_path(node.value), node.attr if isinstance(node, ast.Attribute) else None)


def _called(node: ast.Call) -> Iterator[Changed]:
    if dotted(node.func)[-1:] in _SETTING and len(node.args) > 1:
        *owner, key, _ = node.args if len(node.args) > 2 else (*node.args, node)
        yield Changed(*(_path(owner[-1]) if owner else ((), False)), _constant(key))
    elif isinstance(node.func, ast.Attribute):
        yield Changed(*_path(node.func.value), method=node.func.attr)
        if (names := _holder(node.func.value)) is not None:
            yield from (Changed(*names, keyword.arg or "") for keyword in node.keywords)


def _path(node: ast.expr) -> tuple[tuple[str, ...], bool]:
    names: list[str] = []
    whole = True
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        names = [node.attr, *names] if isinstance(node, ast.Attribute) else []
        whole &= isinstance(node, ast.Attribute)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else "", *names), whole and isinstance(node, ast.Name)


def _holder(node: ast.expr) -> tuple[tuple[str, ...], bool] | None:
    """What `m.__dict__`, `vars(m)` and `globals()` hold the names of: `m`, or this file; None for all else."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return _path(node.value)
    if isinstance(node, ast.Call) and dotted(node.func) in _NAMES:
        return _path(node.args[0]) if node.args else ((), True)
    return None


def _constant(key: ast.expr) -> str:
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
