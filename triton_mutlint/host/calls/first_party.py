"""Calls of first-party functions and classes: they are interpreted where they are called."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triton_mutlint.host.modules.module import External, HostFunction, yields
from triton_mutlint.host.modules.modules import FOLLOWED
from triton_mutlint.host.state.core import STEPS, Activation, Take, TooLargeError
from triton_mutlint.host.state.effects import Effects
from triton_mutlint.host.state.state import State
from triton_mutlint.host.statements.exits import DEPTH
from triton_mutlint.host.statements.statements import Statements
from triton_mutlint.host.values.groups import Arguments, Cell, bind, defaults, parameters
from triton_mutlint.host.values.values import (
    NONE,
    UNSEEN,
    ClassValue,
    FunctionValue,
    KernelValue,
    Resumed,
    Value,
    join,
    thing,
)
from triton_mutlint.process.watchdog import TooLongError
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import Frame

_ROUNDS = 8  # of one recursive function
_LEVELS = 4  # of containers in containers that a recursive function is followed into, each by itself


class Invoking(Statements):
    """Calls host functions."""

    def invoke(self, function: FunctionValue, arguments: Arguments, node: ast.AST) -> Value:
        """The result of calling a first-party function; what it does is noted."""
        given = self._given_to(function, arguments, node)
        if _is_cached(function.node):
            self.handed(given.values(), node)
        if yields(function.node):  # nothing of it runs yet
            made = self.cell(node, "generator")
            source = thing(Resumed(function, tuple(sorted(given.items())), made))
            return self.state.make(made, Cell(kind="generator", source=source))
        plain = all(map(_holds_nothing, given.values())) and function.scope is None and (
            not self.state.kept or _is_cached(function.node))
        running = self._running(function, given)
        if running is not None:
            self._joined_to(running, given)  # it is run again
            return running.returned if running.returned is not None else Value()
        if plain and self.active and self.state.bound is None:
            return self._unreached(function, given, node)
        return self._entered(function, given, node)

    def _running(self, function: FunctionValue, given: dict[str, Value]) -> Activation | None:
        """The call of the function that a recursive one belongs to.

        One that goes down into a container is followed as any other call is, to some levels.
        One that no op argument reaches is apart from those that some do: nothing of either gets into the other.
        """
        running = [a for a in self.active if a.node is function.node and a.outer == function.scope]
        if not running or (len(running) < _LEVELS and _goes_down(running, given)):
            return None
        if any(self.state.reach(given.values())):
            return running[-1]
        return next((a for a in running if not any(self.state.reach(a.entry.values()))), None)

    def _unreached(self, function: FunctionValue, given: dict[str, Value], node: ast.AST) -> Value:
        """A call that no op argument reaches, and that gives the same each time."""
        key = (id(function.node), self.here.chain[:1] == ("module",), frozenset(given.items()))
        results = self.world.shared.results
        if key not in results:
            results[key] = UNSEEN, Effects()  # for a call of it by itself
            results[key] = self.apart(lambda: self._entered(function, given, node), self.here)
        value, effects = results[key]
        self.effects.kernels.update(effects.kernels)
        self.effects.unwrapped.update(effects.unwrapped)
        self.effects.blind.update(effects.blind)
        return value

    def _entered(self, function: FunctionValue, given: dict[str, Value], node: ast.AST,
                 asked: tuple[Resumed, Take, Value, list[bool]] | None = None) -> Value:
        if len(self.active) >= DEPTH or function.node in self.world.shared.endless:
            return self.not_known(thing(function), Arguments(tuple(given.values())), node)
        frame = Frame(self.here.name, self.here.module.display, getattr(node, "lineno", 1))
        place = (function.module.display, function.node.lineno, function.node.col_offset)
        at = (getattr(node, name, 0) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
        call = (self.here.module.display, *at, *self.rounds)  # `a.b().c()` has two calls that begin at one place
        chain = (*self.here.chain, call) if asked is None else ("generator", asked[0].made)
        library = function.module.display in FOLLOWED
        name = "<lambda>" if isinstance(function.node, ast.Lambda) else function.node.name
        inner = Activation(function.module, name, (*place, chain), function.scope, function.node,
                           self.here.path if name == "<genexpr>" or library else (*self.here.path, frame), chain,
                           function.owner, entry=dict(given), origin=self.origin(node) if library else None)
        if asked is not None:
            _, inner.take, inner.sent, _ = asked
            inner.taker, inner.captured = self.here, True  # its names last until it ends
        self.scopes[inner.scope] = function.scope
        self.active.append(inner)
        steps, outer, self.here = self.steps, self.here, inner
        endless = self.world.shared.endless
        known = len(endless)
        try:
            returned = self.run(inner)
            if asked is not None:
                asked[3][0] = bool(inner.left)
            return returned
        except TooLargeError:
            if self.steps - steps > STEPS // 2 and len(endless) == known:  # another op would spend as much on it
                endless.add(function.node)  # the innermost one: wrappers around it may call others
            raise
        except TooLongError:
            now = time.thread_time()
            if now - inner.started > (now - self.active[0].started) / 2 and len(endless) == known:
                endless.add(function.node)
            raise
        finally:
            self.active.pop()
            self.here = outer
            if not inner.captured:
                for state in (self.state, *self.watch):  # the latter took in what the call's statements left
                    state.names.pop(inner.scope, None)
                    state.parts.pop(inner.scope, None)

    def run(self, inner: Activation) -> Value:
        """Interpret the body of `self.here` until its recursive calls add nothing; the state becomes that after it."""
        state = self.state
        for _ in range(_ROUNDS):
            before = self._known(inner)
            start = state.copy()
            start.join(inner.again)
            inner.left = []
            for name, value in inner.entry.items():
                start.put(inner.scope, name, value)
            self._body(inner, start)
            for other in inner.left[1:]:
                inner.left[0].join(other)
            if not inner.recursive:
                break
            if inner.left:
                inner.ended = inner.left[0].copy()
            if before == self._known(inner):
                break
        else:
            raise TooLargeError
        self.state = state
        if inner.left:
            state.become(inner.left[0])
        return inner.returned if inner.returned is not None else UNSEEN

    @staticmethod
    def _known(inner: Activation) -> tuple[object, ...]:
        """What the rounds of a recursive call hand on to each other."""
        again = inner.again.copy() if inner.again is not None else None
        return dict(inner.entry), inner.returned, inner.yielded, inner.ended, again

    def _body(self, inner: Activation, start: State) -> None:
        node = inner.node
        if isinstance(node, ast.Lambda):
            self.state = start
            value = self.evaluate(node.body)
            inner.returned = value if inner.returned is None else join(inner.returned, value)
            inner.left.append(start)
            return
        assert node is not None
        ended = self.block(node.body, start)
        if ended is not None:
            inner.returned = NONE if inner.returned is None else join(inner.returned, NONE)
            inner.left.append(ended)

    def _joined_to(self, running: Activation, given: Mapping[str, Value]) -> None:
        """A recursive call: its arguments join those of the call that is running, which is then run again."""
        running.recursive = True
        for name, value in given.items():
            old = running.entry.get(name)
            running.entry[name] = value if old is None else join(old, value)
        if running.again is None:
            running.again = self.state.copy()
        else:
            running.again.join(self.state)
        self.state.join(running.ended)

    # ------------------------------------------------------------------ parameters

    def _given_to(self, function: FunctionValue, arguments: Arguments, node: ast.AST) -> dict[str, Value]:
        takes = function.node.args
        names, keyword_only = parameters(takes)
        bound = bind(names, keyword_only, arguments)
        values = dict(bound.values)
        known = dict(function.defaults)
        for name, default in defaults(takes).items():
            if name not in values:
                values[name] = known[name] if name in known else self._default(function, default)
            elif values[name] in (bound.spare_rest, bound.extra_rest) or name in arguments.optional:
                given = known[name] if name in known else self._default(function, default)
                values[name] = join(values[name], given)
        for name in (*names, *keyword_only):
            values.setdefault(name, UNSEEN)
        if takes.vararg is not None:
            content = Cell(dict(enumerate(bound.spare)), bound.spare_rest or Value(),
                           len(bound.spare) if bound.spare_rest is None else None, kind="tuple")
            values[takes.vararg.arg] = self.make(node, content, "args")
        if takes.kwarg is not None:
            whole = bound.extra_rest is None and not arguments.optional & bound.extra.keys()
            size = len(bound.extra) if whole else None
            rest = Cell(dict(bound.extra), bound.extra_rest or Value(), size, kind="dict")
            values[takes.kwarg.arg] = self.make(node, rest, "kwargs")
        return values

    def _default(self, function: FunctionValue, default: ast.expr) -> Value:
        outside = self.top(function.module)
        if function.scope is None:
            return self.evaluate_in(default, self.module_state, outside)
        around = replace(outside, name="<class>", scope=function.scope, outer=self.scopes.get(function.scope))
        return self.evaluate_in(default, self.state, around)

    def decorate(self, decorator: ast.expr, value: Value) -> Value:
        maker = self.evaluate(decorator)
        result = self.call(maker, Arguments((value,)), decorator)
        return result if result.things or result.cells else value


def _is_cached(function: HostFunction) -> bool:
    """Whether it gives the very object that it gave before."""
    return any(dotted(d.func if isinstance(d, ast.Call) else d)[-1:] in (("lru_cache",), ("cache",))
               for d in getattr(function, "decorator_list", ()))


def _goes_down(running: Sequence[Activation], given: Mapping[str, Value]) -> bool:
    """Whether a recursive call is given something else than the calls that are running, for a container of theirs."""
    return any(before.cells and not any(value.cells & a.entry.get(name, value).cells for a in running)
               for name, value in given.items() if (before := running[-1].entry.get(name)) is not None)


def _holds_nothing(value: Value) -> bool:
    """Whether no op argument can be reached from a value, and no container that may come to hold one."""
    return not value.cells and not value.roots and all(
        isinstance(item, (KernelValue, External)) or (
            isinstance(item, (FunctionValue, ClassValue)) and item.scope is None
            and not getattr(item, "defaults", ())) for item in value.things)
