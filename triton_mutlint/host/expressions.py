"""What an expression of host code evaluates to."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from triton_mutlint.host.attributes import AttributesMixin
from triton_mutlint.host.core import Activation
from triton_mutlint.host.state import State
from triton_mutlint.host.values import (
    PLAIN,
    TENSOR,
    UNSEEN,
    Cell,
    FunctionValue,
    Kind,
    Value,
    constant,
    is_callable,
    join,
    sequence,
    thing,
    truth,
)

_FOLDED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_NUMBERS = (int, float, bool)


class ExpressionsMixin(AttributesMixin):
    """Evaluates expressions; what they do on the way is noted."""

    def evaluate(self, node: ast.expr, state: State, here: Activation) -> Value:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            value: Value = method(node, state, here)
            return value
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, state, here)
        return PLAIN

    # ------------------------------------------------------------------ leaves

    def _constant(self, node: ast.Constant, state: State, here: Activation) -> Value:
        return constant(node.value)

    def _name(self, node: ast.Name, state: State, here: Activation) -> Value:
        return self.name(node, node.id, state, here)

    def _attribute(self, node: ast.Attribute, state: State, here: Activation) -> Value:
        return self.attribute(self.evaluate(node.value, state, here), node.attr, node, state, here)

    def _lambda(self, node: ast.Lambda, state: State, here: Activation) -> Value:
        here.captured = True
        return thing(FunctionValue(here.module, node, None if here.name == "<module>" else here.scope))

    def _await(self, node: ast.Await, state: State, here: Activation) -> Value:
        return self.evaluate(node.value, state, here)

    def _starred(self, node: ast.Starred, state: State, here: Activation) -> Value:
        return self.iterate(self.evaluate(node.value, state, here), node, state, here)

    def _yield(self, node: ast.Yield, state: State, here: Activation) -> Value:
        value = self.evaluate(node.value, state, here) if node.value else PLAIN
        here.yielded = value if here.yielded is None else join(here.yielded, value)
        return UNSEEN

    def _yieldfrom(self, node: ast.YieldFrom, state: State, here: Activation) -> Value:
        value = self.iterate(self.evaluate(node.value, state, here), node, state, here)
        here.yielded = value if here.yielded is None else join(here.yielded, value)
        return UNSEEN

    def _namedexpr(self, node: ast.NamedExpr, state: State, here: Activation) -> Value:
        value = self.evaluate(node.value, state, here)
        state.put(here.scope, node.target.id, value)
        return value

    # ------------------------------------------------------------------ choices

    def _ifexp(self, node: ast.IfExp, state: State, here: Activation) -> Value:
        certain = truth(self.evaluate(node.test, state, here))
        if certain is not None:
            return self.evaluate(node.body if certain else node.orelse, state, here)
        other = state.copy()
        self.assume(node.test, True, state, here)
        self.assume(node.test, False, other, here)
        values = self.evaluate(node.body, state, here), self.evaluate(node.orelse, other, here)
        state.join(other)
        return join(*values)

    def _boolop(self, node: ast.BoolOp, state: State, here: Activation) -> Value:
        stops_at = isinstance(node.op, ast.Or)
        values: list[Value] = []
        for operand in node.values:
            value = self.evaluate(operand, state, here)
            certain = truth(value)
            if certain is not None and operand is not node.values[-1]:
                if certain is stops_at:
                    return join(*values, value)
                continue
            values.append(value)
        return join(*values)

    def assume(self, test: ast.expr, holds: bool, state: State, here: Activation) -> None:
        """Narrow names to what `test` says of them (`x is None`, `not x is None`)."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.assume(test.operand, not holds, state, here)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            for operand in test.values:
                self.assume(operand, holds, state, here)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
            right = test.comparators[0]
            none = isinstance(right, ast.Constant) and right.value is None
            told = isinstance(test.ops[0], ast.Is if holds else ast.IsNot)
            if none and told and state.get(here.scope, test.left.id) is not None:
                state.put(here.scope, test.left.id, constant(None))

    def _compare(self, node: ast.Compare, state: State, here: Activation) -> Value:
        values = [self.evaluate(part, state, here) for part in (node.left, *node.comparators)]
        if len(values) == 2:
            folded = self._compared(node.ops[0], values[0], values[1])
            if folded is not None:
                return folded
        return _result(values)

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> Value | None:
        if isinstance(op, (ast.Is, ast.IsNot)) and right.is_constant(None):
            if left.constant is not None:
                return constant((left.constant[1] is None) is isinstance(op, ast.Is))
            if is_callable(left) or (left.cells and not left.things and not left.kind and not left.roots):
                return constant(isinstance(op, ast.IsNot))
        return _folded(op, left, right)

    # ------------------------------------------------------------------ arithmetic

    def _binop(self, node: ast.BinOp, state: State, here: Activation) -> Value:
        left, right = self.evaluate(node.left, state, here), self.evaluate(node.right, state, here)
        folded = _folded(node.op, left, right)
        if folded is not None:
            return folded
        if left.cells and (isinstance(node.op, (ast.Add, ast.Mult, ast.BitOr))):
            return self._joined_containers(node, left, right, state, here)
        return replace(_result([left, right]), carried=left.carried | right.carried)

    def _joined_containers(self, node: ast.BinOp, left: Value, right: Value, state: State, here: Activation) -> Value:
        """`a + b`, `a * n`, `a | b` of tuples, lists and dicts."""
        ours, theirs = state.contents(left), state.contents(right)
        if isinstance(node.op, ast.Add) and len(ours) == len(theirs) == 1:
            one, other = ours[0], theirs[0]
            if one.size is not None and other.size is not None:
                parts = [c.get(i) or c.rest for c in (one, other) for i in range(c.size or 0)]
                return self.make(node, sequence(parts, one.kind), state, here)
        fields = {k: v for c in (*ours, *theirs) if c.kind == "dict" for k, v in c.fields.items()}
        rest = join(*(c.rest if c.kind == "dict" else c.every() for c in (*ours, *theirs)))
        return self.make(node, Cell(fields, rest, kind=ours[0].kind if ours else "list"), state, here)

    def _unaryop(self, node: ast.UnaryOp, state: State, here: Activation) -> Value:
        value = self.evaluate(node.operand, state, here)
        if isinstance(node.op, ast.Not):
            certain = truth(value)
            return PLAIN if certain is None else constant(not certain)
        if value.constant is not None and isinstance(value.constant[1], _NUMBERS) and isinstance(node.op, ast.USub):
            return constant(-value.constant[1])
        return _result([value])

    # ------------------------------------------------------------------ containers

    def _tuple(self, node: ast.Tuple | ast.List, state: State, here: Activation) -> Value:
        kind = "tuple" if isinstance(node, ast.Tuple) else "list"
        parts: list[Value] = []
        rest: Value | None = None
        for element in node.elts:
            if isinstance(element, ast.Starred):
                value = self.evaluate(element.value, state, here)
                contents = state.contents(value)
                if rest is None and len(contents) == 1 and contents[0].size is not None and contents[0].kind != "dict":
                    parts.extend(contents[0].get(i) or contents[0].rest for i in range(contents[0].size))
                    continue
                every = self.iterate(value, element, state, here)
                rest = every if rest is None else join(rest, every)
            elif rest is None:
                parts.append(self.evaluate(element, state, here))
            else:
                rest = join(rest, self.evaluate(element, state, here))
        content = sequence(parts, kind)
        if rest is not None:
            content = replace(content, rest=rest, size=None)
        return self.make(node, content, state, here)

    _list = _tuple

    def _set(self, node: ast.Set, state: State, here: Activation) -> Value:
        values = [self.evaluate(element, state, here) for element in node.elts]
        return self.make(node, Cell(rest=join(*values)), state, here)

    def _dict(self, node: ast.Dict, state: State, here: Activation) -> Value:
        fields: dict[Any, Value] = {}
        rest = Value()
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.evaluate(item, state, here)
            if key is None:
                for content in state.contents(value):
                    fields.update(content.fields)
                    rest = join(rest, content.rest)
                if not value.cells:
                    rest = join(rest, value)
                continue
            name = self.evaluate(key, state, here)
            if name.constant is not None:
                fields[name.constant[1]] = value
            else:
                rest = join(rest, value)
        return self.make(node, Cell(fields, rest, kind="dict"), state, here)

    def _subscript(self, node: ast.Subscript, state: State, here: Activation) -> Value:
        return self.subscript(self.evaluate(node.value, state, here), node, state, here)

    # ------------------------------------------------------------------ comprehensions

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, state: State, here: Activation) -> Value:
        value = self._comprehended(node, [node.elt], state, here)[0]
        return self.make(node, Cell(rest=value), state, here)

    _setcomp = _listcomp
    _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp, state: State, here: Activation) -> Value:
        value = self._comprehended(node, [node.value, node.key], state, here)[0]
        return self.make(node, Cell(rest=value, kind="dict"), state, here)

    def _comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
                      results: list[ast.expr], state: State, here: Activation) -> list[Value]:
        """The results of one round; its variables are its own."""
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        saved = {name: state.get(here.scope, name) for name in own}
        for generator in node.generators:
            source = self.evaluate(generator.iter, state, here)
            self.assign(generator.target, self.iterate(source, generator.iter, state, here), state, here)
            for condition in generator.ifs:
                self.evaluate(condition, state, here)
        values = [self.evaluate(result, state, here) for result in results]
        state.restore(here.scope, saved)
        return values


def _folded(op: ast.operator | ast.cmpop, left: Value, right: Value) -> Value | None:
    """The constant that two constants give, where it is cheap and certain."""
    function = _FOLDED.get(type(op))
    if function is None or left.constant is None or right.constant is None:
        return None
    a, b = left.constant[1], right.constant[1]
    equality = isinstance(op, (ast.Eq, ast.NotEq))
    both = isinstance(a, str) and isinstance(b, str) and isinstance(op, ast.Add)
    if not (equality or both or (isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS))):
        return None
    try:
        return constant(function(a, b))
    except (ArithmeticError, TypeError, ValueError):
        return None


def _result(values: list[Value]) -> Value:
    """What arithmetic gives: a new tensor, or something plain."""
    if any(v.kind & Kind.TENSOR or v.same or v.maybe for v in values):
        return TENSOR
    return PLAIN if all(v.kind == Kind.PLAIN for v in values) else Value(kind=Kind.PLAIN | Kind.OTHER)
