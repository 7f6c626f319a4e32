"""Code that may be left early: `try`, `with`, `raise`, and what runs on the way out; generators, at each `yield`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from triton_mutlint.host.expressions.expressions import Evaluating
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.state.core import Activation, Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, told_number
from triton_mutlint.host.values.values import (
    NONE,
    PLAIN,
    UNSEEN,
    CellId,
    FunctionValue,
    Resumed,
    Sort,
    Value,
    constant,
    join,
    picked,
    thing,
)
from triton_mutlint.source.walking import dotted

_UNTRACED = (("_disable_current_modes",), ("unset_fake_temporarily",), ("no_dispatch",))  # of torch
_Work = Callable[[], State | None]
_Leave = Callable[[State], State | None]


DEPTH = 28  # calls in calls, at most
_BEGUN = "<begun>"  # a field of generators: how many values `next` took
_PASSED = "<passed>"  # how many of these it has given again


class Exits(Evaluating):
    """Follows the ways out of a block, and generators, which others lead out of and back into."""

    def watched(self, work: _Work) -> tuple[State | None, State]:
        """The state after `work`, and the one after any part of it, where an exception may leave it."""
        anywhere = self.state.copy()
        self.watch.append(anywhere)
        try:
            ended = work()
        finally:
            self.watch.pop()
        if self.watch:
            self.watch[-1].join(anywhere)
        return ended, anywhere

    def leaving(self, work: _Work, leave: _Leave) -> tuple[State | None, State | None]:
        """Run `work`, and `leave` on each way out; the states where it ends, and where an exception leaves it."""
        lists = [states for here in self._takers() for states in (here.left, here.breaks, here.continues)]
        marks = [len(states) for states in lists]
        ended, anywhere = self.watched(work)
        for states, mark in zip(lists, marks, strict=True):
            going, states[mark:] = states[mark:], []
            states.extend(after for before in going if (after := leave(before)) is not None)
        raised = leave(anywhere)
        return (leave(ended) if ended is not None else None), raised

    def _takers(self) -> Iterator[Activation]:
        """The call that runs, and those that it gives values to, which may leave it at its `yield`."""
        here: Activation | None = self.here
        while here is not None:
            yield here
            here = here.taker

    # ------------------------------------------------------------------ try

    def _s_try(self, node: ast.Try) -> State | None:
        if not node.finalbody:
            return self._caught(node)
        ended, _ = self.leaving(lambda: self._caught(node), lambda left: self.block(node.finalbody, left))
        return ended

    _s_trystar = _s_try

    def _caught(self, node: ast.Try) -> State | None:
        current, anywhere = self.watched(lambda: self.block(node.body, self.state))
        after = self.block(node.orelse, current) if current is not None else None
        for handler in node.handlers:
            start = self.state = anywhere.copy()
            if handler.name:
                start.put(self.scope_of(handler.name), handler.name, UNSEEN)
            after = either(after, self.block(handler.body, start))
        return after

    def _s_raise(self, node: ast.Raise) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                self.escape(self.evaluate(part), "it is raised", node)  # what is caught is not followed

    # ------------------------------------------------------------------ with

    def _s_with(self, node: ast.With | ast.AsyncWith) -> State | None:
        return self._within_items(node.items, node)

    _s_asyncwith = _s_with

    def _within_items(self, items: Sequence[ast.withitem], node: ast.With | ast.AsyncWith) -> State | None:
        if not items:
            return self.block(node.body, self.state)
        item, *others = items
        self.untraced += (off := _stops_tracing(item.context_expr))
        try:
            return self._managed(item, others, node)
        finally:
            self.untraced -= off

    def _managed(self, item: ast.withitem, others: Sequence[ast.withitem],
                 node: ast.With | ast.AsyncWith) -> State | None:
        manager = self.evaluate(item.context_expr)
        lent = self._lent(manager)
        if lent is not None:
            return self._lend(lent, item, others, node)
        entered = self.entered(manager, item.context_expr)
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered)
        if not manager.cells and not _may_swallow(manager, item.context_expr):
            return self._within_items(others, node)

        def leave(left: State) -> State | None:
            self.state = left
            self.exited(manager, item.context_expr)
            return left

        ended, raised = self.leaving(lambda: self._within_items(others, node), leave)
        return either(ended, raised) if _may_swallow(manager, item.context_expr) else ended

    def _lent(self, manager: Value) -> Resumed | None:
        """The generator that a context manager is made of, if it is one for certain."""
        contents = self.state.contents(manager)
        if len(manager.cells) != 1 or len(contents) != 1 or manager.kind or manager.roots or manager.things:
            return None
        (one, *more) = contents[0].source.things or (None,)
        return one if isinstance(one, Resumed) and not more else None

    def _lend(self, lent: Resumed, item: ast.withitem, others: Sequence[ast.withitem],
              node: ast.With | ast.AsyncWith) -> State | None:
        """Run a generator with the block where its `yield` stands: its rest runs whichever way the block is left."""
        here, falls, left = self.here, False, set[int]()
        self.state = self.state.copy()

        def take(value: Value) -> bool:
            nonlocal falls
            lists = (here.left, here.breaks, here.continues)
            marks = [len(states) for states in lists]
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
            ended = self._within_items(others, node)
            falls |= ended is not None
            for i, (states, mark) in enumerate(zip(lists, marks, strict=True)):
                left.update({i} if states[mark:] else ())
                for other in states[mark:]:
                    ended = either(ended, other)
                del states[mark:]
            if ended is not None:
                self.state = ended
            return ended is not None

        if self.resume(lent, item.context_expr, take) is None:
            return None
        for i in left:
            (here.left, here.breaks, here.continues)[i].append(self.state.copy())
        caught = any(isinstance(inner, (ast.ExceptHandler, ast.With)) for inner in ast.walk(lent.function.node))
        return self.state if falls or caught else None

    def entered(self, manager: Value, node: ast.expr) -> Value:
        """What `with manager as name` binds."""
        found = [self.stepped(cell, node) for cell in sorted(manager.cells, key=repr) if self.is_generator(cell)]
        got = self.special(manager, ("__enter__", "__aenter__"), (), node)
        if got is not None:
            found.append(got)
        return join(*found) if found else manager

    def exited(self, manager: Value, node: ast.expr) -> None:
        """The end of `with manager`."""
        self.special(manager, ("__exit__", "__aexit__"), (UNSEEN, UNSEEN, UNSEEN), node)
        for cell in sorted(manager.cells, key=repr):
            if self.is_generator(cell):
                self.stepped(cell, node)

    # ------------------------------------------------------------------ generators

    # What calling a function is made of.
    _entered: Callable[..., Value]
    _running: Callable[[FunctionValue, dict[str, Value]], Activation | None]
    _joined_to: Callable[[Activation, Mapping[str, Value]], None]

    def is_generator(self, cell: CellId) -> bool:
        content = self.state.cell(cell)
        return content is not None and any(isinstance(one, Resumed) for one in content.source.things)

    def resume(self, generator: Resumed, node: ast.AST, take: Take, sent: Value = NONE) -> Value | None:
        """Run a generator, and `take` on each value where its `yield` stands; what it returns, None if it never ends.

        `take` runs in the call that asks for the values, which the generator is no part of.
        """
        outer, active, finished = self.here, self.active, [False]
        itself, start = Value(cells=frozenset([generator.made])), self.state.copy()
        before = told_number(start.element(itself, _BEGUN))
        if before:
            self.state.change(itself, _PASSED, constant(0))

        def taken(value: Value) -> bool:
            passed = told_number(self.state.element(itself, _PASSED)) if before else None
            if passed is not None and passed < (before or 0):  # it gave this one already: all is as it is now
                self.state.join(start)
                self.state.change(itself, _PASSED, constant(passed + 1))
                return True
            inner, running = self.here, self.active
            self.here, self.active = outer, active
            try:
                return take(value)
            finally:
                self.here, self.active = inner, running

        given = dict(generator.given)
        if len(active) >= DEPTH or generator.function.node in self.world.shared.endless:
            leaked = self.not_known(thing(generator.function), Arguments(tuple(given.values())), node)
            self.repeated(lambda: take(leaked))
            return leaked
        running = self._running(generator.function, given)
        if running is not None:  # it gives what the one that runs does
            self._joined_to(running, given)
            self.repeated(lambda: take(running.yielded) if running.yielded is not None else True)
            return running.returned or NONE
        self.active = list(active)
        try:
            returned = self._entered(generator.function, given, node, (generator, taken, sent, finished))
        finally:
            self.active = active
        return returned if finished[0] else None

    def stepped(self, cell: CellId, node: ast.AST, sent: Value = NONE) -> Value:
        """What a generator gives next, and the state at that `yield`, or at its end.

        It is run from its start, with the state that it finds now, past as many values as it has given. Where that is
        not known, it may go on from any `yield`.
        """
        content = self.state.cell(cell)
        assert content is not None, "the cell of a generator"
        begun, found, states = content.get(_BEGUN) or constant(0), [Value()], list[State]()
        before = told_number(begun)
        start, state = self.state.copy(), self.state

        def take(value: Value) -> bool:
            found.append(value)
            states.append(self.state.copy())
            self.state.join(start)
            return before is None

        for source in content.source.things:
            if isinstance(source, Resumed):
                self.state = start.copy()
                if self.resume(source, node, take, sent) is not None and (before is None or not states):
                    states.append(self.state)
        for other in states[1:]:
            states[0].join(other)
        self.state = state
        if states:
            state.become(states[0])
        state.change(Value(cells=frozenset([cell])), _BEGUN, PLAIN if before is None else constant(before + 1))
        return join(*found) if before is not None else picked(join(*found))


def _stops_tracing(node: ast.expr) -> bool:
    """Whether tensors made in the `with` have memory, though torch traces what is around it."""
    return isinstance(node, ast.Call) and dotted(node.func)[-1:] in _UNTRACED


def _may_swallow(manager: Value, node: ast.expr) -> bool:
    """Whether an exception may end a `with` and go no further."""
    if dotted(node.func if isinstance(node, ast.Call) else node)[:1] == ("torch",):
        return False
    known = all(isinstance(thing, External) and thing.name.startswith("torch.") for thing in manager.things)
    return bool(manager.cells) or not known or bool(manager.kind & Sort.OTHER)


def either(one: State | None, other: State | None) -> State | None:
    """The state after two paths meet."""
    if one is None or other is None:
        return other if one is None else one
    one.join(other)
    return one
