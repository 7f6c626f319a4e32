"""The walk that gathers facts: it follows a kernel as other walks do, on all sides of what is not decided."""

from __future__ import annotations

import ast

from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.learning import Learning
from triton_mutlint.kernel_source.slots import Slots
from triton_mutlint.kernel_source.values import NOTHING, Env, MayBe
from triton_mutlint.kernel_source.walk import WalkedBody


class LearningBody(WalkedBody):
    """The walk over one function's body, which shows what it meets to a `Learning`."""

    @property
    def learnt(self) -> Learning:
        assert isinstance(self.walk.observer, Learning), "or there is nothing to gather facts for"
        return self.walk.observer

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
        left = False
        for statement in body:
            left = self.statement(statement) or left  # what follows is compiled all the same
        return left

    def branch(self, node: ast.If) -> bool:
        test = self.eval(node.test)
        self.show(node)
        self.learnt.condition(test)
        if test.is_known and not any(isinstance(n, ast.Name) and n.id in self.env for n in ast.walk(node.test)):
            return self.block(node.body if test.value else node.orelse)
        entry, effects = dict(self.env), self.effects
        left = self.block(node.body)
        then, self.env = self.env, dict(entry)
        left_other = self.block(node.orelse)
        self.decides(node, test, then, entry, self.effects > effects or left or left_other)
        if left_other:
            self.env = then
            return left
        if not left:
            self.env = self.chosen(then, self.env, test.made.decided)
        return False

    def decides(self, node: ast.If, test: MayBe, then: Env, entry: Env, acts: bool) -> None:
        """Notes that a branch decides what is written, or left, or which values names hold after it."""
        tests = test.made.decided
        self.show(node)
        if acts:
            marks.matters(test, self.here.line)
        self.rebound(entry, then, tests)

    def rebound(self, entry: Env, then: Env, tests: Slots) -> None:
        """Notes which names hold something else after one side of a branch than after the other."""
        for env in (then, self.env):
            for name, value in entry.items():
                if name in env and env[name] is not value:
                    marks.alike(value.made, env[name].made)
        for name, value in then.items():
            beside = self.env.get(name, NOTHING)
            if value is not beside and value.made.base != beside.made.base:
                marks.moves(value, beside, tests, self.here.line)

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

    def counted(self, node: ast.For | ast.While) -> tuple[range | None, bool, frozenset[str]]:
        return None, False, frozenset()  # what is in a loop is compiled, and must be what it seems to be

    def check(self, node: ast.Assert) -> None:
        with self.here.being(is_asserting=True):
            super().check(node)
