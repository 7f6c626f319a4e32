"""What an expression of host code evaluates to."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from triton_mutlint.host.expressions.operators import Operators, question
from triton_mutlint.host.state.core import Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Cell, defaults, sequence
from triton_mutlint.host.values.values import (
    NONE,
    NOTHING,
    PLAIN,
    UNSEEN,
    FunctionValue,
    Resumed,
    Value,
    constant,
    join,
    present,
    thing,
)


class Evaluating(Operators):
    """Evaluates expressions; what they do on the way is noted."""

    def evaluate(self, node: ast.expr) -> Value:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            value: Value = method(node)
            return value
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
        return PLAIN

    # ------------------------------------------------------------------ leaves

    def _constant(self, node: ast.Constant) -> Value:
        return constant(node.value)

    def _name(self, node: ast.Name) -> Value:
        return self.name(node, node.id)

    def _attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def _lambda(self, node: ast.Lambda) -> Value:
        self.here.captured = True
        given = self.defaults_of(node.args)
        return thing(FunctionValue(self.here.module, node, self.closure, defaults=given))

    def _await(self, node: ast.Await) -> Value:
        """What `__await__` gives is run as `yield from` runs it."""
        value = self.evaluate(node.value)
        got = self.special(value, "__await__", (), node)
        return value if got is None else self._delegated(got, node, lambda _: True)

    def _starred(self, node: ast.Starred) -> Value:
        return self.iterate(self.evaluate(node.value), node)

    def _yield(self, node: ast.Yield) -> Value:
        self._hand_over(self.evaluate(node.value) if node.value else NONE)
        return self.here.sent

    def _yieldfrom(self, node: ast.YieldFrom) -> Value:
        return self._delegated(self.evaluate(node.value), node, self._hand_over)

    def _delegated(self, source: Value, node: ast.AST, take: Take) -> Value:
        """Run what gives values to its end; what it returns."""
        sources = {item for content in self.state.contents(source) for item in content.source.things}
        if len(sources) == 1 == len(source.cells) and isinstance(one := sources.pop(), Resumed):
            returned = self.resume(one, node, take)
            self.here.stopped |= returned is None
            return returned or NONE
        if not self.loop_over(source, node, take):
            self.here.stopped = True
        return UNSEEN

    def _hand_over(self, value: Value) -> bool:
        """Run what takes a generator's value; whether it may ask for another."""
        here = self.here
        here.yielded = value if here.yielded is None else join(here.yielded, value)
        if here.take is not None and not here.take(value):
            here.stopped = True
        return not here.stopped

    def _slice(self, node: ast.Slice) -> Value:
        parts = [self.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None]
        self.handed(parts, node)
        return PLAIN

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.state.put(self.scope_of(node.target.id), node.target.id, value)
        return value

    def _formattedvalue(self, node: ast.FormattedValue) -> Value:
        value = self.evaluate(node.value)
        self.handed([value], node)
        if node.format_spec is not None:
            self.evaluate(node.format_spec)
        elif value.constant is not None and node.conversion == -1:
            return constant(str(value.constant[1]))
        return replace(PLAIN, carried=value.carried)

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        parts = [self.evaluate(part) for part in node.values]
        if all(part.constant is not None for part in parts):
            return constant("".join(str(part.constant[1]) for part in parts if part.constant is not None))
        return replace(PLAIN, carried=NOTHING.union(*(part.carried for part in parts)))

    # ------------------------------------------------------------------ choices

    def _ifexp(self, node: ast.IfExp) -> Value:
        certain = self.condition(node.test)
        if certain is not None:
            return self.evaluate(node.body if certain else node.orelse)
        holds, fails = self.parted(node.test)
        value = self.evaluate(node.body)
        self.state = fails
        value = join(value, self.evaluate(node.orelse))
        self.state = holds
        holds.join(fails)
        return value

    def _boolop(self, node: ast.BoolOp) -> Value:
        stops_at = isinstance(node.op, ast.Or)
        values: list[Value] = []
        for operand in node.values:
            value = self.evaluate(operand)
            certain = self.tested(value, operand)
            if certain is not None and operand is not node.values[-1]:
                if certain is stops_at:
                    return join(*values, value)
                continue
            values.append(value)
        return join(*values)

    def defaults_of(self, takes: ast.arguments) -> tuple[tuple[str, Value], ...]:
        """The default values of a function that is defined in another; module-level ones are evaluated when used."""
        if self.here.name == "<module>":
            return ()
        return tuple((name, self.evaluate(default)) for name, default in defaults(takes).items())

    def parted(self, test: ast.expr) -> tuple[State, State]:
        """The states where `test` holds, which is the one to go on in, and where it does not."""
        holds, fails = self.state, self.state.copy()
        self.assume(test, True)
        self.state = fails
        self.assume(test, False)
        self.state = holds
        return holds, fails

    def assume(self, test: ast.expr, holds: bool) -> None:
        """Narrow names to what `test` tells of them (`x is None`, `not x is None`, `isinstance(x, T)`)."""
        scope, (name, about, yes) = self.here.scope, question(test)
        told = {other: parts[yes is not holds] for (one, asked, other), parts in self.state.parts.get(scope, {}).items()
                if (one, asked) == (name, about) and other}
        if told:
            self.state.names[scope] = {**self.state.names[scope], **told}
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.assume(test.operand, not holds)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            for operand in test.values:
                self.assume(operand, holds)
        elif isinstance(test, ast.Call) and self.narrows(test):
            assert isinstance(test.args[0], ast.Name)
            name = test.args[0].id
            value = self.state.get(self.here.scope, name)
            if value is not None and value.cells:
                classes = self.evaluate(test.args[1])
                self.state.put(self.here.scope, name, self.narrowed(value, classes, holds))
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
            right = test.comparators[0]
            none = isinstance(right, ast.Constant) and right.value is None
            is_none = isinstance(test.ops[0], ast.Is if holds else ast.IsNot)
            value = self.state.get(self.here.scope, test.left.id)
            if value is None:
                return
            if none and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
                self.state.put(self.here.scope, test.left.id, constant(None) if is_none else present(value))
            elif isinstance(right, (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Set)):
                said = self.compared_so(test.ops[0], value, right, holds)
                self.state.put(self.here.scope, test.left.id, said)
        elif holds and isinstance(test, ast.Name) and (value := self.state.get(self.here.scope, test.id)) is not None:
            self.state.put(self.here.scope, test.id, present(value))

    # ------------------------------------------------------------------ containers

    def displayed(self, nodes: Iterable[ast.expr]) -> tuple[list[Value], Value | None]:
        """What stands in a display or a call, in order; and any of what follows a `*` of unknown length."""
        parts: list[Value] = []
        rest: Value | None = None
        for node in nodes:
            value = self.evaluate(node.value if isinstance(node, ast.Starred) else node)
            listed, every = self.spread(value, node) if isinstance(node, ast.Starred) else ([value], value)
            if rest is None and listed is not None:
                parts.extend(listed)
            else:
                rest = join(rest or Value(), every)
        return parts, rest

    def _tuple(self, node: ast.Tuple | ast.List) -> Value:
        parts, rest = self.displayed(node.elts)
        content = sequence(parts, "tuple" if isinstance(node, ast.Tuple) else "list")
        return self.make(node, content if rest is None else replace(content, rest=rest, size=None))

    _list = _tuple

    def _set(self, node: ast.Set) -> Value:
        values = [self.evaluate(element) for element in node.elts]
        self.handed(values, node)
        known = all(value.constant is not None for value in values)
        return self.make(node, sequence(values, "list") if known else Cell(rest=join(*values)))

    def _dict(self, node: ast.Dict) -> Value:
        made = self.make(node, Cell(kind="dict", size=0))
        for key, item in zip(node.keys, node.values, strict=True):
            value, name = self.evaluate(item), None if key is None else self.evaluate(key)
            if name is None:
                self.handed([value], node)
                self.extended(made, value, node)
            else:
                self.state.change(made, name.constant[1] if name.constant is not None else None, value)
                self.key(made, name, node)
        return made

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.subscript(self.evaluate(node.value), node)

    # ------------------------------------------------------------------ comprehensions

    def _listcomp(self, node: ast.ListComp) -> Value:
        return self.gathered(self.generator(node), node)

    def _setcomp(self, node: ast.SetComp) -> Value:
        elements = self.iterate(self.generator(node), node)
        self.handed([elements], node)
        return self.make(node, Cell(rest=elements))

    def _generatorexp(self, node: ast.GeneratorExp) -> Value:
        return self.generator(node)

    def _dictcomp(self, node: ast.DictComp) -> Value:
        made = self.make(node, Cell(kind="dict", size=0))
        self.filled(made, self.generator(node), node)
        return made

    def filled(self, made: Value, pairs: Value, node: ast.AST) -> None:
        """Put pairs of keys and values into a dict."""
        def take(pair: Value) -> bool:
            key, value = self.item_of(pair, 0, node), self.item_of(pair, 1, node)
            self.state.change(made, key.constant[1] if key.constant is not None else None, value)
            self.key(made, key, node)
            return True

        self.loop_over(pairs, node, take)

    def item_of(self, value: Value, index: int, node: ast.AST) -> Value:
        """The element of a pair at `index`."""
        found = [self.state.element(value, index)] if value.cells else []
        if value.roots or value.kind or not found:
            found.append(self.iterate(replace(value, cells=frozenset()), node))
        return join(*found)
