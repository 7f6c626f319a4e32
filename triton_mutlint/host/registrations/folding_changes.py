"""Lists and dicts that registering code fills step by step: what they are after each."""

from __future__ import annotations

import ast

from triton_mutlint.host.registrations.folded import (
    Args,
    Const,
    Items,
    Scope,
    Some,
    Table,
    Text,
    Unknown,
    Value,
    either,
    options,
)
from triton_mutlint.host.registrations.folding import Machine, arguments, fold
from triton_mutlint.host.registrations.folding_values import LONG, bind, each

_OF_LISTS = frozenset({"append", "add", "extend", "insert", "remove", "discard", "clear", "pop", "sort", "reverse"})
_OF_TABLES = frozenset({"update", "setdefault", "pop", "popitem", "clear"})
UNTOLD = "it is changed at run time"


def change(node: ast.expr, scope: Scope, machine: Machine) -> bool:
    """Follow `owner.append(...)` and the like, a statement of its own; whether it was one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr not in _OF_LISTS | _OF_TABLES:
        return False
    owner = fold(node.func.value, scope, machine)
    if not all(isinstance(one, (Items, Some, Table)) for one in options(owner)):
        return False
    args = arguments(node, scope, machine)
    put(node.func.value, either([_changed(one, node.func.attr, args) for one in options(owner)]), scope, machine)
    return True


def put(target: ast.expr, value: Value, scope: Scope, machine: Machine) -> None:
    """What `target` names is `value` from now on, for all that see it by that name."""
    if isinstance(target, ast.Name):
        holder = scope.holder(target.id)
        if holder is None:
            return
        if holder is scope:
            bind(target, value, scope)
        elif not value.given():  # what no caller passes is put there whenever the function is called
            bind(target, value, holder)
    elif isinstance(target, ast.Attribute):
        machine.store(fold(target.value, scope, machine), target.attr, value)
    elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
        owner, key = fold(target.value, scope, machine), fold(target.slice, scope, machine)
        if all(isinstance(one, (Items, Some, Table)) for one in options(owner)):
            put(target.value, either([_with(one, key, value) for one in options(owner)]), scope, machine)


def _with(owner: Value, key: Value, value: Value) -> Value:
    """`owner[key] = value`."""
    if isinstance(owner, Table):
        name = key.text if isinstance(key, Text) and key.known else None
        kept = [e for e in owner.entries if name is None or not isinstance(e[0], Text) or e[0].text != name]
        return Table((*kept, (key, value)), spot=owner.spot)
    at = key.value if isinstance(key, Const) else None
    if isinstance(owner, Items) and owner.whole and isinstance(at, int) and -len(owner.items) <= at < len(owner.items):
        items = list(owner.items)
        items[at] = value
        return Items(tuple(items), spot=owner.spot)
    return Unknown(UNTOLD, owner.given() or value.given())


def _changed(owner: Value, name: str, args: Args) -> Value:
    found = None if args.open else _of_table(owner, name, args) if isinstance(owner, Table) else _of_list(
        owner, name, args)
    if found is not None:
        return found
    return Unknown(UNTOLD, owner.given() or any(a.given() for a in (*args.positional, *args.keywords.values())))


def _of_list(owner: Value, name: str, args: Args) -> Value | None:
    held, first = each(owner), args.positional[0] if args.positional else None
    if held is None or len(held) > LONG:
        return None
    more: tuple[Value, ...] | None = None
    sure = isinstance(owner, Items)
    if name in ("append", "add") and first is not None:
        more = (first,)
    elif name == "extend" and first is not None:
        more, sure = each(first), sure and isinstance(first, Items)
    elif name == "clear":
        return Items(spot=owner.spot)
    if more is None:
        return None
    return Items((*held, *more), spot=owner.spot) if sure else Some((*held, *more), spot=owner.spot)


def _of_table(owner: Table, name: str, args: Args) -> Value | None:
    first = args.positional[0] if args.positional else Table()
    if name == "update" and isinstance(first, Table):
        more = tuple((Text(key), value) for key, value in args.keywords.items())
        return Table((*owner.entries, *first.entries, *more), spot=owner.spot)
    if name == "setdefault" and isinstance(first, Text) and first.known:
        default = args.positional[1] if len(args.positional) > 1 else Const()
        return owner if owner.get(first.text) is not None else Table((*owner.entries, (first, default)))
    return Table(spot=owner.spot) if name == "clear" else None

