"""What one file registers: when it is imported, and in functions that nothing calls then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.registering import Alone, Registering
from triton_mutlint.host.registrations.things import PASSED, Event, Library, is_told, opaque, string
from triton_mutlint.host.state.core import TooLargeError
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import defaults
from triton_mutlint.host.values.values import ClassValue, FunctionValue, Value, join

MAX_ALONE = 10_000  # statements, for one function that nothing calls while the file is imported
_OF_ONE = ("events", "defined", "stack", "functions", "rounds", "reached", "importing", "left")


class FileRegistrations(Registering):
    """One file: what its code registers, in the order of its statements, and that of those that it imports from."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        super().__init__(module, modules, registrars)
        self._alone: dict[int, Alone] = {}

    def found(self) -> Iterator[Event]:
        """What the file registers when it is imported, and what functions do that nothing in it calls."""
        self.state = state = State(base=self.module_state.heap, scopes=self.scopes, importing=True)
        self.here = self.top(self.root)
        left: list[tuple[FunctionValue, Event]] = []
        try:
            state = self.block(self.root.tree.body, state) or state
            self.module_state.update(state.heap)  # so that states of functions hold but their own
            after = State(state.names, base=self.module_state.heap, scopes=self.scopes, importing=True)
            pending, seen = [(function, after) for function in reversed(self.defined)], set(self.reached)
            while pending:
                function, around = pending.pop()
                if id(function.node) not in seen and self.world.modules.registers(function.node, function.module):
                    seen.add(id(function.node))
                    alone = self.alone(function, around)
                    left.extend((function, event) for event in alone.events)
                    pending.extend(reversed(alone.defined))
        except (TooLargeError, RecursionError):
            pass
        yield from self.events
        others = [event for function, event in left if id(function.node) not in self.reached]
        named = {event.step.path[-1] for event in (*self.events, *others) if string(event.name)}
        yield from (e for e in others if is_told(e) and (string(e.name) or e.step.path[-1] not in named))

    def alone(self, function: FunctionValue, around: State | None = None) -> Alone:
        key = id(function.node)
        if key not in self._alone:
            self._alone[key] = Alone()  # until it is known: functions that call each other
            if self._registers_itself(function):
                self._alone[key] = self._followed(function, around or State(
                    base=self.module_state.heap, scopes=self.scopes, importing=True))
            else:
                self._alone[key] = Alone(depends=False)
        return self._alone[key]

    def _followed(self, function: FunctionValue, around: State) -> Alone:
        own = around.copy()
        saved = {name: getattr(self, name) for name in _OF_ONE}
        self.events, self.defined, self.stack, self.functions, self.rounds = [], [], [], [], ()
        self.reached, self.importing, self.left = set(), False, MAX_ALONE
        try:
            a = function.node.args
            names = (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
            given = {p.arg: opaque(PASSED) for p in names if p is not None}
            with self.at(around, self.top(function.module)):
                given.update(self._kept_defaults(function, given))
            with self.at(own, self.top(function.module)):
                value = self._entered(function, given, function.node)
                told = all(string(event.name) and is_told(event) for event in self.events)
                depends = not told or self.may_register(value)
        except TooLargeError:  # what it has registered so far is known
            depends = False
        finally:
            events, defined = self.events, [(one, own) for one in self.defined]
            vars(self).update(saved)
        return Alone(events, defined, depends)

    def _registers_itself(self, function: FunctionValue) -> bool:
        """Whether it may register more than functions do that it calls, whoever calls these."""
        called = list(self.world.modules.registering(function.node, function.module))
        inner = [[self.by_node.get(id(node)) for node in function.module.defined(one)] for one in called]
        return not called or not all(functions and all(
            one is not None and not self.alone(one).depends for one in functions) for functions in inner)

    def _kept_defaults(self, function: FunctionValue, given: Mapping[str, Value]) -> dict[str, Value]:
        """The parameters that stand for a library or for what registers, unless a caller passes another."""
        known = dict(function.defaults)
        held = {name: known[name] if name in known else self._default(function, default)
                for name, default in defaults(function.node.args).items()}
        return {name: join(value, given[name]) for name, value in held.items() if len(value.things) == 1
                and all(isinstance(one, (Library, ClassValue, FunctionValue)) for one in value.things)}
