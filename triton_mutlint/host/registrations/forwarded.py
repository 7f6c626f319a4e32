"""Wrappers that do nothing but hand their arguments on."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.values import FunctionValue, ScopeId, Thing


def forwarded(value: Thing, state: State, scopes: Mapping[ScopeId, ScopeId | None]) -> Thing:
    """The function that `value` hands its arguments on to, where it is a wrapper that does nothing else with them.

    A wrapper takes but `*args` and `**kwargs`, and uses them in one call of a function of the scope
    around it (`fn(*args, **kwargs)`, `fn(**dict(zip(names, args)))`).
    """
    if not isinstance(value, FunctionValue) or isinstance(value.node, ast.Lambda):
        return value
    a = value.node.args
    packed = {p.arg for p in (a.vararg, a.kwarg) if p is not None}
    if a.posonlyargs or a.args or a.kwonlyargs or a.vararg is None:
        return value
    calls = [node for node in ast.walk(value.node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
             and (any(isinstance(arg, ast.Starred) for arg in node.args) or any(k.arg is None for k in node.keywords))]
    uses = [node for node in ast.walk(value.node) if isinstance(node, ast.Name) and node.id in packed]
    if len(calls) != 1 or not {id(u) for u in uses} <= {id(node) for node in ast.walk(calls[0])}:
        return value
    called, scope = calls[0].func, value.scope
    while scope is not None and isinstance(called, ast.Name):
        inner = state.get(scope, called.id)
        if inner is not None:
            alone = inner.things if len(inner.things) == 1 and not inner.cells else frozenset()
            return next((forwarded(one, state, scopes) for one in alone if one != value), value)
        scope = scopes.get(scope)
    return value
