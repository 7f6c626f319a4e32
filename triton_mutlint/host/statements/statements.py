"""Runs the statements of host functions abstractly, all paths together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from triton_mutlint.host.expressions.operators import as_branches, folded, method_name, question
from triton_mutlint.host.state.state import State
from triton_mutlint.host.statements.exits import Exits, either
from triton_mutlint.host.torch import table as torch_table
from triton_mutlint.host.values.groups import Cell, doubted, told_apart
from triton_mutlint.host.values.values import (
    PLAIN,
    TENSOR,
    ClassValue,
    Sort,
    Value,
    constant,
    is_plain,
    join,
    thing,
    truth,
)


class Statements(Exits):
    """Each statement takes the state before it and gives the state after it; None where nothing follows."""

    def block(self, body: Sequence[ast.stmt], state: State) -> State | None:
        """The state after `body` is run in `state`; the interpreter's own may be any by then."""
        current: State | None = state
        for node in body:
            if current is None:
                return None
            self.state = current
            current = self.statement(node)
        return current

    def statement(self, node: ast.stmt) -> State | None:
        self.step()
        before = self.state
        run: Callable[[ast.stmt], State | None] | None = getattr(self, f"_s_{type(node).__name__.lower()}", None)
        if run is None:
            return before  # pass, global, nonlocal
        after = run(node)
        if self.here.stopped:  # at a `yield` in it
            self.here.stopped, after = False, None
        if self.watch:
            self.watch[-1].join(before if after is None else after)
        return after

    # ------------------------------------------------------------------ simple statements

    def _s_expr(self, node: ast.Expr) -> State:
        self.evaluate(node.value)
        return self.state

    def _s_assert(self, node: ast.Assert) -> State:
        self.condition(node.test)
        if node.msg is not None:
            self.escape(self.evaluate(node.msg), "it is raised", node)
        self.assume(node.test, True)
        return self.state

    def _s_delete(self, node: ast.Delete) -> State:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                owner = self.evaluate(target.value)
                index = self.evaluate(target.slice)
                self.handed([index], target)
                if self.special(owner, "__delitem__", (index,), node) is None:
                    self.state.remove(owner, index.constant[1] if index.constant is not None else None)
            elif isinstance(target, ast.Attribute):
                self.delete_attribute(self.evaluate(target.value), target.attr, node)
        return self.state

    def _s_assign(self, node: ast.Assign) -> State:
        if isinstance(node.value, ast.IfExp) and question(node.value.test)[0] and self.here.node is not None:
            return self._s_if(as_branches(node, node.value)) or self.state
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)
        return self.state

    def _s_annassign(self, node: ast.AnnAssign) -> State:
        if self.here.is_class and not self.here.module.has_later_annotations:
            self.evaluate(node.annotation)
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))
        return self.state

    def _s_augassign(self, node: ast.AugAssign) -> State:
        """`x += v` writes to a tensor, and makes something new of anything else."""
        target = node.target
        old = self.evaluate(target)
        value = self.evaluate(node.value)
        got = self.operated(node.op, old, value, node)
        if got is None and old.cells:
            self.extended(old, value, node)
        if isinstance(target, ast.Subscript):  # also where the element is a copy: it is assigned back
            owner = self.evaluate(target.value)
            self.effects.write(owner, self.effect(self.quoted(node), node))
        if old.roots and torch_table.method(f"__i{method_name(node.op)}__") is None:
            new = join(replace(TENSOR, carried=old.carried), got or Value())
        elif old.roots:
            self.effects.write(old, self.effect(self.quoted(node), node))
            if isinstance(target, ast.Subscript):
                return self.state  # the element is the storage that was written
            new = join(old, got or Value())
        elif got is not None:
            new = got
        elif (told := folded(node.op, old, value)) is not None:
            new = told
        elif old.kind & Sort.TENSOR or old.cells:
            new = old
        else:
            new = Value(kind=old.kind | value.kind, carried=old.carried | value.carried)
        if isinstance(target, (ast.Name, ast.Attribute)) or is_plain(old) or got is not None:
            self.assign(target, new)
        return self.state

    def _s_return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else Value()
        self.here.returned = value if self.here.returned is None else join(self.here.returned, value)
        self.here.results.append(value)
        self.here.left.append(self.state)

    def _s_break(self, node: ast.Break) -> None:
        self.here.breaks.append(self.state)

    def _s_continue(self, node: ast.Continue) -> None:
        self.here.continues.append(self.state)

    def _s_import(self, node: ast.Import | ast.ImportFrom) -> State:
        self.bind_import(node)
        return self.state

    _s_importfrom = _s_import

    def _s_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> State:
        made = self.function(self.here.module, node)
        self.state.put(self.scope_of(node.name), node.name, made)
        return self.state

    _s_asyncfunctiondef = _s_functiondef

    def _s_classdef(self, node: ast.ClassDef) -> State:
        self.here.captured = True
        made = ClassValue(self.here.module, node, self.closure)
        self.hold_bases(made)
        self.hold_members(made, self.class_body(node))
        self.state.put(self.scope_of(node.name), node.name, thing(made))
        self.announced(made, node)
        self.state.put(self.scope_of(node.name), node.name, self.as_decorated(node.decorator_list, thing(made)))
        return self.state

    # ------------------------------------------------------------------ branches

    def _s_if(self, node: ast.If) -> State | None:
        certain = self.condition(node.test)
        if certain is not None:
            return self.block(node.body if certain else node.orelse, self.state)
        return self.both(node)

    def both(self, node: ast.If) -> State | None:
        """The state after either branch."""
        holds, fails = self.parted(node.test)
        scope, (name, about, yes) = self.here.scope, question(node.test)
        asked = self.state.get(scope, name)
        if asked is not None and (about or is_plain(asked)):  # a mark, which goes if the name is given another value
            for state in (holds, fails):
                state.parts[scope] = {**state.parts.get(scope, {}), (name, about, ""): (PLAIN, PLAIN)}
        one, other = self.block(node.body, holds), self.block(node.orelse, fails)
        if one is None or other is None:
            return either(one, other)
        kept = all((name, about, "") in state.parts.get(scope, {}) for state in (one, other))
        apart = told_apart(one.names.get(scope, {}), other.names.get(scope, {}), [(name, about, yes)] if kept else [])
        one.join(other)
        if apart:
            one.parts[scope] = {**one.parts.get(scope, {}), **apart}
        return one

    def _s_match(self, node: ast.Match) -> State | None:
        """What a pattern binds to a name may be any part of the subject, or an attribute that the pattern asks for."""
        whole = self.evaluate(node.subject)
        within = self.within(whole)
        part = doubted(replace(within, cells=within.cells - whole.cells))
        patterns = [pattern for case in node.cases for pattern in ast.walk(case.pattern)]
        for name in {name for pattern in patterns for name in getattr(pattern, "kwd_attrs", ())}:
            part = doubted(join(part, self.attribute(join(whole, part), name, node)))
        part = join(part, self.make(node, Cell(rest=part)))
        falls, after = self.state, None
        for case in node.cases:
            self.state = falls
            certain = self._matches(case.pattern, whole, part)
            if certain is False:
                continue
            self.state = falls.copy()
            whole_ones = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
            for pattern in ast.walk(case.pattern):
                bound = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(bound, str):
                    self.state.put(self.scope_of(bound), bound, whole if pattern in whole_ones else part)
            if case.guard is not None:
                certain = self.condition(case.guard) and certain
            after = either(after, self.block(case.body, self.state))
            if certain:
                return after
        return either(after, falls)

    def _matches(self, pattern: ast.pattern, whole: Value, part: Value) -> bool | None:
        """Whether a value has a pattern, where that is certain; what is compared for it is a part of the value."""
        for inner in ast.walk(pattern):
            if isinstance(inner, ast.MatchClass):
                self.handed([self.evaluate(inner.cls)], inner, beside=[part])
            elif isinstance(inner, ast.MatchValue):
                self.compared_by(ast.Eq(), part, self.evaluate(inner.value), inner)
        if isinstance(pattern, ast.MatchSingleton):
            return truth(self.compared(ast.Is(), whole, constant(pattern.value)) or PLAIN)
        if isinstance(pattern, ast.MatchValue):
            return truth(self.compared(ast.Eq(), whole, self.evaluate(pattern.value)) or PLAIN)
        return True if isinstance(pattern, ast.MatchAs) and pattern.pattern is None else None

    # ------------------------------------------------------------------ loops

    def _s_for(self, node: ast.For | ast.AsyncFor) -> State | None:
        source = self.evaluate(node.iter)

        def take(value: Value) -> bool:
            self.assign(node.target, value)
            return self._round(node)

        return self._loop(node, lambda: self.loop_over(source, node.iter, take))

    _s_asyncfor = _s_for

    def _s_while(self, node: ast.While) -> State | None:
        certain = self.condition(node.test)
        if certain is False:
            return self.block(node.orelse, self.state)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)

        def again() -> bool:
            self.condition(node.test)
            return self._round(node)

        return self._loop(node, lambda: self.repeated(again) and not endless)

    def _round(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Run the body of a loop once; whether there may be another round."""
        outer, self.here.continues = self.here.continues, []
        ended = self.block(node.body, self.state)
        for other in self.here.continues:
            ended = either(ended, other)
        self.here.continues = outer
        if ended is not None:
            self.state = ended
        return ended is not None

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, rounds: Callable[[], bool]) -> State | None:
        """The state after a loop, whose rounds may come to an end or be left by `break`."""
        outer, self.here.breaks = self.here.breaks, []
        self.state = self.state.copy()
        ended = self.block(node.orelse, self.state) if rounds() else None
        breaks, self.here.breaks = self.here.breaks, outer
        for broken in breaks:
            ended = either(ended, broken)
        return ended
