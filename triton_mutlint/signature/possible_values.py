"""Expressions in a kernel's source, as `possible_stores` follows them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from triton_mutlint.signature.evaluate import UNKNOWN
from triton_mutlint.signature.held import NOTHING, Held, compared, constant, either, mixed
from triton_mutlint.signature.possible_calls import Calls, Env, of_global


class Expressions(Calls):
    """The part of a walk over a function's body that evaluates what is in its statements."""

    namespace: Mapping[str, Any]
    env: Env

    def bind(self, target: ast.expr, value: Held) -> None:
        """`target = value`."""
        raise NotImplementedError

    def eval(self, node: ast.expr) -> Held:
        return _EXPRESSIONS.get(type(node), Expressions.whatever)(self, node)

    def whatever(self, node: ast.AST) -> Held:
        """Any other expression may be made of all that is in it."""
        return mixed(self.eval(n) if isinstance(n, ast.expr) else self.whatever(n) for n in ast.iter_child_nodes(node))

    def name(self, node: ast.Name) -> Held:
        if node.id in self.env:
            return self.env[node.id]
        found = self.namespace.get(node.id, getattr(builtins, node.id, UNKNOWN))
        if found is UNKNOWN:
            found = self.stores.helper(UNKNOWN, node.id) or UNKNOWN
        return of_global(found)

    def attribute(self, node: ast.Attribute) -> Held:
        return self.member(self.eval(node.value), node.attr)

    def sequence(self, node: ast.Tuple | ast.List) -> Held:
        if isinstance(node, ast.List) or any(isinstance(e, ast.Starred) for e in node.elts):
            return replace(self.whatever(node), is_open=True)  # what a list holds may change
        return Held(items=tuple(self.eval(e) for e in node.elts))

    def subscript(self, node: ast.Subscript) -> Held:
        owner = self.eval(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [NOTHING if b is None else self.eval(b) for b in (node.slice.lower, node.slice.upper)]
            fixed = [None if b is None else v.value
                     for b, v in zip((node.slice.lower, node.slice.upper), bounds, strict=True)]
            known = UNKNOWN not in fixed and not (owner.roots and any(b is not None and b < 0 for b in fixed))
            if owner.items is not None and node.slice.step is None and known:
                return Held(owner.roots, owner.items[slice(*fixed)])
            return replace(mixed((owner, *bounds)), is_open=True)
        index = self.eval(node.slice)
        self.overloaded(owner, index)
        return owner.element(index)

    def binary(self, node: ast.BinOp) -> Held:
        left, right = self.eval(node.left), self.eval(node.right)
        self.overloaded(left, right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return left + right if isinstance(node.op, ast.Add) else mixed((left, right))
        return mixed((left.number(), right.number()))  # no pointer is multiplied, shifted or masked

    def compare(self, node: ast.Compare) -> Held:
        values = [self.eval(n) for n in (node.left, *node.comparators)]
        self.overloaded(*values)
        return compared(node, values[0], values[1])

    def unary(self, node: ast.UnaryOp) -> Held:
        value = self.eval(node.operand)
        self.overloaded(value)
        if isinstance(node.op, ast.Not):
            return NOTHING if value.value is UNKNOWN else Held(value=not value.value)
        negated = isinstance(node.op, ast.USub) and isinstance(value.value, int | float)
        return Held(value=-value.value) if negated else mixed((value,))

    def choice(self, node: ast.IfExp) -> Held:
        test = self.eval(node.test)
        if test.value is not UNKNOWN:
            return self.eval(node.body if test.value else node.orelse)
        return either(self.eval(node.body), self.eval(node.orelse))

    def chain(self, node: ast.BoolOp) -> Held:
        values = [self.eval(n) for n in node.values]
        stops = isinstance(node.op, ast.Or)
        for index, value in enumerate(values):
            if value.value is UNKNOWN:
                return either(*values[index:])
            if bool(value.value) is stops:
                return value
        return values[-1]

    def walrus(self, node: ast.NamedExpr) -> Held:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Held:
        for part in node.generators:
            self.bind(part.target, self.eval(part.iter).any_element())
            for test in part.ifs:
                self.eval(test)
        return replace(mixed((self.eval(node.elt),)), is_open=True)

    def nothing(self, node: ast.expr) -> Held:
        self.whatever(node)
        return NOTHING

    def literal(self, node: ast.Constant) -> Held:
        return constant(node.value)


_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any], Held]] = {
    ast.Name: Expressions.name, ast.Attribute: Expressions.attribute, ast.Tuple: Expressions.sequence,
    ast.List: Expressions.sequence, ast.Subscript: Expressions.subscript, ast.BinOp: Expressions.binary,
    ast.Compare: Expressions.compare, ast.UnaryOp: Expressions.unary, ast.IfExp: Expressions.choice,
    ast.BoolOp: Expressions.chain, ast.NamedExpr: Expressions.walrus, ast.Constant: Expressions.literal,
    ast.ListComp: Expressions.comprehension, ast.GeneratorExp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension, ast.JoinedStr: Expressions.nothing, ast.Call: Expressions.call,
}  # fmt: skip
