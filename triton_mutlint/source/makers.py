"""Assignments that make jit functions, by their text: `name = triton.jit(fn)`, `name = make(…)`, tables of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.source.names import may_be_jit
from triton_mutlint.source.outline import Function, Outline, Parents
from triton_mutlint.source.walking import BLOCKS, dotted


def assignments(file: Outline) -> Iterator[tuple[ast.Assign, Parents]]:
    """`name = …jit(…)…` and `name = autotune(…)(…)` anywhere in the file."""
    for node, parents in file.assignments:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and _makes_jit(node.value):
            yield node, parents


def _makes_jit(node: ast.expr) -> bool:
    """Calls such as `triton.jit(f)`, `triton.jit(noinline=True)(f)`, `triton.autotune(…)(k)`."""
    while isinstance(node, ast.Call):
        chain = dotted(node.func)
        if chain and len(node.args) + len(node.keywords) > 0:
            known = chain[-1] in {"jit", "autotune", "heuristics"} and chain[0] != "torch"
            return known and bool(node.args)
        if not isinstance(node.func, ast.Call) or not node.args:
            return False
        inner = dotted(node.func.func)
        return bool(inner) and inner[-1] in {"jit", "autotune", "heuristics"}
    return False


@dataclass(frozen=True)
class Making:
    """`name = make(…)`, `name, other = make(…)` or `names = {"a": make(…)}` at the top level of a file or class."""

    node: ast.Assign
    parents: Parents  # classes
    names: tuple[str, ...]
    makers: tuple[str, ...]  # for each call, the function's name


def made_by_calls(file: Outline) -> Iterator[Making]:
    """The assignments of what functions of the file give, where that is jit functions."""
    known: dict[str, bool] = {}
    top = {f.node.name: f.node for f in file.functions if not f.parents}
    for node, parents in file.assignments:
        if len(node.targets) > 1 or not all(isinstance(p, ast.ClassDef) for p in parents):
            continue
        called = [call.func.id for call in _calls(node.value) if isinstance(call.func, ast.Name)]
        makers = [name for name in called if name in top]
        for maker in makers:
            if maker not in known:
                known[maker] = _gives_jit(top[maker])
        makers = [maker for maker in makers if known[maker]]
        if makers:
            target = node.targets[0]
            targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            named = (t.value if isinstance(t, ast.Subscript) else t for t in targets)  # `TABLE["a"] = make(…)`
            names = dict.fromkeys(n.id for n in named if isinstance(n, ast.Name))
            yield Making(node, parents, tuple(names), tuple(makers))


def _calls(value: ast.expr) -> Iterator[ast.Call]:
    """The calls that give a value, or the elements of one."""
    if isinstance(value, ast.Call):
        yield value
        if isinstance(value.func, ast.Name) and value.func.id == "dict":
            for keyword in value.keywords:
                yield from _calls(keyword.value)
    elif isinstance(value, (ast.Tuple, ast.List)):
        for element in value.elts:
            yield from _calls(element)
    elif isinstance(value, ast.Dict):
        for element in value.values:
            yield from _calls(element)
    elif isinstance(value, ast.ListComp):
        yield from _calls(value.elt)
    elif isinstance(value, ast.DictComp):
        yield from _calls(value.value)


def _gives_jit(function: Function) -> bool:
    """Whether a `return` of the function has a jit function that it defines, bare or in a call, or makes one."""
    own = list(_own(function))
    jits = {f.name for f in own if may_be_jit(f) and isinstance(f, ast.FunctionDef)}
    for node in own:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _hands_on(node.value, jits):
            jits.add(node.targets[0].id)
    return any(isinstance(node, ast.Return) and node.value is not None and _hands_on(node.value, jits) for node in own)


def _hands_on(value: ast.expr, jits: set[str]) -> bool:
    if isinstance(value, ast.IfExp):
        return _hands_on(value.body, jits) or _hands_on(value.orelse, jits)
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(_hands_on(element, jits) for element in value.elts)
    if isinstance(value, ast.Call):
        return _makes_jit(value) or any(isinstance(a, ast.Name) and a.id in jits for a in value.args)
    return isinstance(value, ast.Name) and value.id in jits


def _own(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, in order, without those of functions and classes in it."""
    for block in BLOCKS.get(node.__class__, ()):
        for child in getattr(node, block):
            if isinstance(child, ast.stmt):
                yield child
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _own(child)
