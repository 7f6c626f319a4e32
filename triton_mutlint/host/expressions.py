"""What an expression of host code evaluates to."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from triton_mutlint.host.arguments import defaults
from triton_mutlint.host.attributes import AttributesMixin
from triton_mutlint.host.core import Activation
from triton_mutlint.host.state import State
from triton_mutlint.host.values import (
    KEYS,
    NOTHING,
    PLAIN,
    TENSOR,
    UNSEEN,
    Cell,
    CellId,
    FunctionValue,
    Kind,
    Value,
    constant,
    is_callable,
    is_plain,
    join,
    present,
    sequence,
    thing,
)

_FOLDED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_NUMBERS = (int, float, bool)
_LARGE = 1 << 64  # of numbers that are folded
_LONG = 1 << 12  # of strings, in characters
OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.Mod: "mod",
    ast.FloorDiv: "floordiv", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or",
    ast.BitXor: "xor", ast.BitAnd: "and",
}  # fmt: skip
UNARY: dict[type, str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_COMPARING: dict[type, tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__eq__"), ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__"),
}  # fmt: skip


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
        given = self.defaults_of(node.args, state, here)
        return thing(FunctionValue(here.module, node, None if here.name == "<module>" else here.scope, defaults=given))

    def _await(self, node: ast.Await, state: State, here: Activation) -> Value:
        return self.evaluate(node.value, state, here)

    def _starred(self, node: ast.Starred, state: State, here: Activation) -> Value:
        return self.iterate(self.evaluate(node.value, state, here), node, state, here)

    def _yield(self, node: ast.Yield, state: State, here: Activation) -> Value:
        value = self.evaluate(node.value, state, here) if node.value else PLAIN
        here.yielded = value if here.yielded is None else join(here.yielded, value)
        return here.sent

    def _yieldfrom(self, node: ast.YieldFrom, state: State, here: Activation) -> Value:
        value = self.iterate(self.evaluate(node.value, state, here), node, state, here)
        here.yielded = value if here.yielded is None else join(here.yielded, value)
        return join(value, UNSEEN)

    def _namedexpr(self, node: ast.NamedExpr, state: State, here: Activation) -> Value:
        value = self.evaluate(node.value, state, here)
        state.put(self.scope_of(node.target.id, state, here), node.target.id, value)
        return value

    def _formattedvalue(self, node: ast.FormattedValue, state: State, here: Activation) -> Value:
        value = self.evaluate(node.value, state, here)
        self.special(value, ("__format__", "__str__", "__repr__"), (PLAIN,), node, state, here)
        if node.format_spec is not None:
            self.evaluate(node.format_spec, state, here)
        return replace(PLAIN, carried=value.carried)

    def _joinedstr(self, node: ast.JoinedStr, state: State, here: Activation) -> Value:
        parts = [self.evaluate(part, state, here) for part in node.values]
        return replace(PLAIN, carried=NOTHING.union(*(part.carried for part in parts)))

    # ------------------------------------------------------------------ choices

    def _ifexp(self, node: ast.IfExp, state: State, here: Activation) -> Value:
        certain = self.condition(node.test, state, here)
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
            certain = self.tested(value, operand, state, here)
            if certain is not None and operand is not node.values[-1]:
                if certain is stops_at:
                    return join(*values, value)
                continue
            values.append(value)
        return join(*values)

    def defaults_of(self, takes: ast.arguments, state: State, here: Activation) -> tuple[tuple[str, Value], ...]:
        """The default values of a function that is defined in another; module-level ones are evaluated when used."""
        if here.name == "<module>":
            return ()
        return tuple((name, self.evaluate(default, state, here)) for name, default in defaults(takes).items())

    def assume(self, test: ast.expr, holds: bool, state: State, here: Activation) -> None:
        """Narrow names to what `test` says of them (`x is None`, `not x is None`, `isinstance(x, T)`)."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.assume(test.operand, not holds, state, here)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            for operand in test.values:
                self.assume(operand, holds, state, here)
        elif isinstance(test, ast.Call) and self.narrows(test):
            assert isinstance(test.args[0], ast.Name)
            name = test.args[0].id
            value = state.get(here.scope, name)
            if value is not None and value.cells:
                classes = self.evaluate(test.args[1], state, here)
                state.put(here.scope, name, self.narrowed(value, classes, holds, state))
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
            right = test.comparators[0]
            none = isinstance(right, ast.Constant) and right.value is None
            told = isinstance(test.ops[0], ast.Is if holds else ast.IsNot)
            value = state.get(here.scope, test.left.id)
            if none and value is not None and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
                state.put(here.scope, test.left.id, constant(None) if told else present(value))
        elif holds and isinstance(test, ast.Name) and (value := state.get(here.scope, test.id)) is not None:
            state.put(here.scope, test.id, present(value))

    def _compare(self, node: ast.Compare, state: State, here: Activation) -> Value:
        values = [self.evaluate(part, state, here) for part in (node.left, *node.comparators)]
        if len(values) == 2:
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and self._holds(values[1], values[0], state):
                return constant(isinstance(node.ops[0], ast.In))
            folded = self._compared(node.ops[0], values[0], values[1])
            if folded is not None:
                return folded
        found = [got for op, one, other in zip(node.ops, values, values[1:], strict=False)
                 if (got := self._compared_by(op, one, other, node, state, here)) is not None]
        result = _result(values)
        return join(result, *found) if found else replace(result, wide=bool(result.kind & Kind.TENSOR))

    def _compared_by(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST, state: State,
                     here: Activation) -> Value | None:
        """What the special methods of objects give that are compared."""
        if isinstance(op, (ast.In, ast.NotIn)):
            got = self.special(right, "__contains__", (left,), node, state, here)
            if got is None and right.cells:
                self.iterate(right, node, state, here)
            return got
        names = _COMPARING.get(type(op))
        if names is None:
            return None
        ours = self.special(left, names, (right,), node, state, here)
        theirs = self.special(right, names[::-1], (left,), node, state, here)
        return join(ours or Value(), theirs or Value()) if ours or theirs else None

    @staticmethod
    def _holds(container: Value, key: Value, state: State) -> bool:
        """Whether a value is a dict that has the key for certain."""
        if key.constant is None or not container.cells or container.things or container.roots or container.kind:
            return False
        return all(key.constant[1] in content.certain for content in state.contents(container))

    def _compared(self, op: ast.cmpop, left: Value, right: Value) -> Value | None:
        if isinstance(op, (ast.Is, ast.IsNot)) and right.is_constant(None):
            if left.constant is not None:
                return constant((left.constant[1] is None) is isinstance(op, ast.Is))
            if is_callable(left) or (left.cells and not left.things and not left.kind and not left.roots):
                return constant(isinstance(op, ast.IsNot))
            if left.some:
                return constant(isinstance(op, ast.IsNot))
        if isinstance(op, (ast.Is, ast.IsNot)) and is_callable(left) and is_callable(right):
            (one, *more), (other, *others) = left.things, right.things
            apart = getattr(one, "node", None) is not getattr(other, "node", None)
            traced = self.tracing and getattr(one, "wrapped", False) != getattr(other, "wrapped", False)
            if not more and not others and (apart or traced):
                return constant(isinstance(op, ast.IsNot))
        return _folded(op, left, right)

    # ------------------------------------------------------------------ arithmetic

    def _binop(self, node: ast.BinOp, state: State, here: Activation) -> Value:
        left, right = self.evaluate(node.left, state, here), self.evaluate(node.right, state, here)
        folded = _folded(node.op, left, right)
        if folded is not None:
            return folded
        got = self.operated(node.op, left, right, node, state, here)
        if got is not None:
            return got
        if left.cells and (isinstance(node.op, (ast.Add, ast.Mult, ast.BitOr))):
            return self._joined_containers(node, left, right, state, here)
        if right.cells and isinstance(node.op, (ast.Add, ast.Mult)):
            return self._joined_containers(node, right, left, state, here)
        wide = isinstance(node.op, (ast.BitAnd, ast.BitOr)) and left.wide and right.wide
        return replace(_result([left, right]), carried=left.carried | right.carried, wide=wide)

    def operated(self, op: ast.operator, left: Value, right: Value, node: ast.AST, state: State,
                 here: Activation) -> Value | None:
        """What the special methods of first-party objects give for an operator; in place first."""
        if not left.cells and not right.cells:
            return None
        name = OPERATORS.get(type(op), "")
        before = (f"__i{name}__",) if isinstance(node, ast.AugAssign) else ()
        ours = self.special(left, (*before, f"__{name}__"), (right,), node, state, here)
        theirs = self.special(right, f"__r{name}__", (left,), node, state, here)
        return join(ours or Value(), theirs or Value()) if ours or theirs else None

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
        rest = join(rest, *(self.iterate(v, node, state, here) for v in (left, right) if v.roots))
        return self.make(node, Cell(fields, rest, kind=ours[0].kind if ours else "list"), state, here)

    def _unaryop(self, node: ast.UnaryOp, state: State, here: Activation) -> Value:
        value = self.evaluate(node.operand, state, here)
        if isinstance(node.op, ast.Not):
            certain = self.tested(value, node, state, here)
            return PLAIN if certain is None else constant(not certain)
        if value.constant is not None and isinstance(value.constant[1], _NUMBERS) and isinstance(node.op, ast.USub):
            return constant(-value.constant[1])
        got = self.special(value, UNARY[type(node.op)], (), node, state, here)
        return got if got is not None else replace(_result([value]), carried=value.carried, wide=value.wide)

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
                elif rest != Value():
                    fields = {k: join(v, rest) for k, v in fields.items()}
                continue
            name = self.evaluate(key, state, here)
            if name.roots or name.cells or name.things:
                fields[KEYS] = join(fields.get(KEYS, Value()), name)
            if name.constant is not None:
                fields[name.constant[1]] = value
            else:
                rest = join(rest, value)
                fields = {k: join(v, rest) for k, v in fields.items()}
        return self.make(node, Cell(fields, rest, kind="dict"), state, here)

    def _subscript(self, node: ast.Subscript, state: State, here: Activation) -> Value:
        return self.subscript(self.evaluate(node.value, state, here), node, state, here)

    # ------------------------------------------------------------------ comprehensions

    def _listcomp(self, node: ast.ListComp | ast.SetComp, state: State, here: Activation) -> Value:
        value = self._comprehended(node, [node.elt], state, here)[0]
        return self.make(node, Cell(rest=value), state, here)

    _setcomp = _listcomp

    def _generatorexp(self, node: ast.GeneratorExp, state: State, here: Activation) -> Value:
        return self.generator(node, state, here)

    def _dictcomp(self, node: ast.DictComp, state: State, here: Activation) -> Value:
        key, value = self._comprehended(node, [node.key, node.value], state, here)
        made = self.make(node, Cell(rest=value, kind="dict"), state, here)
        self.key(made, key, state)
        return made

    def _comprehended(self, node: ast.ListComp | ast.SetComp | ast.DictComp,
                      results: list[ast.expr], state: State, here: Activation) -> list[Value]:
        """The results of any round; its variables are its own, and what is made in it is made in each."""
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        saved = {name: state.get(here.scope, name) for name in own}
        before: set[CellId] | None = None
        for generator in node.generators:
            source = self.evaluate(generator.iter, state, here)
            before = set(state.heap) if before is None else before
            self.assign(generator.target, self.iterate(source, generator.iter, state, here), state, here)
            for condition in generator.ifs:
                self.condition(condition, state, here)
        values = [self.evaluate(result, state, here) for result in results]
        for cell in state.heap.keys() - (before or set()):
            state.store(cell, replace(state.heap[cell], many=True))
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
        result = function(a, b)
        large = len(result) > _LONG if isinstance(result, str) else isinstance(result, int) and abs(result) > _LARGE
        return None if large else constant(result)
    except (ArithmeticError, TypeError, ValueError):
        return None


def _result(values: list[Value]) -> Value:
    """What arithmetic gives: a new tensor, or something plain, such as an address and an offset."""
    if any(v.kind & Kind.TENSOR or v.same or v.maybe or v.unsure for v in values):
        return TENSOR
    return PLAIN if all(map(is_plain, values)) else Value(kind=Kind.PLAIN | Kind.OTHER)
