"""Walking syntax trees: loading visits every node of a file, so the walk itself must cost little."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

# Fields that hold no nodes, or none that a walk is after (contexts and operators).
_PLAIN = frozenset({
    "ctx", "op", "ops", "id", "attr", "arg", "module", "level", "names", "asname", "kind", "type_comment",
    "is_async", "simple", "conversion", "rest", "kwd_attrs", "type_ignores", "tag",
})  # fmt: skip


def _fields(cls: type[ast.AST]) -> tuple[str, ...]:
    if issubclass(cls, (ast.Constant, ast.MatchSingleton)):
        return ()
    return tuple(name for name in cls._fields if name not in _PLAIN)


# Node class → its fields that hold nodes, or lists of nodes and None. What is no key is no node.
FIELDS: Mapping[type, tuple[str, ...]] = {
    cls: _fields(cls) for cls in vars(ast).values() if isinstance(cls, type) and issubclass(cls, ast.AST)
}
# Node class of a statement or of a part of one → its fields that hold statements, or such parts.
BLOCKS: Mapping[type, tuple[str, ...]] = {
    cls: blocks
    for cls, fields in FIELDS.items()
    if issubclass(cls, (ast.stmt, ast.ExceptHandler, ast.match_case))
    and (blocks := tuple(f for f in fields if f in {"body", "orelse", "finalbody", "handlers", "cases"}))
}


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes right below `node`, contexts and operators left out, in order."""
    for field in FIELDS[node.__class__]:
        value = getattr(node, field, None)
        if value.__class__ is list:
            for item in value:
                if isinstance(item, ast.AST):
                    yield item
        elif isinstance(value, ast.AST):
            yield value


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node from `node` down, contexts and operators left out, in no order."""
    stack = [node]
    while stack:
        node = stack.pop()
        fields = FIELDS.get(node.__class__)
        if fields is None:
            continue
        yield node
        for field in fields:
            value = getattr(node, field, None)
            if value.__class__ is list:
                stack.extend(value)
            elif value is not None:
                stack.append(value)


def first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The line that a function begins on: its first decorator's, or that of its `def`."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def dotted(node: ast.expr) -> tuple[str, ...]:
    """`a.b.c` as ("a", "b", "c"); () for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()
