"""The walk that gathers facts: it follows a kernel as other walks do, and keeps the tests that each place is under."""

from __future__ import annotations

import ast
import operator
from contextlib import AbstractContextManager

from triton_mutlint.kernel_source.calls import Calls
from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.learning import Learning
from triton_mutlint.kernel_source.observer import Observer, Place
from triton_mutlint.kernel_source.slots import NONE, Slots, fixed
from triton_mutlint.kernel_source.values import NOTHING, Env, MayBe, constant
from triton_mutlint.kernel_source.walk import Walk, WalkedBody


class LearningWalk(Walk):
    """Shows what it meets to one observer."""

    def __init__(self, program: Program, learnt: Learning) -> None:
        super().__init__(program)
        self.learnt = learnt

    def body(self, helper: Helper, env: Env, caller: Calls | None) -> WalkedBody:
        return LearningBody(self, helper, env, caller)


class LearningBody(WalkedBody):
    """The walk over one function's body."""

    def __init__(self, stores: LearningWalk, helper: Helper, env: Env, caller: Calls | None) -> None:
        super().__init__(stores, helper, env)
        self.learnt = stores.learnt
        self.here = Place()
        self.outer = 0  # the line of the kernel's own body whose call is followed; 0 outside of calls
        if isinstance(caller, LearningBody):
            self.here = Place(0, caller.here.conditions, caller.here.is_repeated or caller.node is None)
            self.outer = caller.outer or caller.here.line

    def show(self, node: ast.AST | None) -> Observer:
        self.learnt.place = self.here
        if node is not None:
            self.here.line = self.outer or getattr(node, "lineno", 0)
        return self.learnt

    # ----------------------------------------------------------------- expressions

    def sequence(self, node: ast.Tuple | ast.List) -> MayBe:
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return super().sequence(node)
        return MayBe(items=tuple(self.eval(e) for e in node.elts))

    def call(self, node: ast.Call) -> MayBe:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        with self.here.being(is_asserting=self.here.is_asserting or name == "static_assert"):
            return super().call(node)

    # ----------------------------------------------------------------- statements

    def block(self, body: list[ast.stmt]) -> bool:
        conditions = self.here.conditions
        left = False
        for statement in body:
            left = self.statement(statement) or left  # what follows is compiled all the same
        self.here.conditions = conditions  # what returns above has left for the statements after it
        return left

    def under(self, test: MayBe, side: bool) -> AbstractContextManager[None]:
        return self.here.being(conditions=(*self.here.conditions, (test.computed, side)))

    def branch(self, node: ast.If) -> bool:
        test = self.eval(node.test)
        self.show(node)
        self.learnt.condition(test)
        if test.is_known and not any(isinstance(n, ast.Name) and n.id in self.env for n in ast.walk(node.test)):
            return self.block(node.body if test.value else node.orelse)
        entry, effects = dict(self.env), self.effects
        with self.under(test, True):
            left = self.block(node.body)
        then, self.env = self.env, dict(entry)
        with self.under(test, False):
            left_other = self.block(node.orelse)
        self.decides(node, test, then, entry, self.effects > effects or left or left_other)
        tests = test.made.decided
        if (left or left_other) and fixed(tests):
            self.here.conditions = (*self.here.conditions, (test.computed, left_other))
        if left_other:
            self.env = then
            return left
        if not left:
            self.env = self.chosen(then, self.env, tests)
        return False

    def decides(self, node: ast.If, test: MayBe, then: Env, entry: Env, acts: bool) -> None:
        """Notes that a branch decides what is written, or left, or which values names hold after it."""
        tests = test.made.decided
        self.show(node)
        if acts:
            marks.matters(test, self.here.line)
        chosen = self.rebound(entry, then, tests)
        if chosen or acts:
            self.learnt.reach(test.computed, True, tests, NONE if acts else chosen)
            self.learnt.reach(test.computed, False, tests, NONE if acts else chosen)

    def rebound(self, entry: Env, then: Env, tests: Slots) -> Slots:
        """Names that hold something else after one side of a branch than after the other: what of?"""
        found = NONE
        for env in (then, self.env):
            for name, value in entry.items():
                if name in env and env[name] is not value:
                    marks.alike(value.made, env[name].made)
        for name, value in then.items():
            beside = self.env.get(name, NOTHING)
            if value is not beside and value.made.base != beside.made.base:
                marks.moves(value, beside, tests, self.here.line)
                found |= {s for s in value.made.base | beside.made.base if not s.constexpr}
        return found

    def chosen(self, left: Env, right: Env, tests: Slots) -> Env:
        found = self.joined(left, right)
        for name, value in found.items():
            if name in left and name in right and left[name] is not right[name]:
                found[name] = self.learnt.decided_by(value, tests)
        return found

    def joined(self, left: Env, right: Env) -> Env:
        self.show(None)
        for name, value in left.items():
            if name in right and right[name] is not value and right[name] != value:
                self.learnt.joined(value, right[name])
        return super().joined(left, right)

    def loop(self, node: ast.For | ast.While) -> None:
        if isinstance(node, ast.While):
            test = self.eval(node.test)
            self.show(node)
            self.learnt.condition(test)
            super().loop(node)
            return
        bounds = [self.eval(bound) for bound in _bounds(node.iter)]
        tests = NONE.union(*(bound.made.decided for bound in bounds))
        effects = self.effects
        if not fixed(tests):
            super().loop(node)
            return
        trips = NOTHING.by(operator.gt, bounds[-1], bounds[0] if len(bounds) > 1 else constant(0))
        with self.under(trips, True):
            super().loop(node)
        if self.effects > effects:
            self.show(node)
            self.learnt.reach(trips.term, True, tests)

    def counted(self, node: ast.For | ast.While) -> tuple[range | None, bool, frozenset[str]]:
        return None, False, frozenset()  # what is in a loop is compiled, and must be what it seems to be

    def trips(self, node: ast.For | ast.While, is_certain: bool) -> None:
        with self.here.being(is_repeated=self.here.is_repeated):
            super().trips(node, is_certain)

    def again(self) -> None:
        self.here.is_repeated = True

    def check(self, node: ast.Assert) -> None:
        with self.here.being(is_asserting=True):
            super().check(node)


def _bounds(iterated: ast.expr) -> list[ast.expr]:
    """The arguments of a range that counts upwards."""
    named = iterated.func if isinstance(iterated, ast.Call) else None
    name = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    is_range = isinstance(iterated, ast.Call) and name in ("range", "static_range") and 0 < len(iterated.args) < 4
    return iterated.args[:2] if isinstance(iterated, ast.Call) and is_range else []
