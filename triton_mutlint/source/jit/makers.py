"""Assignments that make jit functions, by their text: `name = triton.jit(fn)`, `name = make(…)`, tables of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.source.jit.jit_names import TritonNames
from triton_mutlint.source.outline import Outline, Parents
from triton_mutlint.source.walking import dotted

_MAKERS = frozenset({"jit", "autotune", "heuristics"})


@dataclass(frozen=True)
class Making:
    """`name = make(…)`, `name, other = make(…)` or `names = {"a": make(…)}`, where `make` is Triton's `jit` or the
    like, anywhere in the file, or a function of the file in which jit functions are made, outside of functions.
    """

    node: ast.Assign
    parents: Parents
    names: tuple[str, ...]
    makers: tuple[str, ...]  # for each call of a function of the file, its name


def makings(file: Outline) -> Iterator[Making]:
    """The assignments of jit functions that calls make."""
    jits = {found.node for found in file.jits}
    giving = {(found.parents or (found.node,))[0] for found in file.functions
              if (found.parents and found.node in jits) or any(_makes_jit(call, file.names) for call in found.calls)}
    top = {node.name for node in giving if not isinstance(node, ast.ClassDef)}
    for node, parents in file.assignments:
        if len(node.targets) > 1:
            continue
        calls = list(_calls(node.value))
        called = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
        makers = [name for name in called if name in top and all(isinstance(p, ast.ClassDef) for p in parents)]
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
