"""The interpreter where it follows loops element by element, and runs Python's own functions on real values.

Code that registers ops does so row by row, from tables: which name belongs to which function is lost where the
rounds of a loop are joined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.registrations.real import MOST
from triton_mutlint.host.registrations.things import (
    AT_RUN_TIME,
    Library,
    Registered,
    each_in,
    is_whole,
    opaque,
    written,
)
from triton_mutlint.host.state.core import Activation
from triton_mutlint.host.state.state import State
from triton_mutlint.host.statements.exits import either
from triton_mutlint.host.values.cells import Cell, sequence
from triton_mutlint.host.values.texts import Spot
from triton_mutlint.host.values.values import (
    NO_VALUE,
    CellId,
    ClassValue,
    FunctionValue,
    Value,
    join,
)

_SURE = (FunctionValue, ClassValue, Library, Registered, HostModule)  # what counts as true


class OneByOne(Interpreter):
    """Unrolls loops over known lists; of branches that are decided, one is followed only where calls lead to them."""

    stack: list[ast.AST]  # the calls that are being followed

    def cell(self, node: ast.AST, what: str = "") -> CellId:
        place = super().cell(node, what)
        return (*place[:5], len(self.stack), *place[5:])

    def spot(self, node: ast.AST) -> Spot:
        return Spot(self.here.module, node, len(self.stack))

    # ------------------------------------------------------------------ lists

    def each(self, value: Value) -> list[Value] | None:
        """What a loop over `value` may be given, one after the other; None where there may be more."""
        if value.kind or value.things or not value.cells:
            return None
        found: list[Value] = []
        for content in self.state.contents(value):
            held = each_in(content)
            if held is None:
                return None
            found.extend(held)
        return found

    def is_whole(self, value: Value) -> bool:
        """Whether it is one list of known length, or one dict."""
        contents = self.state.contents(value)
        return len(contents) == 1 and is_whole(contents[0])

    def listed(self, values: Sequence[Value], node: ast.AST, whole: bool = True,
               kind: str = "list") -> Value:
        content = sequence(values, kind)
        return self.make(node, content if whole else replace(content, size=None))

    def appended(self, owner: Value, value: Value) -> None:
        """Each element keeps a place of its own, also where some before it may not be there."""
        contents = self.state.contents(owner)
        if len(contents) != 1 or contents[0].many or contents[0].kind != "list":
            self.state.grow(owner, value)
            return
        (cell,), content = owner.cells, contents[0]
        fields = {**content.fields, len(content.fields): value}
        self.state.store(cell, replace(content, fields=fields, size=None if content.size is None else content.size + 1))

    def run(self, inner: Activation) -> Value:
        """A body is followed once, and in the state of its call: recursive calls are not followed."""
        state = self.state
        for name, value in inner.entry.items():
            state.put(inner.scope, name, value)
        self._body(inner, state)
        for other in inner.left[1:]:
            inner.left[0].join(other)
        self.state = state
        if inner.left and inner.left[0] is not state:
            state.become(inner.left[0])
        return inner.returned if inner.returned is not None else NO_VALUE

    # ------------------------------------------------------------------ statements

    def _s_for(self, node: ast.For | ast.AsyncFor) -> State | None:
        source = self.evaluate(node.iter)
        items = self.each(source)
        if items is None and self.runs_code(source):
            return super()._s_for(node)
        if items is not None and len(items) <= MOST:
            return self._rounds(node, items, None)
        return self._rounds(node, [opaque("it is computed in a loop")], self.state.copy())

    _s_asyncfor = _s_for

    def _s_while(self, node: ast.While) -> State | None:
        self.condition(node.test)
        return self._rounds(node, [NO_VALUE], self.state.copy())

    def _rounds(self, node: ast.For | ast.AsyncFor | ast.While, items: Sequence[Value],
                skipped: State | None) -> State | None:
        """Follow one round for each item; `skipped` is the state where there may have been none."""
        outer, self.here.breaks = (self.here.breaks, self.here.continues), []
        current: State | None = self.state
        for i, item in enumerate(items):
            if current is None:
                break
            self.here.continues = []
            self.rounds = (*self.rounds, i)
            if not isinstance(node, ast.While):
                self.state = current
                self.assign(node.target, item)
            current = self.block(node.body, current)
            self.rounds = self.rounds[:-1]
            for again in self.here.continues:
                current = either(current, again)
        current = either(current, skipped)
        breaks, (self.here.breaks, self.here.continues) = self.here.breaks, outer
        if current is not None:
            current = self.block(node.orelse, current)
        for broken in breaks:
            current = either(current, broken)
        return current

    def _s_if(self, node: ast.If) -> State | None:
        certain = self.condition(node.test)
        if certain is not None and (self.stack or self.rounds):  # a constant may be edited
            return self.block(node.body if certain else node.orelse, self.state)
        return self.both(node)

    def watched(self, work: Callable[[], State | None]) -> tuple[State | None, State]:
        """Where an exception is caught, nothing that comes before it has been done."""
        before = self.state.copy()
        return work(), before

    def _caught(self, node: ast.Try) -> State | None:
        """What handlers leave alone is as the body left it: lists that it fills in a loop keep their order."""
        current, before = self.watched(lambda: self.block(node.body, self.state))
        after = self.block(node.orelse, current) if current is not None else None
        for handler in node.handlers:
            start = self.state = before.copy()
            if handler.name:
                start.put(self.scope_of(handler.name), handler.name, opaque(AT_RUN_TIME))
            ended = self.block(handler.body, start)
            if ended is not None and after is not None:
                changed = () if ended.mark is before.mark else ended.heap.items()
                heap = {cell: content for cell, content in changed if before.heap.get(cell) is not content}
                ended = State(ended.names, heap)
            after = either(after, ended)
        return after

    def _s_augassign(self, node: ast.AugAssign) -> State:
        if isinstance(node.target, ast.Name):
            old = self.name(node.target, node.target.id)
            if all(content.kind == "tuple" for content in self.state.contents(old)):
                name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
                sum_ = ast.copy_location(ast.BinOp(name, node.op, node.value), node)
                self.assign(node.target, self.evaluate(sum_))
                return self.state
        return super()._s_augassign(node)

    # ------------------------------------------------------------------ expressions

    def _constant(self, node: ast.Constant) -> Value:
        return written(node.value, self.spot(node))

    def _set(self, node: ast.Set) -> Value:
        return self._tuple(ast.copy_location(ast.List(node.elts, ast.Load()), node))

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        rows, whole = self._row_by_row(node.generators, [node.elt])
        if rows is None:
            return opaque(AT_RUN_TIME)
        return self.listed([row[0] for row in rows], node, whole)

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> Value:
        rows, _ = self._row_by_row(node.generators, [node.key, node.value])
        if rows is None:
            return opaque(AT_RUN_TIME)
        known = {key.constant[1]: value for key, value in rows if key.constant is not None}
        rest = join(*(value for key, value in rows if key.constant is None))
        return self.make(node, Cell(known, rest, kind="dict"))

    def _row_by_row(self, generators: Sequence[ast.comprehension],
                    results: Sequence[ast.expr]) -> tuple[list[list[Value]] | None, bool]:
        """What each round of a comprehension gives, and whether there are just these."""
        generator = generators[0]
        source = self.evaluate(generator.iter)
        items = self.each(source)
        if len(generators) != 1 or items is None or len(items) > MOST:
            return None, False
        own = [n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)]
        saved = {name: self.state.get(self.here.scope, name) for name in own}
        found: list[list[Value]] = []
        whole = self.is_whole(source)
        for i, item in enumerate(items):
            self.rounds = (*self.rounds, i)
            self.assign(generator.target, item)
            answers = [self.condition(test) for test in generator.ifs]
            if False not in answers:
                whole = whole and None not in answers
                found.append([self.evaluate(result) for result in results])
            self.rounds = self.rounds[:-1]
        self.state.restore(self.here.scope, saved)
        return found, whole

    def tested(self, value: Value, node: ast.AST) -> bool | None:
        certain = super().tested(value, node)
        if certain is not None or value.kind:
            return certain
        answers: set[bool | None] = {True if isinstance(one, _SURE) else None for one in value.things}
        for content in self.state.contents(value):
            filled = bool(content.fields) or content.kind == "object"
            whole = content.size is not None or content.kind == "dict"
            answers.add(True if filled else False if whole and content.rest == NO_VALUE else None)
        return answers.pop() if len(answers) == 1 else None
