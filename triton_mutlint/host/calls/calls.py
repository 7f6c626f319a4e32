"""Calls in host code: what is called, with what, and what comes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from triton_mutlint.host.calls.objects import ObjectsMixin
from triton_mutlint.host.launches.launches import LaunchesMixin
from triton_mutlint.host.library.library import LibraryMixin
from triton_mutlint.host.modules.module import External, HostModule
from triton_mutlint.host.state.core import text_of
from triton_mutlint.host.torch.calls import TorchCallsMixin
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.values import (
    UNSEEN,
    Attribute,
    BoundMethod,
    CellId,
    ClassValue,
    FunctionValue,
    KernelMethod,
    KernelValue,
    Partial,
    Resumed,
    Sort,
    Super,
    Thing,
    Value,
    join,
)


class Interpreter(LibraryMixin, TorchCallsMixin, LaunchesMixin, ObjectsMixin):
    """Interprets host functions abstractly; `effects` holds what they were seen to do."""

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return self.super_of()
        callee = self.evaluate(node.func)
        return self.call(callee, self._arguments(node), node)

    def _arguments(self, node: ast.Call) -> Arguments:
        positional: list[Value] = []
        star: Value | None = None
        for part in node.args:
            if isinstance(part, ast.Starred):
                given = self.evaluate(part.value)
                contents = self.state.contents(given)
                if star is None and len(contents) == 1 and contents[0].size is not None and not given.roots:
                    positional.extend(contents[0].get(i) or contents[0].rest for i in range(contents[0].size))
                    continue
                every = self.iterate(given, part)
                star = every if star is None else join(star, every)
                continue
            value = self.evaluate(part)
            if star is None:
                positional.append(value)
            else:
                star = join(star, value)
        named: dict[str, Value] = {}
        double_star: Value | None = None
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
                continue
            rest = value if not value.cells else replace(value, cells=frozenset())
            for content in self.state.contents(value):
                for key, item in content.fields.items():
                    named[str(key)] = join(named[str(key)], item) if str(key) in named else item
                rest = join(rest, content.rest)
            if rest != Value():
                double_star = rest if double_star is None else join(double_star, rest)
        return Arguments(tuple(positional), named, star, double_star)

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        """The result of calling whatever `callee` may be."""
        objects, others = self._callable_objects(callee)
        things = sorted(_once({*callee.things, *objects}), key=_order)
        uncertain = bool(callee.kind & (Sort.TENSOR | Sort.OTHER) or callee.roots or others)
        if not things:
            return self.not_known(callee, arguments, node)
        results: list[Value] = []
        state = self.state
        before = state.copy() if len(things) > 1 or uncertain else state
        for i, thing in enumerate(things):
            self.state = state if i == 0 else before.copy()
            results.append(self._one(thing, arguments, node))
            state.join(self.state)
        if uncertain:
            self.state = before
            rest = replace(callee, things=frozenset(), cells=others, constant=None)
            results.append(self.not_known(rest, arguments, node))
            state.join(before)
        self.state = state
        return join(*results)

    def _callable_objects(self, callee: Value) -> tuple[list[Thing], frozenset[CellId]]:
        """What calling the objects among `callee` runs: `__call__`, or the `forward` of a module; and the others."""
        found: list[Thing] = []
        others: set[CellId] = set()
        for cell in callee.cells:
            content = self.state.cell(cell)
            owner = content.owner if content is not None else None
            member = owner and (self.class_member(owner, "__call__") or self.class_member(owner, "forward"))
            if member:
                found.extend(self._bind_all(Value(cells=frozenset([cell])), member).things)
            else:
                others.add(cell)
        return found, frozenset(others)

    def _one(self, thing: Thing, arguments: Arguments, node: ast.AST) -> Value:
        if isinstance(thing, FunctionValue):
            return self.invoke(thing, arguments, node)
        if isinstance(thing, BoundMethod):
            return self.invoke(thing.function, arguments.before(thing.owner), node)
        if isinstance(thing, ClassValue):
            return self.instance(thing, arguments, node)
        if isinstance(thing, KernelMethod):
            return self.launch(thing, arguments, node)
        if isinstance(thing, Partial):
            named = {**dict(thing.keywords), **arguments.named}
            positional, star = (*thing.positional, *arguments.positional), arguments.star
            if thing.star is not None:
                star = join(thing.star, *arguments.positional, star or Value())
                positional = thing.positional
            full = replace(arguments, positional=positional, named=named, star=star)
            return self.call(thing.function, full, node)
        if isinstance(thing, Resumed):
            return self.resumed(thing, join(UNSEEN, *arguments), node)
        if isinstance(thing, External):
            return self.external(thing.name, arguments, node)
        if isinstance(thing, Attribute):
            return self.method(thing, arguments, node)
        if isinstance(thing, (KernelValue, HostModule, Super)):
            return self.not_known(UNSEEN, arguments, node)
        raise AssertionError(thing)

    def not_known(self, owner: Value, arguments: Arguments, node: ast.AST) -> Value:
        """A call of something of which nothing is known: all that reaches it may be written."""
        what = text_of(node.func) if isinstance(node, ast.Call) else text_of(node)
        reached = [owner, *arguments]
        self.effects.gap(self.effect(f"`{what}` is not known", node), self.state, reached)
        same, maybe = self.state.reach(reached)
        leaked = replace(UNSEEN, unsure=same | maybe)
        for value in reached:
            if value.cells:
                self.escaped.append((self.effect(f"`{what}` is not known", node), value))
                if leaked.unsure:
                    self.state.change(value, None, leaked)
        return leaked


def _once(things: set[Thing]) -> Iterator[Thing]:
    """Without a launch of a bare kernel beside one of the same kernel wrapped: it does the same to its arguments."""
    wrapped = {t.kernel for t in things if isinstance(t, KernelMethod) and t.kernel.wrapped}
    for one in things:
        if not (isinstance(one, KernelMethod) and not one.kernel.wrapped
                and replace(one.kernel, wrapped=True) in wrapped):
            yield one


def _order(thing: Thing) -> tuple[str, ...]:
    made = thing.kernel if isinstance(thing, KernelMethod) else thing
    node, names = getattr(made, "node", None), getattr(made, "names", ())
    return (type(thing).__name__, str(getattr(thing, "name", "")), str(getattr(node, "lineno", "")), *sorted(names))
