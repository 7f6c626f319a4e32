"""Binding a call's arguments to a function's parameters."""

from __future__ import annotations

import ast

from triton_mutlint.host.registrations.folded import Args, Func, Items, Table, Text, Unknown, Value
from triton_mutlint.host.registrations.folding import Machine, fold


def bound(func: Func, args: Args, machine: Machine) -> dict[str, Value]:
    """By parameter, the argument, the default, or that it is not known."""
    a = func.node.args
    ordered = [*a.posonlyargs, *a.args]
    names: dict[str, Value] = {}
    keywords = dict(args.keywords)
    for i, parameter in enumerate(ordered):
        if i < len(args.positional):
            names[parameter.arg] = args.positional[i]
        elif parameter.arg in keywords:
            names[parameter.arg] = keywords.pop(parameter.arg)
        else:
            at = i - (len(ordered) - len(a.defaults))
            names[parameter.arg] = _default(a.defaults[at] if at >= 0 else None, func, args, machine)
    for parameter, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        passed = keywords.pop(parameter.arg, None)
        names[parameter.arg] = passed if passed is not None else _default(default, func, args, machine)
    if a.vararg is not None:
        names[a.vararg.arg] = Items(args.positional[len(ordered):], not args.open)
    if a.kwarg is not None:
        rest = Table(tuple((Text(key), value) for key, value in keywords.items()))
        names[a.kwarg.arg] = rest if not args.open else Unknown("it is passed with `**`")
    return names


def _default(node: object, func: Func, args: Args, machine: Machine) -> Value:
    if args.open:
        return Unknown("it may be passed with `*` or `**`")
    if not isinstance(node, ast.expr):
        return Unknown("it is not passed")
    return fold(node, func.scope, machine)


def forwarded(value: Value) -> Value:
    """The function that `value` hands its arguments on to, where it is a wrapper that does nothing else with them.

    A wrapper takes but `*args` and `**kwargs`, and uses them in one call of a function of the scope
    around it (`fn(*args, **kwargs)`, `fn(**dict(zip(names, args)))`).
    """
    if not isinstance(value, Func) or isinstance(value.node, ast.Lambda):
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
    inner = value.scope.find(calls[0].func.id) if isinstance(calls[0].func, ast.Name) else None
    return forwarded(inner) if inner is not None and inner is not value else value
