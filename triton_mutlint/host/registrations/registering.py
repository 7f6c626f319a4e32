"""Following the code of a file that registers ops, through the functions that it calls for that.

Nothing is run. A function of the project that registers what its callers pass (a registrar) is followed at each call;
one that registers functions of its own is read once, by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from triton_mutlint.config.registrar import Registrar, public_registrar
from triton_mutlint.host.modules.module import Definition, External, HostModule, yields
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.things import (
    PASSED,
    Event,
    Library,
    Opaque,
    OpEvent,
    Step,
    hole,
    is_told,
    op_of,
    opaque,
    snapshot,
    string,
    strings,
    written,
)
from triton_mutlint.host.registrations.torch_registering import TorchRegistering, is_passed, passed
from triton_mutlint.host.state.core import Activation, Kernels, TooLargeError, World
from triton_mutlint.host.state.effects import Effects
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments
from triton_mutlint.host.values.values import (
    UNSEEN,
    FunctionValue,
    Observed,
    Thing,
    Value,
    thing,
)
from triton_mutlint.host.values.written import Spot
from triton_mutlint.source.walking import walk

MAX_DEPTH = 12  # calls inside calls
SHORT = 40  # statements
MAX_STEPS = 200_000  # statements, for one file


@dataclass(frozen=True)
class Alone:
    """What a function registers whoever calls it, the functions that it defines, and whether calls of it say more."""

    events: Sequence[Event] = ()
    defined: Sequence[tuple[FunctionValue, State]] = ()
    depends: bool = True


class Registering(TorchRegistering):
    """Follows code, and notes what it registers as events, each at its place in the file."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        super().__init__(World(modules, Kernels(), {}))
        self.root, self._registrars = module, registrars
        self.events: list[Event] = []
        self.stack: list[ast.AST] = []
        self.defined: list[FunctionValue] = []
        self.ops: dict[str, Value] = {}  # the functions of those that were registered
        self.reached: set[int] = set()
        self.left = MAX_STEPS
        self.by_node: dict[int, FunctionValue] = {}
        self.importing = True  # and not following what is only called later
        self.functions: list[FunctionValue] = []
        self._told: dict[FunctionValue, tuple[str, Registrar, Arguments]] = {}  # decorators that known registrars gave

    # ------------------------------------------------------------------ what is noted

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLargeError

    def site(self, node: ast.AST) -> Step:
        path = (*self.stack, node)
        depth = next((i for i in range(len(path) - 1, 0, -1) if self._names_op(path[i])), 0)
        return Step(Spot(self.root, path[depth]), path, depth)

    def _names_op(self, node: ast.AST) -> bool:
        """Whether a call stands in this file and spells out what may be an op's name."""
        if not isinstance(node, ast.Call):
            return False
        given = (*node.args[:1], *(k.value for k in node.keywords if k.arg and "name" in k.arg))
        spelt = any(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in given)
        return spelt and id(node) in self._own_calls

    @cached_property
    def _own_calls(self) -> frozenset[int]:
        return frozenset(id(node) for node in ast.walk(self.root.tree) if isinstance(node, ast.Call))

    def note(self, event: Event) -> None:
        for i, function in enumerate(self.functions):
            told = self._told_by(function, event, i + 1)
            if told is not None and function.module is not self.root:
                return  # it is an op of that file
            if told is not None and is_told(told):
                event = replace(event, step=replace(event.step, site=told.step.site, depth=told.step.depth + i + 1))
        if event.function is not None:
            meant = {id(one): self.ops.get(op_of(one), thing(one)).things for one in event.function.things}
            things = frozenset(one for held in meant.values() for one in held)
            event = replace(event, function=replace(event.function, things=things))
            if isinstance(event, OpEvent) and event.function is not None and strings(event.name):
                self.ops[strings(event.name)[0]] = event.function
        self.events.append(event)

    def _told_by(self, function: FunctionValue, event: Event, depth: int) -> Event | None:
        """The same event, where a function registers that whoever calls it."""
        name, path = string(event.name), event.step.path[depth:]
        return None if name is None else next(
            (e for e in self.alone(function).events if string(e.name) == name and e.step.path == path), None)

    def alone(self, function: FunctionValue) -> Alone:
        """What a function registers whoever calls it."""
        raise NotImplementedError

    # ------------------------------------------------------------------ functions and classes

    def function(self, module: HostModule, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        owner = self.here.owner if self.here.is_class else None
        made = FunctionValue(module, node, self.closure, owner, self.defaults_of(node.args))
        self.defined.append(made)
        if not self.stack:
            self.by_node[id(node)] = made
        return super().function(module, node)

    def _of_thing(self, owner: Thing, name: str, node: ast.AST) -> Value:
        if name in ("__name__", "__qualname__"):
            for one in self.ops.get(op_of(owner), thing(owner)).things:
                if isinstance(one, FunctionValue):
                    return written(getattr(one.node, "name", "<lambda>"))
            if isinstance(owner, Opaque):
                return written(hole("name"))
        if isinstance(owner, Library) and name == "ns":
            return owner.namespace
        return super()._of_thing(owner, name, node)

    # ------------------------------------------------------------------ calls

    def _one(self, thing: Thing, arguments: Arguments, node: ast.AST) -> Value:
        if isinstance(thing, External):
            known = self.registrar_of(thing)
            if known is not None:
                return self.by_registrar(known[1], thing, known[0], arguments, node)
        if isinstance(thing, Observed):
            return self.not_known(UNSEEN, arguments, node)
        return super()._one(thing, arguments, node)

    def not_known(self, owner: Value, arguments: Arguments, node: ast.AST) -> Value:
        text = ast.unparse(node.func if isinstance(node, ast.Call) else node)
        return opaque(f"it is made by `{text if len(text) < 60 else f'{text[:57]}...'}`")

    def invoke(self, function: FunctionValue, arguments: Arguments, node: ast.AST) -> Value:
        """A call of a first-party function; one of a known registrar says what its arguments mean.

        The registrar's own code says how ops are named, if it can be followed that far. What it gives may be
        a decorator, which then registers what the registrar was told.
        """
        if yields(function.node):
            return super().invoke(function, arguments, node)
        known = self.registrar_of(function)
        name, registrar = known or ("", None)
        told_before = self._told.get(function)
        if told_before is not None:
            name, registrar, given = told_before
            decorated = next(iter(arguments), opaque("it is not passed"))
            full = replace(given, named={**given.named, registrar.function or "decorated": decorated})
        elif registrar is None:
            return self._inline(function, arguments, node)
        else:
            full = arguments
        before, self.events = self.events, []
        value = self._inline(function, arguments, node)
        found, self.events = self.events, before
        if not found:
            decorators = [one for one in value.things if isinstance(one, FunctionValue)]
            if not decorators or is_passed(registrar, full):
                return self.by_registrar(registrar, function, name, full, node)
            self._told.update(dict.fromkeys(decorators, (name, registrar, full)))
        told = passed(registrar, full, registrar.mutates)
        more = snapshot([told], self.state, self.module_state)
        for event in found:
            if isinstance(event, OpEvent):
                held = replace(event.state, heap={**event.state.heap, **more.heap})
                event = replace(event, mutates=told, default=registrar.default, schema=None, required=False, state=held)
            self.events.append(event)
        return value

    def registrar_of(self, callee: Thing) -> tuple[str, Registrar] | None:
        """What is known of a callee that registers ops: by configuration, else of public libraries."""
        if isinstance(callee, FunctionValue):
            found = self._own.get(id(callee.node))
            if found is None:
                return None
            names = tuple(a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args))
            return found[0], replace(found[1], order=names)
        if not isinstance(callee, External):
            return None
        known = self._registrars.get(callee.name) or public_registrar(callee.name)
        return (callee.name, known) if known is not None else None

    @cached_property
    def _own(self) -> Mapping[int, tuple[str, Registrar]]:
        """The configured registrars that first-party files define, by their `def`."""
        own: dict[int, tuple[str, Registrar]] = {}
        for name, registrar in self._registrars.items():
            module, _, last = name.rpartition(".")
            for _, found in self.world.modules.imported(self.root, ast.ImportFrom(module, [ast.alias(last)], 0)):
                own.update((id(one.node), (name, registrar)) for one in found if isinstance(one, Definition))
        return own

    def _inline(self, function: FunctionValue, arguments: Arguments, node: ast.AST) -> Value:
        """Follow a call into a function of the project, where that may lead to what registers ops."""
        running = len(self.stack) >= MAX_DEPTH or any(one.node is function.node for one in self.active)
        if running or not self._leads(function):
            return self.not_known(UNSEEN, arguments, node)
        self.reached.add(id(function.node))
        self.stack.append(node)
        self.functions.append(function)
        try:
            if not self.importing and self.world.modules.registers(function.node, function.module):
                known = self.alone(function)
                if not (known.depends or (not known.events and any(map(self.may_register, arguments)))):
                    for event in known.events:
                        step = replace(event.step, path=(*self.stack, *event.step.path))
                        self.note(replace(event, step=step))
                    return self.not_known(UNSEEN, arguments, node)
            given = self._given_to(function, arguments, node)
            return self._entered(function, given, node)
        finally:
            self.stack.pop()
            self.functions.pop()

    def may_register(self, value: Value) -> bool:
        """Whether calling it, or what it holds, may register ops."""
        objects = (content.owner for content in self.state.contents(value))
        return any(isinstance(one, (Library, FunctionValue, External)) or one == Opaque(PASSED)
                   for one in value.things) or any(owner is not None for owner in objects)

    def _leads(self, function: FunctionValue) -> bool:
        node, owner, modules = function.node, function.owner, self.world.modules
        if isinstance(node, ast.Lambda) or node.name == "__init__" or modules.registers(node, function.module):
            return True
        near = function.module is self.root or modules.names_registrar(node.name) or "lib" in node.name.lower()
        return _is_short(node) and (near or (owner is not None and modules.registers(owner.node, owner.module)))

    def apart(self, work: Callable[[], Value], here: Activation) -> tuple[Value, Effects]:
        """What work registers is told where it stands."""
        saved = self.events, self.defined, self.rounds
        self.events, self.defined, self.rounds = [], [], ()
        try:
            return super().apart(work, here)
        finally:
            self.events, self.defined, self.rounds = saved


@lru_cache(maxsize=1 << 12)
def _is_short(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return sum(isinstance(inner, ast.stmt) for inner in walk(node)) <= SHORT
