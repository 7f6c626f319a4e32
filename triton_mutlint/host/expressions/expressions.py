"""What an expression of host code evaluates to."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from triton_mutlint.host.expressions.operators import OperatorsMixin
from triton_mutlint.host.state.core import Activation
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import defaults
from triton_mutlint.host.values.cells import KEYS, Cell, sequence
from triton_mutlint.host.values.values import (
    NOTHING,
    PLAIN,
    UNSEEN,
    CellId,
    FunctionValue,
    Value,
    constant,
    join,
    present,
    thing,
)


class ExpressionsMixin(OperatorsMixin):
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
