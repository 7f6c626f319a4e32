"""What names and attributes stand for in code that registers ops."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from triton_mutlint.config.registrar import Registrar, public_registrar
from triton_mutlint.host.modules.module import Definition, External, HostModule, Resolved
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.events import ImplEvent, OpEvent
from triton_mutlint.host.registrations.folded import (
    Args,
    Class,
    Ext,
    Func,
    Instance,
    Items,
    Late,
    Lib,
    Method,
    Op,
    Package,
    Scope,
    Spot,
    Table,
    Text,
    Unknown,
    Value,
    either,
    options,
)
from triton_mutlint.host.registrations.folding import fold
from triton_mutlint.host.registrations.folding_body import Body
from triton_mutlint.host.registrations.may_register import is_stub

Event = OpEvent | ImplEvent


class Names(ABC):
    """The names of one file and of those that it imports from."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        self._root, self._modules, self._registrars = module, modules, registrars
        self._events: list[Event] = []
        self._stack: list[ast.AST] = []
        self._known: dict[tuple[int, str], Value] = {}
        self._members: dict[tuple[int, str], Value] = {}
        self._configured: dict[int, tuple[str, Registrar]] | None = None

    @property
    def depth(self) -> int:
        return len(self._stack)

    @abstractmethod
    def call(self, callee: Value, args: Args, node: ast.AST, module: HostModule) -> Value:
        """What a call gives; what it registers is noted."""

    @abstractmethod
    def spend(self) -> None:
        """Count a step of work. Raises `OverBudgetError`."""

    def lookup(self, module: HostModule, name: str) -> Value:
        key = (id(module), name)
        if key not in self._known:
            self._known[key] = Unknown("it is defined by itself")
            found = self._modules.resolve(module, (name,))
            if module is self._root:  # an assignment of this file that has not been reached yet does not hold
                found = [r for r in found if not self._is_own_value(r)] or found
            self._known[key] = self._either(found) if found else _unbound(module, name)
        return self._again(self._known[key])

    def _is_own_value(self, found: Resolved) -> bool:
        return isinstance(found, Definition) and found.module is self._root and isinstance(found.node, ast.expr)

    def _again(self, value: Value) -> Value:
        """A value that was reached through a name: as if written here, but not to be edited."""
        if isinstance(value, (Items, Table, Text)) and value.spot is not None:
            return replace(value, spot=Spot(value.spot.module, value.spot.node, self.depth, False))
        return value

    def imported(self, late: Late) -> Value:
        """What an import inside a function binds a name to."""
        bound = self._modules.imported(late.module, late.node)
        found = [one for name, several in bound if name == late.name for one in several]
        return self._again(self._either(found))

    def _either(self, found: list[Resolved]) -> Value:
        values = [self._value(one) for one in found]
        whole = [v for v in values if not (isinstance(v, Func) and is_stub(v.node))]
        return either(whole or values)

    def _value(self, found: Resolved) -> Value:
        if isinstance(found, External):
            return Ext(found.name)
        if isinstance(found, HostModule):
            return Package(module=found)
        scope = Scope(found.module)
        saved, self._events = self._events, []  # what it registers is told where it stands
        try:
            if isinstance(found.node, ast.expr):
                value = fold(found.node, scope, self)
                for index in found.index:
                    held = value.items if isinstance(value, Items) and value.whole else ()
                    value = held[index] if index < len(held) else Unknown("it is computed at run time")
                return value
            if isinstance(found.node, ast.ClassDef):
                Body(self, scope, nested=False).run([found.node])
            elif found.node.decorator_list:
                Body(self, scope, nested=False).function(found.node)
            else:
                return Func(module=found.module, node=found.node, scope=scope)
            defined = scope.names.pop(found.node.name)
        finally:
            self._events = saved
        return defined

    def store(self, owner: Value, name: str, value: Value) -> None:
        """`owner.name = value`."""
        if isinstance(owner, Instance):
            owner.fields[name] = value

    def attribute(self, owner: Value, name: str) -> Value:
        return either([self._attribute(one, name) for one in options(owner)])

    def _attribute(self, owner: Value, name: str) -> Value:
        if isinstance(owner, Ext):
            return Ext(f"{owner.name}.{name}")
        if isinstance(owner, Package):
            key = (id(owner.module), name)
            if key not in self._members:
                self._members[key] = self._either(self._modules.members(owner.module, (name,)))
            return self._again(self._members[key])
        if isinstance(owner, Class):
            return owner.scope.names.get(name) or Unknown("it is computed at run time")
        if isinstance(owner, Instance):
            return owner.fields.get(name) or _bound_method(owner, name)
        if isinstance(owner, Lib) and name == "ns":
            return owner.namespace
        if isinstance(owner, (Func, Op)) and name in ("__name__", "__qualname__"):
            function = owner.event.function if isinstance(owner, Op) else owner
            return Text(function.name) if isinstance(function, Func) else Unknown("it is computed at run time")
        if isinstance(owner, Unknown) and name in ("__name__", "__qualname__"):
            return Text("{name}", False, owner.given())
        return Method(owner=owner, name=name)

    # ------------------------------------------------------------------ registrars

    def _registrar(self, callee: Value) -> tuple[str, Registrar] | None:
        """What is known of a callee that registers ops: by configuration, else of public libraries."""
        if isinstance(callee, Func):
            found = self._own.get(id(callee.node))
            if found is None:
                return None
            names = tuple(a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args))
            r = found[1]
            return found[0], Registrar(r.function, r.mutates, r.default, r.name, names, r.namespace)
        if not isinstance(callee, Ext):
            return None
        own = self._registrars.get(callee.name)
        known = own or public_registrar(callee.name)
        return (callee.name, known) if known is not None else None

    @property
    def _own(self) -> Mapping[int, tuple[str, Registrar]]:
        """The configured registrars that first-party files define, by their `def`."""
        if self._configured is None:
            self._configured = {}
            for name, registrar in self._registrars.items():
                module, _, last = name.rpartition(".")
                statement = ast.ImportFrom(module, [ast.alias(last)], 0)
                for _, found in self._modules.imported(self._root, statement):
                    for one in found:
                        if isinstance(one, Definition):
                            self._configured[id(one.node)] = (name, registrar)
        return self._configured


def _unbound(module: HostModule, name: str) -> Value:
    """A name that nothing binds: one of `from torch.library import *`, or a built-in."""
    for star in module.stars:
        if star.module == "torch.library" and not star.level:
            return Ext(f"torch.library.{name}")
    return Ext(f"builtins.{name}")


def owned(func: Func, owner: Value) -> Func:
    return Func(module=func.module, node=func.node, scope=func.scope, owner=owner, nested=True, spot=func.spot)


def _bound_method(owner: Instance, name: str) -> Value:
    member = owner.cls.scope.names.get(name)
    if not isinstance(member, Func) or isinstance(member.node, ast.Lambda):
        return member or Unknown("it is computed at run time")
    if any("property" in ast.unparse(d) for d in member.node.decorator_list):
        return Unknown("it is computed at run time")
    return owned(member, owner)
