"""Generators: their code runs where something asks for a value, up to the next `yield`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from triton_mutlint.host.modules.module import HostFunction
from triton_mutlint.host.state.core import Activation, Take
from triton_mutlint.host.state.state import State
from triton_mutlint.host.statements.statements import Statements
from triton_mutlint.host.values.groups import Arguments
from triton_mutlint.host.values.values import NONE, PLAIN, CellId, FunctionValue, Resumed, Value, join, thing

DEPTH = 28  # calls in calls, at most
_BEGUN = "<begun>"  # a field of generators that were asked for something


class Generators(Statements):
    """Runs generators."""

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

        def taken(value: Value) -> bool:
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

        One that nothing was asked of yet stops at its first `yield`. Of another it is not known where it stands:
        it is run from its start, and may go on from any `yield` with the state that it finds now.
        """
        content = self.state.cell(cell)
        assert content is not None, "the cell of a generator"
        begun, found, states = _BEGUN in content.fields, [Value()], list[State]()
        self.state.change(Value(cells=frozenset([cell])), _BEGUN, PLAIN)
        start, state = self.state.copy(), self.state

        def take(value: Value) -> bool:
            found.append(value)
            states.append(self.state.copy())
            self.state.join(start)
            return begun

        for source in content.source.things:
            if isinstance(source, Resumed):
                self.state = start.copy()
                if self.resume(source, node, take, sent) is not None and (begun or not states):
                    states.append(self.state)
        for other in states[1:]:
            states[0].join(other)
        self.state = state
        if states:
            state.become(states[0])
        return join(*found)


@lru_cache(maxsize=4096)
def yields(function: HostFunction) -> bool:
    """Whether calling a function makes a generator."""
    pending: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False
