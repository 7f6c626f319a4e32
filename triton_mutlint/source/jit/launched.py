"""Which names the host code of a file launches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.source.outline import Outline, outline
from triton_mutlint.source.walking import children

_LAUNCHERS = frozenset({"run", "warmup"})


@dataclass(frozen=True)
class Launches:
    """Names launched outright, and names handed to a host function that may launch them."""

    direct: frozenset[str]
    passed: frozenset[str]


def launched_names(tree: ast.Module) -> frozenset[str]:
    """Names launched in the file: `k[grid](…)`, `wrap_triton(k)[grid](…)`, `k.run(…)`, `k.warmup(…)`,
    `fn(k, …)`, and names that reach such a place through an assignment (`k = a if c else b`).
    """
    found = launches(outline(tree))
    return found.direct | found.passed


def launches(file: Outline) -> Launches:
    """What the host code of a file launches."""
    direct: set[str] = set()
    passed: set[str] = set()
    flows: dict[str, set[str]] = {}
    for call in file.calls:
        direct.update(_launched_by(call))
        if not isinstance(call.func, ast.Subscript):  # a launch's own arguments are not launched
            passed.update(a.id for a in call.args if isinstance(a, ast.Name))
            passed.update(k.value.id for k in call.keywords if isinstance(k.value, ast.Name))
    own = {f.node.name for f in file.functions if not f.parents}
    for node, _ in file.assignments:
        for target in node.targets:
            if isinstance(target, ast.Name):
                flows.setdefault(target.id, set()).update(_carried(node.value, own))
    return Launches(_reach(direct, flows), frozenset(passed))


def _reach(names: set[str], flows: dict[str, set[str]]) -> frozenset[str]:
    work, reached = list(names), set(names)
    while work:
        for name in flows.get(work.pop(), ()):
            if name not in reached:
                reached.add(name)
                work.append(name)
    return frozenset(reached)


def _launched_by(call: ast.Call) -> Iterator[str]:
    function = call.func
    if isinstance(function, ast.Subscript):
        yield from _kernel_names(function.value)
    if isinstance(function, ast.Attribute) and function.attr in _LAUNCHERS:
        yield from _kernel_names(function.value)


def _kernel_names(node: ast.expr) -> Iterator[str]:
    """The names that a launched expression may stand for: `k`, `m.k`, `wrap(k)`, `TABLE[i]`, `a if c else b`."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Subscript):
        yield from _kernel_names(node.value)
    elif isinstance(node, ast.Call):
        for argument in node.args:
            yield from _kernel_names(argument)
    elif isinstance(node, ast.IfExp):
        yield from _kernel_names(node.body)
        yield from _kernel_names(node.orelse)


def _carried(node: ast.expr, own: set[str]) -> Iterator[str]:
    """Plain names whose value an assigned expression may pass on; what the file's `own` functions get is passed."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own:
        return
    elif isinstance(node, (ast.IfExp, ast.BoolOp, ast.Dict, ast.List, ast.Tuple, ast.Call, ast.Subscript)):
        for child in children(node):
            if isinstance(child, ast.expr):
                yield from _carried(child, own)
