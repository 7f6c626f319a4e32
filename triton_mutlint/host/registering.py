"""Following the code of a file that registers ops, through the functions that it calls for that.

Nothing is run. A function of the project that registers what its callers pass (a registrar) is
followed at each call, so that its own code says which argument becomes what; one that registers
functions of its own is read once, by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from triton_mutlint.host import folding_builtins, op_calls
from triton_mutlint.host.binding import bound, forwarded
from triton_mutlint.host.folded import (
    Args,
    Class,
    Const,
    Ext,
    Func,
    Instance,
    Items,
    Late,
    Lib,
    Method,
    Op,
    Package,
    Partial,
    Scope,
    Spot,
    Table,
    Text,
    Unknown,
    Value,
    either,
    options,
)
from triton_mutlint.host.folding import OverBudgetError, fold
from triton_mutlint.host.folding_body import Body
from triton_mutlint.host.modules import Definition, External, HostModule, HostModules, Resolved
from triton_mutlint.host.op_events import ImplEvent, OpEvent, Step
from triton_mutlint.host.registrar import Registrar, public_registrar
from triton_mutlint.host.worth import is_stub, registers, worth_following

MAX_DEPTH = 12  # calls inside calls
MAX_STEPS = 400_000  # expressions and statements, for one file
GIVEN = "it is what the caller passes"
Event = OpEvent | ImplEvent


class Registering:
    """One file: what its code registers."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        self._root, self._modules, self._registrars = module, modules, registrars
        self._events: list[Event] = []
        self._stack: list[ast.AST] = []
        self._active: set[int] = set()
        self._reached: set[int] = set()
        self._steps = 0
        self._known: dict[tuple[int, str], Value] = {}
        self._isolated: dict[int, tuple[list[Event], list[Func]]] = {}
        self._configured: dict[int, tuple[str, Registrar]] | None = None
        self.cut = False  # the file was too much to follow

    # ------------------------------------------------------------------ the whole file

    def events(self) -> Iterator[Event]:
        """What the file registers when it is imported, and what its functions do when they are called."""
        body = Body(self, Scope(self._root), nested=False)
        vague: list[Event] = []
        try:
            body.run(self._root.tree.body)
            queue = list(body.defined)
            for func in queue:
                if registers(func.node) and (not func.nested or id(func.node) not in self._reached):
                    found, inner = self._alone(func)
                    queue.extend(f for f in inner if id(f.node) not in self._isolated)
                    vague.extend(event for event in found if not event.given())
        except (OverBudgetError, RecursionError):
            self.cut = True
        yield from self._events
        reached = {id(event.step.path[-1]) for event in self._events}
        yield from (e for e in vague if not e.depends() or id(e.step.path[-1]) not in reached)

    def _alone(self, func: Func) -> tuple[list[Event], list[Func]]:
        """What a function registers whoever calls it, and the functions that it defines."""
        known = self._isolated.get(id(func.node))
        if known is not None:
            return known
        self._isolated[id(func.node)] = ([], [])
        saved = self._events, self._stack, self._active
        self._events, self._stack, self._active = [], [], {id(func.node)}
        try:
            arguments = func.node.args
            names = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            given = {a.arg: Unknown(GIVEN, True) for a in names if a is not None}
            body = Body(self, Scope(func.module, func.scope, dict(given)), nested=True)
            if isinstance(func.node, ast.Lambda):
                fold(func.node.body, body.scope, self)
            else:
                body.run(func.node.body)
            self._isolated[id(func.node)] = (self._events, body.defined)
        finally:
            self._events, self._stack, self._active = saved
        return self._isolated[id(func.node)]

    # ------------------------------------------------------------------ what expressions ask

    @property
    def depth(self) -> int:
        return len(self._stack)

    def spend(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise OverBudgetError

    def step(self, node: ast.AST) -> Step:
        path = (*self._stack, node)
        return Step(Spot(self._root, path[0]), path)

    def note(self, event: Event) -> None:
        if event.function is not None:
            event = replace(event, function=either([forwarded(v) for v in options(event.function)]))
        self._events.append(event)

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
        found = [r for name, several in self._modules.imported(late.module, late.node) if name == late.name for r in several]
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
            return self._again(self._either(self._modules.members(owner.module, (name,))))
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

    # ------------------------------------------------------------------ calls

    def call(self, callee: Value, args: Args, node: ast.AST, module: HostModule) -> Value:
        several = list(options(callee))
        if any(isinstance(v, Ext) and v.name.endswith(".triton_op") for v in several):
            several = [v for v in several if not (isinstance(v, Ext) and v.name.endswith(".custom_op"))]
        return either([self._call(one, args, node, module) for one in several])

    def _call(self, callee: Value, args: Args, node: ast.AST, module: HostModule) -> Value:
        registrar = self._registrar(callee)
        if registrar is not None:
            return op_calls.by_registrar(registrar[1], callee, registrar[0], args, node, self)
        found: Value | None = None
        if isinstance(callee, Func):
            return self._inline(callee, args, node)
        if isinstance(callee, Class):
            return self._construct(callee, args, node)
        if isinstance(callee, Partial):
            return self._complete(callee, args, node, module)
        if isinstance(callee, Ext):
            found = self._external(callee, args, node, module)
        elif isinstance(callee, Method):
            found = op_calls.on_method(callee.owner, callee.name, args, node, self)
            found = found or folding_builtins.method(callee.owner, callee.name, args)
        if found is not None:
            return found
        given = callee.given() or any(a.given() for a in (*args.positional, *args.keywords.values()))
        return Unknown(f"it is made by `{_shown(node)}`", given)

    def _external(self, callee: Ext, args: Args, node: ast.AST, module: HostModule) -> Value | None:
        if not callee.name.startswith("builtins."):
            return op_calls.external(callee, args, node, self)
        name = callee.name.removeprefix("builtins.")
        if name == "getattr" and len(args.positional) > 1:
            attribute = args.positional[1]
            if isinstance(attribute, Text) and attribute.known:
                found = self.attribute(args.positional[0], attribute.text)
                return either([found, *args.positional[2:3]]) if isinstance(found, Ext) else found
        return folding_builtins.builtin(name, args)

    def _complete(self, callee: Partial, args: Args, node: ast.AST, module: HostModule) -> Value:
        held = callee.args
        if callee.pending:
            function = args.positional[0] if args.positional else Unknown("it is not passed")
            full = Args(held.positional, {**held.keywords, callee.pending: function}, held.open)
        else:
            full = Args((*held.positional, *args.positional), {**held.keywords, **args.keywords}, held.open or args.open)
        return self.call(callee.callee, full, node, module)

    def _inline(self, func: Func, args: Args, node: ast.AST, always: bool = False) -> Value:
        """Follow a call into a function of the project, if it is worth it or `always`."""
        given = any(a.given() for a in (*args.positional, *args.keywords.values()))
        known = always or worth_following(func, self._root)
        if id(func.node) in self._active or self.depth >= MAX_DEPTH or not known:
            return Unknown(f"it is made by `{_shown(node)}`", given)
        wanted = None if func.nested else {_ids(e.step.path) for e in self._alone(func)[0] if e.depends()}
        self._reached.add(id(func.node))
        before, self._events = self._events, []
        start = len(self._stack) + 1
        self._stack.append(node)
        self._active.add(id(func.node))
        try:
            value = self._run(func, args)
        finally:
            self._active.discard(id(func.node))
            self._stack.pop()
            found, self._events = self._events, before
        self._events.extend(e for e in found if wanted is None or _ids(e.step.path[start:]) in wanted)
        return value

    def _run(self, func: Func, args: Args) -> Value:
        full = args.with_first(func.owner) if func.owner is not None else args
        scope = Scope(func.module, func.scope, bound(func, full, self))
        if isinstance(func.node, ast.Lambda):
            return fold(func.node.body, scope, self)
        body = Body(self, scope, nested=True)
        body.run(func.node.body)
        return either(body.returned) if body.returned else Const()

    def _construct(self, cls: Class, args: Args, node: ast.AST) -> Value:
        """An instance, and what its methods would register with what it holds."""
        instance = Instance(cls=cls)
        if not any(registers(m) for m in cls.node.body) and not cls.node.decorator_list:
            return instance
        init = cls.scope.names.get("__init__")
        if isinstance(init, Func):
            self._inline(_owned(init, instance), args, node, always=True)
        else:
            fields = [s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
            instance.fields.update(zip(fields, args.positional, strict=False))
            instance.fields.update(args.keywords)
        for name, member in cls.scope.names.items():
            if isinstance(member, Func) and name != "__init__" and registers(member.node) and _takes_self(member):
                self._inline(_owned(member, instance), Args(), node)
        return instance

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


def _ids(path: tuple[ast.AST, ...]) -> tuple[int, ...]:
    return tuple(map(id, path))


def _unbound(module: HostModule, name: str) -> Value:
    """A name that nothing binds: one of `from torch.library import *`, or a built-in."""
    for star in module.stars:
        if star.module == "torch.library" and not star.level:
            return Ext(f"torch.library.{name}")
    return Ext(f"builtins.{name}")


def _shown(node: ast.AST) -> str:
    callee = node.func if isinstance(node, ast.Call) else node
    text = ast.unparse(callee)
    return text if len(text) < 60 else f"{text[:57]}..."


def _owned(func: Func, owner: Value) -> Func:
    return Func(module=func.module, node=func.node, scope=func.scope, owner=owner, nested=True, spot=func.spot)


def _takes_self(func: Func) -> bool:
    a = func.node.args
    needed = len(a.posonlyargs) + len(a.args) - len(a.defaults)
    return needed == 1 and not any(d is None for d in a.kw_defaults)


def _bound_method(owner: Instance, name: str) -> Value:
    member = owner.cls.scope.names.get(name)
    if not isinstance(member, Func) or isinstance(member.node, ast.Lambda):
        return member or Unknown("it is computed at run time")
    if any("property" in ast.unparse(d) for d in member.node.decorator_list):
        return Unknown("it is computed at run time")
    return _owned(member, owner)
