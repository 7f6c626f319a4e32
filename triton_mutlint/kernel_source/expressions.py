"""Expressions in a kernel's source, as the walk follows them."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from triton_mutlint.kernel_source.calls import Calls
from triton_mutlint.kernel_source.folding import compared, computed, text_of
from triton_mutlint.kernel_source.objects import UNKNOWN
from triton_mutlint.kernel_source.slots import NO_TRACE
from triton_mutlint.kernel_source.values import NO_ROOTS, NOTHING, Env, MayBe, constant, either, mixed, of_global
from triton_mutlint.source.function_text import TRITON_NAMES


class Expressions(Calls):
    """The part of a walk over a function's body that evaluates what is in its statements."""

    namespace: Mapping[str, Any]
    env: Env

    def bind(self, target: ast.expr, value: MayBe) -> None:
        """`target = value`."""
        raise NotImplementedError

    def eval(self, node: ast.expr) -> MayBe:
        found = getattr(self, _EXPRESSIONS.get(type(node), "whatever"))(node)
        assert isinstance(found, MayBe)
        return found

    def whatever(self, node: ast.AST) -> MayBe:
        """Any other expression may be made of all that is in it."""
        return mixed(self.eval(n) if isinstance(n, ast.expr) else self.whatever(n) for n in ast.iter_child_nodes(node))

    def name(self, node: ast.Name) -> MayBe:
        if node.id in self.env:
            return self.env[node.id]
        known = self.walk.outside.held(self.namespace, node.id)
        if known is not None:
            return known
        found = self.namespace.get(node.id, getattr(builtins, node.id, UNKNOWN))
        if found is UNKNOWN:
            # `tl` is known where a part of a file is looked at without its imports; this package imports no Triton.
            found = self.walk.helper(UNKNOWN, node.id) or sys.modules.get(TRITON_NAMES.get(node.id, ""), UNKNOWN)
            if found is UNKNOWN:  # then Triton refuses the kernel
                self.done(f"{node.id} is not defined", NO_ROOTS)
                return of_global(found)
        return self.walk.outside.hold(self.namespace, node.id, found)

    def attribute(self, node: ast.Attribute) -> MayBe:
        owner = self.eval(node.value)
        return self.show(node).field(owner, node.attr, self.member(owner, node.attr))

    def sequence(self, node: ast.Tuple | ast.List) -> MayBe:
        if isinstance(node, ast.List) or any(isinstance(e, ast.Starred) for e in node.elts):
            return replace(self.whatever(node), is_open=True)  # what a list holds may change
        return MayBe(items=tuple(self.eval(e) for e in node.elts))

    def subscript(self, node: ast.Subscript) -> MayBe:
        owner = self.eval(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [NOTHING if b is None else self.eval(b) for b in (node.slice.lower, node.slice.upper)]
            self.consult(*bounds)
            fixed = [None if b is None else v.value
                     for b, v in zip((node.slice.lower, node.slice.upper), bounds, strict=True)]
            known = UNKNOWN not in fixed and not (owner.roots and any(b is not None and b < 0 for b in fixed))
            if owner.items is not None and node.slice.step is None and known:
                return MayBe(owner.roots, owner.items[slice(*fixed)])
            return replace(mixed((owner, *bounds)), is_open=True, start=owner.start, trace=owner.made)
        index = self.eval(node.slice)
        self.overloaded(owner, index)
        self.consult(index)
        if owner.items is None and not owner.kinds and _only_adds_dimensions(node.slice):
            return owner
        return owner.element(index)

    def binary(self, node: ast.BinOp) -> MayBe:
        left, right = self.eval(node.left), self.eval(node.right)
        self.overloaded(left, right)
        return self.show(node).binary(node, left, right, self.combine(node.op, left, right))

    def combine(self, op: ast.operator, left: MayBe, right: MayBe) -> MayBe:
        """What an operator makes of two values."""
        found = None if left.kinds or right.kinds else computed(op, left, right)
        if found is not None:
            return found
        if left.is_known and right.is_known:
            return MayBe(of=left.of | right.of)
        if isinstance(op, ast.Add):
            return left + right
        # no pointer is subtracted, multiplied, shifted or masked
        return mixed((left if isinstance(op, ast.Sub) else left.number(), right.number()))

    def compare(self, node: ast.Compare) -> MayBe:
        values = [self.eval(n) for n in (node.left, *node.comparators)]
        self.overloaded(*values)
        return self.show(node).compare(node, values, compared(node, values[0], values[1]))

    def unary(self, node: ast.UnaryOp) -> MayBe:
        operand = self.eval(node.operand)
        self.overloaded(operand)
        negated = isinstance(node.op, ast.USub) and isinstance(operand.value, int | float)
        value = constant(-operand.value) if negated else mixed((operand,))
        if isinstance(node.op, ast.Not):
            value = NOTHING if not operand.is_known else constant(not operand.value)
        value = replace(value, of=operand.of) if operand.of else value
        return self.show(node).unary(node, operand, value)

    def choice(self, node: ast.IfExp) -> MayBe:
        test = self.eval(node.test)
        self.consult(test)
        if test.is_known:
            return self.eval(node.body if test.value else node.orelse)
        left, right = self.eval(node.body), self.eval(node.orelse)
        return self.show(node).choice(test, left, right, either(left, right))

    def chain(self, node: ast.BoolOp) -> MayBe:
        stops, values = isinstance(node.op, ast.Or), list[MayBe]()
        for part in node.values:
            values.append(self.eval(part))
            self.consult(values[-1])
            if values[-1].is_known and bool(values[-1].value) is stops:
                break  # what follows is not compiled
        return self.show(node).chain(values, self.first_of(values, stops))

    def first_of(self, values: list[MayBe], stops: bool) -> MayBe:
        """What `and` or `or` gives."""
        for index, value in enumerate(values):
            if not value.is_known:
                return either(*values[index:])
            if bool(value.value) is stops:
                return value
        return values[-1]

    def walrus(self, node: ast.NamedExpr) -> MayBe:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> MayBe:
        for part in node.generators:
            self.bind(part.target, self.eval(part.iter).any_element())
            for test in part.ifs:
                self.eval(test)
        return replace(mixed((self.eval(node.elt),)), is_open=True, trace=NO_TRACE)

    def text(self, node: ast.JoinedStr) -> MayBe:
        parts = [self.eval(part) for part in node.values]
        return replace(text_of(parts), of=frozenset[str]().union(*(part.of for part in parts)))

    def formatted(self, node: ast.FormattedValue) -> MayBe:
        value = self.eval(node.value)
        return value if node.conversion < 0 and node.format_spec is None else MayBe(of=value.of)

    def literal(self, node: ast.Constant) -> MayBe:
        return constant(node.value)


def _only_adds_dimensions(index: ast.expr) -> bool:
    """Whether it is `[:, None]`, say, which leaves the elements what they are."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None) for part in parts)


_EXPRESSIONS: dict[type[ast.expr], str] = {
    ast.Name: "name", ast.Attribute: "attribute", ast.Tuple: "sequence",
    ast.List: "sequence", ast.Subscript: "subscript", ast.BinOp: "binary",
    ast.Compare: "compare", ast.UnaryOp: "unary", ast.IfExp: "choice",
    ast.BoolOp: "chain", ast.NamedExpr: "walrus", ast.Constant: "literal",
    ast.ListComp: "comprehension", ast.GeneratorExp: "comprehension",
    ast.SetComp: "comprehension", ast.JoinedStr: "text", ast.FormattedValue: "formatted",
    ast.Call: "call",
}  # fmt: skip
