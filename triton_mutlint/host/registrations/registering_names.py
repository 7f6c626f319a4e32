"""What names, members and attributes stand for in code that registers ops."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from triton_mutlint.config.registrar import Registrar, public_registrar
from triton_mutlint.host.modules.module import Definition, External, HostModule, Resolved
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.things import (
    Event,
    Library,
    Opaque,
    hole,
    is_unknown,
    op_of,
    opaque,
    written,
)
from triton_mutlint.host.registrations.torch_registering import TorchRegistering
from triton_mutlint.host.state.core import NO_KERNELS, World
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.values import (
    ClassValue,
    FunctionValue,
    Thing,
    Value,
    thing,
)


class RegisteringNames(TorchRegistering):
    """The names of one file, in the order of its statements, and of those that it imports from."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        super().__init__(World(modules, NO_KERNELS, {}))
        self.root, self._registrars = module, registrars
        self.events: list[Event] = []
        self.stack: list[ast.AST] = []
        self.defined: list[FunctionValue] = []
        self._meanings: dict[tuple[int, str], Value] = {}
        self._classes: dict[int, dict[str, Value]] = {}
        self.ops: dict[str, Value] = {}  # the functions of those that were registered
        self._configured: dict[int, tuple[str, Registrar]] | None = None

    # ------------------------------------------------------------------ names

    def module_name(self, module: HostModule, name: str, settled: bool = False) -> Value:
        key = (id(module), name)
        if key not in self._meanings:
            self._meanings[key] = opaque("it is defined by itself")
            found = self.world.modules.resolve(module, (name,), settled=module is not self.root)
            if module is self.root:  # an assignment of this file that has not been reached yet does not hold
                found = [r for r in found if not self._is_own_value(r)] or found
            self._meanings[key] = self.meaning(found) if found else _unbound(module, name)
        return self._meanings[key]

    def _is_own_value(self, found: Resolved) -> bool:
        return isinstance(found, Definition) and found.module is self.root and isinstance(found.node, ast.expr)

    # ------------------------------------------------------------------ functions and classes

    def function(self, module: HostModule, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        undecorated = ast.copy_location(ast.FunctionDef(node.name, node.args, node.body, []), node)
        self.here.captured = True
        scope = None if self.here.name == "<module>" else self.here.scope
        made = FunctionValue(module, node, scope, defaults=self.defaults_of(undecorated.args))
        self.defined.append(made)
        value = thing(made)
        for decorator in reversed(node.decorator_list):
            value = self.decorated(decorator, value)
        return value

    def decorated(self, decorator: ast.expr, value: Value) -> Value:
        maker = self.evaluate(decorator)
        applied = self.call(maker, Arguments((value,)), decorator)
        return value if is_unknown(applied) or not (applied.things or applied.cells) else applied

    def _s_classdef(self, node: ast.ClassDef) -> State:
        self.here.captured = True
        self._classes[id(node)] = self._class_body(node)
        made = ClassValue(self.here.module, node, None if self.here.name == "<module>" else self.here.scope)
        self.state.put(self.scope_of(node.name), node.name, thing(made))
        for base in self.order(made)[1:]:
            hook = self._own_member(base, "__init_subclass__")
            if hook is not None:  # a class method, with or without its decorator
                given = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg not in (None, "metaclass")}
                self.call(hook, Arguments((thing(made),), {str(name): value for name, value in given.items()}), node)
                break
        value = thing(made)
        for decorator in reversed(node.decorator_list):
            value = self.decorated(decorator, value)
        self.state.put(self.scope_of(node.name), node.name, value)
        return self.state

    def _class_body(self, node: ast.ClassDef) -> dict[str, Value]:
        """The members of a class; its methods do not see their names."""
        place = self.cell(node, "class")
        inner = replace(self.here, name=self.here.name, scope=place, node=None)
        self.scopes[place] = None if self.here.name == "<module>" else self.here.scope
        first = len(self.defined)
        with self.at(self.state, inner):
            self.block(node.body, self.state)
        owner = ClassValue(self.here.module, node, None if self.here.name == "<module>" else self.here.scope)
        outer = self.scopes[place]
        self.defined[first:] = [replace(one, owner=owner, scope=outer if one.scope == place else one.scope)
                                for one in self.defined[first:]]
        return dict(self.state.names.get(place, {}))

    def members(self, owner: ClassValue) -> Mapping[str, Value]:
        if id(owner.node) not in self._classes:
            made = self._classes[id(owner.node)] = {}

            def work() -> Value:
                made.update(self._class_body(owner.node))
                return Value()

            self.apart(work, self.top(owner.module))
        return self._classes[id(owner.node)]

    def _own_member(self, owner: ClassValue, name: str) -> Value | None:
        value = self.members(owner).get(name)
        if value is None:
            return None
        return replace(value, things=frozenset(
            replace(one, owner=owner, scope=owner.scope) if isinstance(one, FunctionValue) else one
            for one in value.things))

    def _of_thing(self, owner: Thing, name: str, node: ast.AST) -> Value:
        if name in ("__name__", "__qualname__"):
            for one in self.ops.get(op_of(owner), thing(owner)).things:
                if isinstance(one, FunctionValue):
                    return written(getattr(one.node, "name", "<lambda>"))
            if isinstance(owner, Opaque):
                return written(hole("name"))
        if isinstance(owner, Library) and name == "ns":
            return owner.namespace
        if isinstance(owner, HostModule):
            key = (id(owner), f".{name}")
            if key not in self._meanings:
                self._meanings[key] = self.meaning(self.world.modules.members(owner, (name,)))
            return self._meanings[key]
        return super()._of_thing(owner, name, node)

    # ------------------------------------------------------------------ registrars

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

    @property
    def _own(self) -> Mapping[int, tuple[str, Registrar]]:
        """The configured registrars that first-party files define, by their `def`."""
        if self._configured is None:
            self._configured = {}
            for name, registrar in self._registrars.items():
                module, _, last = name.rpartition(".")
                statement = ast.ImportFrom(module, [ast.alias(last)], 0)
                for _, found in self.world.modules.imported(self.root, statement):
                    for one in found:
                        if isinstance(one, Definition):
                            self._configured[id(one.node)] = (name, registrar)
        return self._configured


def _unbound(module: HostModule, name: str) -> Value:
    """A name that nothing binds: one of `from torch.library import *`, or a built-in."""
    starred = any(star.module == "torch.library" and not star.level for star in module.stars)
    return thing(External(f"torch.library.{name}" if starred else f"builtins.{name}"))
