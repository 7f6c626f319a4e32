"""Runs the statements of host functions abstractly, all paths together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from triton_mutlint.host.state.core import Activation, TooLargeError, text_of
from triton_mutlint.host.state.state import State
from triton_mutlint.host.statements.exits import ExitsMixin, either
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import ClassValue, Sort, Value, is_plain, join, picked, thing

_ROUNDS = 12  # of one loop: what names may hold grows by what few arguments there are, and stops


class StatementsMixin(ExitsMixin):
    """Each statement takes the state before it and gives the state after it; None where nothing follows."""

    def block(self, body: Sequence[ast.stmt], state: State, here: Activation) -> State | None:
        current: State | None = state
        for node in body:
            if current is None:
                return None
            current = self.statement(node, current, here)
        return current

    def statement(self, node: ast.stmt, state: State, here: Activation) -> State | None:
        self.step()
        run: Callable[..., State | None] | None = getattr(self, f"_s_{type(node).__name__.lower()}", None)
        if run is None:
            return state  # pass, global, nonlocal
        if not self.watch:
            return run(node, state, here)
        after = run(node, state, here)
        self.watch[-1].join(state if after is None else after)
        return after

    # ------------------------------------------------------------------ simple statements

    def _s_expr(self, node: ast.Expr, state: State, here: Activation) -> State:
        self.evaluate(node.value, state, here)
        return state

    def _s_assert(self, node: ast.Assert, state: State, here: Activation) -> State:
        self.condition(node.test, state, here)
        self.assume(node.test, True, state, here)
        return state

    def _s_delete(self, node: ast.Delete, state: State, here: Activation) -> State:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                owner = self.evaluate(target.value, state, here)
                index = self.evaluate(target.slice, state, here)
                if self.special(owner, "__delitem__", (index,), node, state, here) is None:
                    at = index.constant[1] if index.constant is not None else None
                    self.removed(owner, at, state)
        return state

    @staticmethod
    def removed(owner: Value, index: object, state: State) -> None:
        """An element was taken out of a list, and what follows moves up."""
        if not any(content.kind != "dict" for content in state.contents(owner)):
            return
        if isinstance(index, int):
            state.rearrange(owner, lambda was: [v for i, v in enumerate(was) if i - index not in (0, len(was))])
        else:
            state.mix(owner)

    def _s_assign(self, node: ast.Assign, state: State, here: Activation) -> State:
        if len(node.targets) == 1 and self._pairwise(node.targets[0], node.value):
            target, source = node.targets[0], node.value
            assert isinstance(target, (ast.Tuple, ast.List))
            assert isinstance(source, (ast.Tuple, ast.List))
            values = [self.evaluate(part, state, here) for part in source.elts]
            for part, value in zip(target.elts, values, strict=True):
                self.assign(part, value, state, here)
            return state
        value = self.evaluate(node.value, state, here)
        for target in node.targets:
            self.assign(target, value, state, here)
        return state

    @staticmethod
    def _pairwise(target: ast.expr, source: ast.expr) -> bool:
        """`a, b = b, a`: no tuple is made."""
        if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(source, (ast.Tuple, ast.List)):
            return False
        starred = any(isinstance(part, ast.Starred) for part in (*target.elts, *source.elts))
        return not starred and len(target.elts) == len(source.elts)

    def _s_annassign(self, node: ast.AnnAssign, state: State, here: Activation) -> State:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, state, here), state, here)
        return state

    def _s_augassign(self, node: ast.AugAssign, state: State, here: Activation) -> State:
        """`x += v` writes to a tensor, and makes something new of anything else."""
        target = node.target
        old = self.evaluate(target, state, here)
        value = self.evaluate(node.value, state, here)
        got = self.operated(node.op, old, value, node, state, here)
        if got is None and old.cells:
            self.extended(old, value, node, state, here)
        if isinstance(target, ast.Subscript):  # also where the element is a copy: it is assigned back
            owner = self.evaluate(target.value, state, here)
            self.effects.write(owner, self.effect(f"`{text_of(node)}`", node, here))
        if old.roots:
            self.effects.write(old, self.effect(f"`{text_of(node)}`", node, here))
            if isinstance(target, ast.Subscript):
                return state  # the element is the storage that was written
            new = join(old, got or Value())
        elif got is not None:
            new = got
        elif old.kind & Sort.TENSOR or old.cells:
            new = old
        else:
            new = Value(kind=old.kind | value.kind, carried=old.carried | value.carried)
        if isinstance(target, (ast.Name, ast.Attribute)) or is_plain(old) or got is not None:
            self.assign(target, new, state, here)
        return state

    def extended(self, owner: Value, value: Value, node: ast.AST, state: State, here: Activation) -> None:
        """`owner += value`, `owner.extend(value)`, `owner |= value` of lists, sets and dicts."""
        raise NotImplementedError

    def _s_return(self, node: ast.Return, state: State, here: Activation) -> None:
        value = self.evaluate(node.value, state, here) if node.value is not None else Value()
        here.returned = value if here.returned is None else join(here.returned, value)
        here.left.append(state)

    def _s_break(self, node: ast.Break, state: State, here: Activation) -> None:
        here.breaks.append(state)

    def _s_continue(self, node: ast.Continue, state: State, here: Activation) -> None:
        here.continues.append(state)

    def _s_import(self, node: ast.Import | ast.ImportFrom, state: State, here: Activation) -> State:
        self.bind_import(node, state, here)
        return state

    _s_importfrom = _s_import

    def _s_functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, state: State, here: Activation) -> State:
        made = self.function(here.module, node, state, here)
        state.put(self.scope_of(node.name, state, here), node.name, made)
        return state

    _s_asyncfunctiondef = _s_functiondef

    def _s_classdef(self, node: ast.ClassDef, state: State, here: Activation) -> State:
        here.captured = True
        scope = None if here.name == "<module>" else here.scope
        made = thing(ClassValue(here.module, node, scope))
        for inner in node.body:
            value = getattr(inner, "value", None)
            if isinstance(inner, (ast.Assign, ast.AnnAssign, ast.Expr)) and value is not None:
                self.escape(self.evaluate(value, state, here), f"the class `{node.name}` holds it", inner, state, here)
        state.put(self.scope_of(node.name, state, here), node.name, made)
        return state

    # ------------------------------------------------------------------ branches

    def _s_if(self, node: ast.If, state: State, here: Activation) -> State | None:
        certain = self.condition(node.test, state, here)
        if certain is not None:
            return self.block(node.body if certain else node.orelse, state, here)
        other = state.copy()
        self.assume(node.test, True, state, here)
        self.assume(node.test, False, other, here)
        return either(self.block(node.body, state, here), self.block(node.orelse, other, here))

    def _s_match(self, node: ast.Match, state: State, here: Activation) -> State | None:
        whole = self.evaluate(node.subject, state, here)
        subject = replace(self.within(whole, state), cells=frozenset(), things=frozenset())
        for content in state.contents(whole):
            subject = join(subject, self.within(content.every(), state))
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                for attribute in pattern.kwd_attrs if isinstance(pattern, ast.MatchClass) else ():
                    subject = join(subject, self.attribute(subject, attribute, pattern, state, here))
        after: State | None = state.copy()
        for case in node.cases:
            inner = state.copy()
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    bound = whole if pattern is case.pattern else picked(subject)
                    if isinstance(pattern, (ast.MatchStar, ast.MatchMapping)):
                        kind = "list" if isinstance(pattern, ast.MatchStar) else "dict"
                        bound = self.make(pattern, Cell(rest=bound, kind=kind), inner, here)
                    inner.put(self.scope_of(name, inner, here), name, bound)
            if case.guard is not None:
                self.condition(case.guard, inner, here)
            after = either(after, self.block(case.body, inner, here))
        return after

    # ------------------------------------------------------------------ loops

    def _s_for(self, node: ast.For | ast.AsyncFor, state: State, here: Activation) -> State | None:
        source = self.evaluate(node.iter, state, here)

        def begin(inner: State) -> None:
            self.assign(node.target, self.iterate(source, node.iter, inner, here), inner, here)

        return self._loop(node, begin, state, here)

    _s_asyncfor = _s_for

    def _s_while(self, node: ast.While, state: State, here: Activation) -> State | None:
        certain = self.condition(node.test, state, here)
        if certain is False:
            return self.block(node.orelse, state, here)

        def begin(inner: State) -> None:
            self.condition(node.test, inner, here)

        ended = self._loop(node, begin, state, here)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return None if endless and not self._broke else ended

    _broke = False

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[State], None], state: State,
              here: Activation) -> State | None:
        """The state after a loop: as before it, or as after any number of rounds."""
        outer = here.breaks, here.continues
        here.breaks, here.continues = [], []
        entry = state
        for _ in range(_ROUNDS):
            inner = entry.copy()
            here.continues = []
            begin(inner)
            again = self.block(node.body, inner, here)
            after = entry.copy()
            for ended in (again, *here.continues):
                after.join(ended)
            if after == entry:
                break
            entry = after
        else:
            raise TooLargeError
        breaks = here.breaks
        here.breaks, here.continues = outer
        ended = self.block(node.orelse, entry, here)
        for broken in breaks:
            ended = either(ended, broken)
        self._broke = bool(breaks)
        return ended
