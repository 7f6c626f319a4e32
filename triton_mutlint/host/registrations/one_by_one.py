"""The interpreter where it follows every element of a loop by itself, also those that may not be there.

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
    Library,
    each_in,
    is_whole,
    written,
)
from triton_mutlint.host.state.core import Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.cells import sequence
from triton_mutlint.host.values.texts import Spot
from triton_mutlint.host.values.values import (
    NO_VALUE,
    CellId,
    ClassValue,
    FunctionValue,
    Value,
)

_SURE = (FunctionValue, ClassValue, Library, HostModule)  # what counts as true


class OneByOne(Interpreter):
    """Follows known lists to their end; of branches that are decided, one is followed only where calls lead to them."""

    stack: list[ast.AST]  # the calls that are being followed
    most, nested = MOST, 12

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

    # ------------------------------------------------------------------ statements

    def _loop_over_one(self, value: Value, node: ast.AST, take: Take) -> bool:
        """Elements that may not be there are followed one by one, too."""
        items = None if self.is_whole(value) or self.runs_code(value) else self.each(value)
        if items is None or len(items) > MOST:
            return super()._loop_over_one(value, node, take)

        def taken(item: Value) -> bool:
            return self.repeated(lambda: take(item))

        return self._one_by_one(items, taken)

    def repeated(self, work: Callable[[], bool]) -> bool:
        """What may be done any number of times is followed once."""
        skipped = self.state.copy()
        if work():
            self.state.join(skipped)
        else:
            self.state = skipped
        return True

    def _s_if(self, node: ast.If) -> State | None:
        certain = self.condition(node.test)
        if certain is not None and (self.stack or self.rounds):  # a constant may be edited
            return self.block(node.body if certain else node.orelse, self.state)
        return self.both(node)

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
