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

# What has names of its own.
SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp,
                    ast.DictComp, ast.GeneratorExp})


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


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes in it, which are given themselves."""
    stack = list(children(node))
    while stack:
        inner = stack.pop()
        yield inner
        if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(children(inner))


def bound_in(node: ast.AST) -> dict[str, None]:
    """The names that running a statement binds, in order: not those of functions, classes and comprehensions in it.

    `:=` in a comprehension binds a name outside of it.
    """
    found: dict[str, None] = {}
    stack = [node]
    while stack:
        child = stack.pop()
        cls = child.__class__
        if cls in SCOPES:
            found.update(dict.fromkeys(filter(None, [getattr(child, "name", None)])))
            stack.extend(getattr(child, "decorator_list", ()))
            if isinstance(child, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                found.update({n.target.id: None for n in walk(child) if isinstance(n, ast.NamedExpr)})
            continue
        if cls is ast.Name:
            if child.ctx.__class__ is not ast.Load:  # type: ignore[attr-defined]  # a name by its class
                found[child.id] = None  # type: ignore[attr-defined]
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name.partition(".")[0], None) for a in child.names if a.name != "*")
        elif isinstance(child, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and child.name:
            found[child.name] = None
        elif isinstance(child, ast.MatchMapping) and child.rest:
            found[child.rest] = None
        stack.extend(reversed(list(children(child))) if cls in FIELDS else ())
    return found


def first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The line that a function begins on: its first decorator's, or that of its `def`."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def called(node: ast.expr) -> tuple[str, ...]:
    """The dotted name of an expression, or of what it calls: of `@triton.jit(…)` as of `@triton.jit`."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def dotted(node: ast.expr) -> tuple[str, ...]:
    """`a.b.c` as ("a", "b", "c"); () for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()
