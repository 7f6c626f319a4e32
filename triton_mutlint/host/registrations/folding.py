"""Expressions of registering code, computed as far as they can be without running anything."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.registrations.folded import (
    Args,
    Const,
    Func,
    Items,
    Late,
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
from triton_mutlint.host.registrations.folding_values import (
    added,
    as_items,
    as_text,
    bind,
    compared,
    each,
    formatted,
    indexed,
    joined,
    sliced,
    truth,
)

MAX_UNROLLED = 2_048  # elements that a loop or comprehension is followed through


class Machine(Protocol):
    """What expressions need to know of the code around them."""

    @property
    def depth(self) -> int:
        """How many calls are being followed."""

    def lookup(self, module: HostModule, name: str) -> Value:
        """What a top-level or built-in name stands for."""

    def attribute(self, owner: Value, name: str) -> Value:
        """`owner.name`."""

    def call(self, callee: Value, args: Args, node: ast.AST, module: HostModule) -> Value:
        """What a call gives; what it registers is noted."""

    def imported(self, late: Late) -> Value:
        """What an import binds a name to."""

    def store(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""

    def spend(self) -> None:
        """Count a step of work. Raises `OverBudgetError`."""


class OverBudgetError(Exception):
    """The code is too much to follow."""


def fold(node: ast.expr, scope: Scope, machine: Machine) -> Value:
    """What `node` gives, read in `scope`."""
    machine.spend()
    rule = _RULES.get(type(node))
    return rule(node, scope, machine) if rule is not None else _opaque(node, scope, machine)


def _opaque(node: ast.expr, scope: Scope, machine: Machine) -> Value:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            fold(child, scope, machine)
    return Unknown("it is computed at run time")


def _spot(node: ast.AST, scope: Scope, machine: Machine) -> Spot:
    return Spot(scope.module, node, machine.depth)


# --------------------------------------------------------------------------- atoms


def _constant(node: ast.Constant, scope: Scope, machine: Machine) -> Value:
    spot = _spot(node, scope, machine)
    return Text(node.value, spot=spot) if isinstance(node.value, str) else Const(node.value, spot=spot)


def _name(node: ast.Name, scope: Scope, machine: Machine) -> Value:
    found = scope.find(node.id)
    if found is None:
        return machine.lookup(scope.module, node.id)
    if any(isinstance(one, Late) for one in options(found)):
        return either([machine.imported(one) if isinstance(one, Late) else one for one in options(found)])
    return found


def _attribute(node: ast.Attribute, scope: Scope, machine: Machine) -> Value:
    return machine.attribute(fold(node.value, scope, machine), node.attr)


def _call(node: ast.Call, scope: Scope, machine: Machine) -> Value:
    callee = fold(node.func, scope, machine)
    return machine.call(callee, arguments(node, scope, machine), node, scope.module)


def arguments(node: ast.Call, scope: Scope, machine: Machine) -> Args:
    """The arguments of a call, those of `*items` and `**table` among them."""
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    is_open = False
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            positional.append(fold(argument, scope, machine))
            continue
        several = fold(argument.value, scope, machine)
        if isinstance(several, Items) and several.whole:
            positional.extend(several.items)
        else:
            is_open = True
            break
    for keyword in node.keywords:
        value = fold(keyword.value, scope, machine)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Table) and all(isinstance(k, Text) and k.known for k, _ in value.entries):
            keywords.update({k.text: v for k, v in value.entries if isinstance(k, Text)})
        else:
            is_open = True
    return Args(tuple(positional), keywords, is_open)


def _lambda(node: ast.Lambda, scope: Scope, machine: Machine) -> Value:
    return Func(module=scope.module, node=node, scope=scope, nested=True, spot=_spot(node, scope, machine))


# --------------------------------------------------------------------------- containers


def _items(node: ast.Tuple | ast.List | ast.Set, scope: Scope, machine: Machine) -> Value:
    found: list[Value] = []
    whole, some = True, False
    for element in node.elts:
        if not isinstance(element, ast.Starred):
            found.append(fold(element, scope, machine))
            continue
        held = fold(element.value, scope, machine)
        if isinstance(held, Some):
            some = True
            found.extend(held.items)
            continue
        several = as_items(held)
        whole = whole and several is not None and several.whole
        found.extend(several.items if several is not None else ())
    spot = _spot(node, scope, machine)
    return Some(tuple(found), spot=spot) if some and whole else Items(tuple(found), whole and not some, spot=spot)


def _table(node: ast.Dict, scope: Scope, machine: Machine) -> Value:
    entries: list[tuple[Value, Value]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        held = fold(value, scope, machine)
        if key is not None:
            entries.append((fold(key, scope, machine), held))
        elif isinstance(held, Table):
            entries.extend(held.entries)
        else:
            return Unknown("its keys are computed at run time", held.given())
    return Table(tuple(entries), spot=_spot(node, scope, machine))


def _comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope, machine: Machine) -> Value:
    if len(node.generators) != 1:
        return Unknown("it is computed at run time")
    generator = node.generators[0]
    source = fold(generator.iter, scope, machine)
    several = each(source)
    if several is None or len(several) > MAX_UNROLLED:
        return Unknown("it is computed at run time", source.given())
    found = []
    sure = not isinstance(source, Some)
    for item in several:
        inner = Scope(scope.module, scope)
        bind(generator.target, item, inner)
        answers = [truth(fold(test, inner, machine)) for test in generator.ifs]
        if False not in answers:
            sure = sure and None not in answers
            found.append(fold(node.elt, inner, machine))
    spot = _spot(node, scope, machine)
    return Items(tuple(found), spot=spot) if sure else Some(tuple(found), spot=spot)


def _dict_comprehension(node: ast.DictComp, scope: Scope, machine: Machine) -> Value:
    pairs = ast.copy_location(ast.ListComp(ast.Tuple([node.key, node.value]), node.generators), node)
    made = _comprehension(ast.copy_location(pairs, node), scope, machine)
    rows = [row.items for row in each(made) or () if isinstance(row, Items)]
    known = isinstance(made, (Items, Some))
    return Table(tuple((row[0], row[1]) for row in rows)) if known else Unknown("it is computed at run time",
                                                                                 made.given())


def _subscript(node: ast.Subscript, scope: Scope, machine: Machine) -> Value:
    owner = fold(node.value, scope, machine)
    if not isinstance(node.slice, ast.Slice):
        return indexed(owner, fold(node.slice, scope, machine))
    parts = (node.slice.lower, node.slice.upper, node.slice.step)
    return sliced(owner, [fold(part, scope, machine) if part is not None else Const() for part in parts])


# --------------------------------------------------------------------------- operators


def _joined(node: ast.JoinedStr, scope: Scope, machine: Machine) -> Value:
    parts: list[Text] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = fold(part.value, scope, machine)
            plain = part.conversion == -1 and part.format_spec is None
            parts.append(as_text(value, ast.unparse(part.value)) if plain else
                         Text(f"{{{ast.unparse(part.value)}}}", False, value.given()))
        elif isinstance(part, ast.Constant):
            parts.append(Text(str(part.value)))
    return replace(joined(parts), spot=_spot(node, scope, machine))


def _binary(node: ast.BinOp, scope: Scope, machine: Machine) -> Value:
    left, right = fold(node.left, scope, machine), fold(node.right, scope, machine)
    if isinstance(node.op, (ast.Add, ast.BitOr)):
        spot = _spot(node, scope, machine)
        both = [added(a, b, node, spot) for a in options(left) for b in options(right)]
        return either(both)
    if isinstance(node.op, ast.Mod) and isinstance(left, Text):
        return formatted(left, right)
    return Unknown("it is computed at run time", left.given() or right.given())


def _bool(node: ast.BoolOp, scope: Scope, machine: Machine) -> Value:
    is_or = isinstance(node.op, ast.Or)
    found: list[Value] = []
    for part in node.values:
        value = fold(part, scope, machine)
        answer = truth(value)
        if answer is None or answer is is_or or part is node.values[-1]:
            found.append(value)
        if answer is is_or:
            break
    return either(found)


def _not(node: ast.UnaryOp, scope: Scope, machine: Machine) -> Value:
    value = fold(node.operand, scope, machine)
    answer = truth(value)
    if isinstance(node.op, ast.Not) and answer is not None:
        return Const(not answer)
    if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(-value.value)
    return Unknown("it is computed at run time", value.given())


def _compare(node: ast.Compare, scope: Scope, machine: Machine) -> Value:
    left, right = fold(node.left, scope, machine), fold(node.comparators[0], scope, machine)
    answer = compared(node.ops[0], left, right) if len(node.ops) == 1 else None
    return Const(answer) if answer is not None else Unknown("it is decided at run time", left.given() or right.given())


def _conditional(node: ast.IfExp, scope: Scope, machine: Machine) -> Value:
    answer = truth(fold(node.test, scope, machine))
    if answer is not None:
        return fold(node.body if answer else node.orelse, scope, machine)
    return either([fold(node.body, scope, machine), fold(node.orelse, scope, machine)])


def _walrus(node: ast.NamedExpr, scope: Scope, machine: Machine) -> Value:
    value = fold(node.value, scope, machine)
    bind(node.target, value, scope)
    return value


_RULES: Mapping[type[ast.expr], Callable[[Any, Scope, Machine], Value]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.Call: _call, ast.Lambda: _lambda,
    ast.Tuple: _items, ast.List: _items, ast.Set: _items, ast.Dict: _table, ast.ListComp: _comprehension,
    ast.DictComp: _dict_comprehension, ast.SetComp: _comprehension, ast.GeneratorExp: _comprehension,
    ast.Subscript: _subscript, ast.JoinedStr: _joined, ast.BinOp: _binary, ast.BoolOp: _bool, ast.UnaryOp: _not,
    ast.Compare: _compare, ast.IfExp: _conditional, ast.NamedExpr: _walrus,
}  # fmt: skip
