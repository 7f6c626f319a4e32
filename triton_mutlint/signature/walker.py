"""The walk over one function body: its statements, branches and loops."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from triton_mutlint.kernel_source.evaluate import Evaluation, Scope, known
from triton_mutlint.signature import marks
from triton_mutlint.signature.expressions import Evaluator
from triton_mutlint.signature.facts import NONE, NOTHING, Slots, Value
from triton_mutlint.signature.intrinsic_call import merge
from triton_mutlint.signature.operators import compile_time, decided, decided_by
from triton_mutlint.signature.summaries import Summaries
from triton_mutlint.source.walking import walk

MAX_TRIPS = 8  # passes over the body of a loop, which carry a name's value on to another name
MAX_PASSES = 64  # such passes in one function, those of loops in loops included


class Walker(Evaluator):
    """Statements: names, branches and loops."""

    def __init__(
        self, program: Summaries, scope: Scope, env: dict[str, Value], local: dict[str, ast.expr | None]
    ) -> None:
        super().__init__(program, scope, env)
        self.local = local
        self.returned = NOTHING
        self.passes = MAX_PASSES

    def block(self, body: list[ast.stmt]) -> None:
        watch = self.program.watch
        depth = len(self.conditions)
        for statement in body:
            handler = _STATEMENTS.get(type(statement))
            if watch is not None:
                watch.statement(self, statement)
            if handler is not None:
                handler(self, statement)
                if watch is not None and isinstance(statement, (ast.If, ast.For, ast.While)):
                    watch.statement(self, statement)
        del self.conditions[depth:]  # what returns above has left for the statements after it

    # ----------------------------------------------------------------- names

    def assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.bind(target, value, node.value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.eval(node.value), node.value)

    def augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            value = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
            self.bind(node.target, self.eval(value), None)
        else:
            self.eval(node.value)

    def bind(self, target: ast.expr, value: Value, source: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            if not self.repeated:
                self.local[target.id] = source if target.id not in self.local else None
            self.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, source)

    def _unpack(self, targets: list[ast.expr], value: Value, source: ast.expr | None) -> None:
        sources = source.elts if isinstance(source, (ast.Tuple, ast.List)) else [None] * len(targets)
        whole = value.items is None and not value.memory and not value.mixed and isinstance(source, ast.Name)
        for slot in value.bare if whole else ():
            slot.length = slot.length or len(targets)
        for index, target in enumerate(targets):
            if value.items is not None:
                part = list(value.items.values())[index] if index < len(value.items) else NOTHING
            elif whole:
                part = Value(frozenset(s.child(index) for s in value.base))
            else:
                part = value
            inner = sources[index] if index < len(sources) else None
            nested = whole and isinstance(target, (ast.Tuple, ast.List))
            self.bind(target, part, source if nested else inner)

    # ----------------------------------------------------------------- control flow

    def branch(self, node: ast.If) -> None:
        test = self.eval(node.test)
        self.condition(node.test, test)
        fixed = self._fixed(node.test)
        if fixed is not None:
            self.block(node.body if fixed else node.orelse)
            return
        before, entry = dict(self.env), dict(self.env)
        effects = self.effects
        self.conditions.append((node.test, True, 0))
        self.block(node.body)
        then = self.env
        self.env = before
        self.conditions[-1] = (node.test, False, 0)
        self.block(node.orelse)
        self.conditions.pop()
        leaves = _leaves(node.body), bool(node.orelse) and _leaves(node.orelse)
        tests = decided(test)
        if self.effects > effects or any(leaves):
            marks.matters(test, node.lineno)
        chosen = self._rebound(entry, then, self.env, tests, node.lineno)
        if self.effects > effects or any(leaves):
            chosen = NONE
        if chosen or self.effects > effects or any(leaves):
            self.reach(node.test, True, tests, chosen)
            self.reach(node.test, False, tests, chosen)
        if any(leaves) and compile_time(tests):
            self.conditions.append((node.test, leaves[1], 0))
        if leaves[0]:
            return
        self.env = then if leaves[1] else self._join(then, self.env, node.lineno, decided(test))

    def _rebound(
        self, entry: dict[str, Value], then: dict[str, Value], other: dict[str, Value], tests: Slots, line: int
    ) -> Slots:
        """Names that hold something else after one side of a branch than after the other: what of?"""
        found = NONE
        for env in (then, other):
            for name, value in entry.items():
                if env[name] is not value:
                    marks.alike(value, env[name])
        for name, value in then.items():
            beside = other.get(name, NOTHING)
            if value is not beside and value.base != beside.base:
                marks.moves(value, beside, tests, line)
                found |= {s for s in value.base | beside.base if not s.constexpr}
        return found

    def _fixed(self, test: ast.expr) -> bool | None:
        """What a test comes to that looks at no parameter and no local name, only at constants of the module."""
        if any(isinstance(n, ast.Name) and (n.id in self.env or n.id in self.local) for n in walk(test)):
            return None
        found = Evaluation({})(test, (Scope(self.scope.namespace),))
        return bool(found) if known(found) else None

    def _join(
        self, left: dict[str, Value], right: dict[str, Value], line: int, tests: Slots = NONE
    ) -> dict[str, Value]:
        joined = dict(left)
        for name, value in right.items():
            other = left.get(name)
            if other is None:
                joined[name] = value
            elif other is not value:
                marks.agree(other, value, line)
                joined[name] = decided_by(merge(other, value), tests)
        return joined

    def loop(self, node: ast.For) -> None:
        iterated = self.eval(node.iter)
        element = iterated
        if iterated.items is not None:
            for value in iterated.items.values():
                element = value if element is iterated else merge(element, value)
        elif iterated.bare:
            element = Value(frozenset(s.child("*") for s in iterated.bare))
        if not isinstance(node.iter, ast.Call):
            self.env.update(_targets(node.target, element))
        self.bind(node.target, element, None)
        if isinstance(node.target, ast.Name):
            self.local[node.target.id] = None
        trips = _trips(node.iter)
        tests = NONE
        for bound in (trips.left, trips.comparators[0]) if trips is not None else ():
            tests |= decided(self.eval(bound))
        effects = self.effects
        if trips is None or not compile_time(tests):
            self._repeat(node.body, node.lineno)
        else:
            self.conditions.append((trips, True, 0))
            self._repeat(node.body, node.lineno)
            self.conditions.pop()
            if self.effects > effects:
                self.reach(trips, True, tests)
        self.block(node.orelse)

    def repeat(self, node: ast.While) -> None:
        self.condition(node.test, self.eval(node.test))
        self._repeat(node.body, node.lineno)
        self.eval(node.test)

    def _repeat(self, body: list[ast.stmt], line: int) -> None:
        nested, self.conditions = self.conditions, list(self.conditions)
        repeated = self.repeated
        for _ in range(MAX_TRIPS):
            before = dict(self.env)
            self.block(body)
            joined = self._join(before, self.env, line)
            self.env = dict(joined)
            if self.passes == 0 or all(joined[name].same(value) for name, value in before.items()):
                break
            self.passes -= 1
            self.repeated = True
        self.repeated = repeated
        self.conditions = nested

    # ----------------------------------------------------------------- other statements

    def expression(self, node: ast.Expr) -> None:
        self.eval(node.value)

    def result(self, node: ast.Return) -> None:
        if node.value is not None:
            value = self.eval(node.value)
            marks.agree(self.returned, value, node.lineno)
            self.returned = merge(self.returned, value)

    def demand(self, node: ast.Assert) -> None:
        self.asserting = True
        self.eval(node.test)
        self.asserting = False
        self.constraint("assert", node.test, node.lineno)

    def refusal(self, node: ast.Raise) -> None:
        self.constraint("never", None, node.lineno)

    def within(self, node: ast.With) -> None:
        for context in node.items:
            self.eval(context.context_expr)
        self.block(node.body)


def _trips(iterated: ast.expr) -> ast.Compare | None:
    """The test whether a loop over a range has any trips, if it counts upwards."""
    named = iterated.func if isinstance(iterated, ast.Call) else None
    name = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
    if not isinstance(iterated, ast.Call) or name not in ("range", "static_range") or len(iterated.args) not in (1, 2):
        return None
    start = iterated.args[0] if len(iterated.args) == 2 else ast.copy_location(ast.Constant(0), iterated)
    return ast.copy_location(ast.Compare(iterated.args[-1], [ast.Gt()], [start]), iterated)


def _targets(target: ast.expr, value: Value) -> dict[str, Value]:
    return {target.id: value} if isinstance(target, ast.Name) else {}


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))


_STATEMENTS: dict[type[ast.stmt], Callable[[Walker, Any], None]] = {
    ast.Assign: Walker.assign, ast.AnnAssign: Walker.annotated, ast.AugAssign: Walker.augmented,
    ast.If: Walker.branch, ast.For: Walker.loop, ast.While: Walker.repeat, ast.Expr: Walker.expression,
    ast.Return: Walker.result, ast.Assert: Walker.demand, ast.Raise: Walker.refusal, ast.With: Walker.within,
}  # fmt: skip
