"""Assignments that make jit functions, by their text: `name = triton.jit(fn)`, `name = make(…)`, tables of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.source.outline import Function, Outline, Parents
from triton_mutlint.source.triton_names import TritonNames
from triton_mutlint.source.walking import BLOCKS, dotted

_MAKERS = frozenset({"jit", "autotune", "heuristics"})


@dataclass(frozen=True)
class Making:
    """`name = make(…)`, `name, other = make(…)` or `names = {"a": make(…)}`, where `make` is Triton's `jit` or the
    like, anywhere in the file, or a function of the file that gives jit functions, outside of functions.
    """

    node: ast.Assign
    parents: Parents
    names: tuple[str, ...]
    makers: tuple[str, ...]  # for each call of a function of the file, its name


def makings(file: Outline) -> Iterator[Making]:
    """The assignments of jit functions that calls make."""
    known: dict[str, bool] = {}
    top = {f.node.name: f.node for f in file.functions if not f.parents}
    for node, parents in file.assignments:
        if len(node.targets) > 1:
            continue
        calls = list(_calls(node.value))
        called = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
        makers = [name for name in called if name in top and all(isinstance(p, ast.ClassDef) for p in parents)]
        for maker in makers:
            if maker not in known:
                known[maker] = _gives_jit(top[maker], file)
        makers = [maker for maker in makers if known[maker]]
        if makers or any(_makes_jit(call, file.names) for call in calls):
            target = node.targets[0]
            targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            named = (t.value if isinstance(t, ast.Subscript) else t for t in targets)  # `TABLE["a"] = make(…)`
            names = dict.fromkeys(n.id for n in named if isinstance(n, ast.Name))
            yield Making(node, parents, tuple(names), tuple(makers))


def _makes_jit(node: ast.expr, names: TritonNames) -> bool:
    """Calls such as `triton.jit(f)`, `triton.jit(noinline=True)(f)`, `triton.autotune(…)(k)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    chain = dotted(node.func.func if isinstance(node.func, ast.Call) else node.func)
    return bool(chain) and chain[0] != "torch" and names.full(chain).rpartition(".")[2] in _MAKERS


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


def _gives_jit(function: Function, file: Outline) -> bool:
    """Whether a `return` of the function has a jit function that it defines, bare or in a call, or makes one."""
    own, names, made = list(_own(function)), file.names, {f.node for f in file.jits}
    jits = {f.name for f in own if isinstance(f, ast.FunctionDef) and f in made}
    for node in own:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if _hands_on(node.value, jits, names):
                jits.add(node.targets[0].id)
        elif isinstance(node, ast.Return) and node.value is not None and _hands_on(node.value, jits, names):
            return True
    return False


def _hands_on(value: ast.expr, jits: set[str], names: TritonNames) -> bool:
    if isinstance(value, ast.IfExp):
        return _hands_on(value.body, jits, names) or _hands_on(value.orelse, jits, names)
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(_hands_on(element, jits, names) for element in value.elts)
    if isinstance(value, ast.Call):
        return _makes_jit(value, names) or any(isinstance(a, ast.Name) and a.id in jits for a in value.args)
    return isinstance(value, ast.Name) and value.id in jits


def _own(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, in order, without those of functions and classes in it."""
    for block in BLOCKS.get(node.__class__, ()):
        for child in getattr(node, block):
            if isinstance(child, ast.stmt):
                yield child
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _own(child)
