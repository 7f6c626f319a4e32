"""What operators give on values of which only a part may be known."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from triton_mutlint.host.registrations.folded import (
    Class,
    Const,
    Either,
    Ext,
    Func,
    Inferred,
    Instance,
    Items,
    Lib,
    Method,
    Op,
    Package,
    Scope,
    Some,
    Spot,
    Table,
    Text,
    Unknown,
    Value,
    either,
    options,
)


def as_items(value: Value) -> Items | None:
    """What iterating over `value` gives, if that can be told."""
    if isinstance(value, Items):
        return value
    if isinstance(value, Table):
        return Items(tuple(key for key, _ in value.entries), spot=value.spot)
    if isinstance(value, Instance) and value.is_row:
        return Items(tuple(value.fields.values()), spot=value.spot)
    return None


def each(value: Value) -> tuple[Value, ...] | None:
    """What a loop over `value` may be given, one after the other; None where there may be more."""
    if isinstance(value, Some):
        return value.items
    if isinstance(value, Either):
        held = [each(one) for one in value.options]
        known = [items for items in held if items is not None]
        return tuple({id(v): v for items in known for v in items}.values()) if len(known) == len(held) else None
    several = as_items(value)
    return several.items if several is not None and several.whole else None


def merged(values: list[Value]) -> Value:
    """One value of several, where one list that only grew on some of the ways counts as that list, or less of it."""
    held = [v.items if isinstance(v, (Items, Some)) and getattr(v, "whole", True) else None for v in values]
    longest = max((items for items in held if items is not None), key=len, default=())
    ids = set(map(id, longest))
    if len({len(items) for items in held if items is not None}) > 1 and all(
            items is not None and ids.issuperset(map(id, items)) for items in held):
        return Some(longest)
    return either(values)


def part_of(owner: Value) -> Value:
    if isinstance(owner, Text):
        return Text("{…}", False, owner.given())
    return Unknown("it is computed at run time", owner.given())

LONG = 1 << 16  # of strings and lists that are made, in characters and items
WIDE = re.compile(r"\d{4}")  # in a format: a width that makes a short string a long one


def as_text(value: Value, shown: str) -> Text:
    """`value` as a string: `{shown}` where it is not known."""
    if isinstance(value, Text):
        return value
    if isinstance(value, Const):
        return Text(str(value.value))
    return Text(f"{{{shown}}}", False, value.given())


def joined(parts: list[Text]) -> Text:
    """The strings one after the other."""
    if sum(len(part.text) for part in parts) > LONG:
        return Text("{…}", False, any(part.given() for part in parts))
    whole = "".join(part.text for part in parts)
    return Text(whole, all(part.known for part in parts), any(part.given() for part in parts))


def added(left: Value, right: Value, node: ast.BinOp, spot: Spot) -> Value:
    """`left + right`."""
    if isinstance(right, Inferred):
        prefix = joined([as_text(left, ast.unparse(node.left)), right.prefix])
        return replace(right, prefix=prefix, spot=spot)
    if isinstance(left, Inferred):
        return left  # what follows an inferred schema cannot change its arguments
    if isinstance(left, Text) or isinstance(right, Text):
        text = joined([as_text(left, ast.unparse(node.left)), as_text(right, ast.unparse(node.right))])
        return replace(text, spot=spot)
    if isinstance(node.op, ast.BitOr) and isinstance(left, Table) and isinstance(right, Table):
        return Table((*left.entries, *right.entries), spot=replace(spot, literal=False))
    if isinstance(left, Some) or isinstance(right, Some):
        both = each(left), each(right)
        if both[0] is not None and both[1] is not None and len(both[0]) + len(both[1]) <= LONG:
            return Some((*both[0], *both[1]))
    a, b = as_items(left), as_items(right)
    if a is not None and b is not None and len(a.items) + len(b.items) <= LONG:
        return Items((*a.items, *b.items), a.whole and b.whole, spot=replace(spot, literal=False))
    return Unknown("it is computed at run time", left.given() or right.given())


def formatted(left: Text, right: Value) -> Value:
    values = right.items if isinstance(right, Items) else (right,)
    known = [v.text if isinstance(v, Text) else v.value for v in values
             if (isinstance(v, Text) and v.known) or isinstance(v, Const)]
    if left.known and len(known) == len(values) and not WIDE.search(left.text):
        try:
            return Text(left.text % tuple(known), spot=left.spot)
        except (TypeError, ValueError):
            pass
    return Text(left.text, False, left.given() or right.given(), spot=left.spot)


_ORDERS: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def compared(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, Const) and right.value is None:
        answer = is_none(left)
        return answer if answer is None or isinstance(op, ast.Is) else not answer
    a, b = _plain(left), _plain(right)
    if isinstance(op, (ast.Eq, ast.NotEq)) and a and b:
        return (a == b) is isinstance(op, ast.Eq)
    order = _ORDERS.get(type(op))
    if order is not None and a and b and isinstance(a[0], (int, float)) and isinstance(b[0], (int, float)):
        return order(a[0], b[0])
    if isinstance(op, (ast.In, ast.NotIn)) and a and isinstance(right, (Items, Table)):
        several = as_items(right)
        held = [_plain(item) for item in several.items] if several is not None and several.whole else [None]
        if all(held):
            return (a in held) is isinstance(op, ast.In)
    return None


def _plain(value: Value) -> tuple[object] | None:
    """A value that can be compared, in a tuple."""
    if isinstance(value, Const):
        return (value.value,)
    return (value.text,) if isinstance(value, Text) and value.known else None


def bind(target: ast.expr, value: Value, scope: Scope) -> None:
    """Give the names of an assignment's target their values."""
    if isinstance(target, ast.Name):
        spot = replace(value.spot, literal=False) if value.spot is not None else None
        scope.names[target.id] = replace(value, spot=spot) if isinstance(value, (Items, Table)) else value
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = _unpacked(value, target.elts)
        for i, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            bind(inner, parts[i] if parts else Unknown("it is computed at run time", value.given()), scope)


def _unpacked(value: Value, targets: Sequence[ast.expr]) -> tuple[Value, ...]:
    """What each of `targets` gets of `value`; nothing where that is not known, or does not fit."""
    several = as_items(value)
    held = several.items if several is not None and several.whole else ()
    starred = [i for i, target in enumerate(targets) if isinstance(target, ast.Starred)]
    more = len(held) - len(targets)
    if not starred:
        return held if more == 0 else ()
    at = starred[0]
    rest = Items(held[at : at + more + 1])
    return (*held[:at], rest, *held[at + more + 1 :]) if held and more >= -1 else ()


def sliced(owner: Value, bounds: list[Value]) -> Value:
    """`owner[a:b:c]`."""
    ends = [b.value for b in bounds if isinstance(b, Const) and (b.value is None or isinstance(b.value, int))]
    if len(ends) == len(bounds):
        if isinstance(owner, Text) and owner.known:
            return Text(owner.text[slice(*ends)], spot=owner.spot)
        if isinstance(owner, Items) and owner.whole:
            return replace(owner, items=owner.items[slice(*ends)])
    return part_of(owner)


def indexed(owner: Value, index: Value) -> Value:
    """`owner[index]`."""
    if isinstance(owner, Table) and isinstance(index, Text):
        found = owner.get(index.text) if index.known else either([v for _, v in owner.entries])
        return found if found is not None else part_of(owner)
    at = index.value if isinstance(index, Const) else None
    if isinstance(at, int):
        owner = (as_items(owner) or owner) if isinstance(owner, Instance) else owner
        if isinstance(owner, Items) and owner.whole and -len(owner.items) <= at < len(owner.items):
            return owner.items[at]
        if isinstance(owner, Text) and owner.known and -len(owner.text) <= at < len(owner.text):
            return Text(owner.text[at])
    return part_of(owner)


def is_none(value: Value) -> bool | None:
    """Whether it is None; None where that is open."""
    answers = {isinstance(v, Const) and v.value is None if not isinstance(v, (Unknown, Method, Ext)) else None
               for v in options(value)}
    return answers.pop() if len(answers) == 1 else None


def truth(value: Value) -> bool | None:
    """Whether it counts as true; None where that is open."""
    answers = {_truth(v) for v in options(value)}
    return answers.pop() if len(answers) == 1 else None


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Text):
        return bool(value.text) if value.known else None
    if isinstance(value, Items):
        return True if value.items else (False if value.whole else None)
    if isinstance(value, Table):
        return bool(value.entries)
    return True if isinstance(value, (Func, Class, Instance, Lib, Op, Inferred, Package)) else None
