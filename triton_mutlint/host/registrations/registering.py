"""Following the code of a file that registers ops, through the functions that it calls for that.

Nothing is run. A function of the project that registers what its callers pass (a registrar) is
followed at each call, so that its own code says which argument becomes what; one that registers
functions of its own is read once, by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations import folding_builtins
from triton_mutlint.host.registrations import torch_registering as op_calls
from triton_mutlint.host.registrations.binding import bound, forwarded
from triton_mutlint.host.registrations.events import OpEvent, Step
from triton_mutlint.host.registrations.folded import (
    Args,
    Class,
    Const,
    Ext,
    Func,
    Instance,
    Items,
    Lib,
    Method,
    Partial,
    Scope,
    Some,
    Spot,
    Text,
    Unknown,
    Value,
    either,
    options,
)
from triton_mutlint.host.registrations.folding import MAX_UNROLLED, OverBudgetError, fold
from triton_mutlint.host.registrations.folding_body import Body
from triton_mutlint.host.registrations.folding_values import as_items, each
from triton_mutlint.host.registrations.may_register import registers, worth_following
from triton_mutlint.host.registrations.registering_names import Event, Names, owned

MAX_DEPTH = 12  # calls inside calls
MAX_STEPS = 1_000_000  # expressions and statements, for one file
GIVEN = "it is what the caller passes"


class Registering(Names):
    """One file: what its code registers."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        super().__init__(module, modules, registrars)
        self._active: set[int] = set()
        self._reached: set[int] = set()
        self._steps = 0
        self._isolated: dict[int, tuple[list[Event], list[Func]]] = {}
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
                if registers(func.node, func.module) and (not func.nested or id(func.node) not in self._reached):
                    found, inner = self._alone(func)
                    queue.extend(f for f in inner if id(f.node) not in self._isolated)
                    vague.extend(event for event in found if not event.given())
        except (OverBudgetError, RecursionError):
            self.cut = True
        yield from self._events
        reached = {id(event.step.path[-1]) for event in self._events}
        yield from (e for e in vague if not e.depends() or (id(e.step.path[-1]) not in reached and _has_function(e)))

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
            given: dict[str, Value] = {a.arg: Unknown(GIVEN, True) for a in names if a is not None}
            given.update(self._defaults(func))
            body = Body(self, Scope(func.module, func.scope, dict(given)), nested=True)
            if isinstance(func.node, ast.Lambda):
                fold(func.node.body, body.scope, self)
            else:
                body.run(func.node.body)
            self._isolated[id(func.node)] = (self._events, body.defined)
        finally:
            self._events, self._stack, self._active = saved
        return self._isolated[id(func.node)]

    def _defaults(self, func: Func) -> dict[str, Value]:
        """The parameters that stand for a library or for what registers, unless a caller passes another."""
        a = func.node.args
        ordered = [*a.posonlyargs, *a.args]
        paired = [*zip(ordered[len(ordered) - len(a.defaults) :], a.defaults, strict=True),
                  *zip(a.kwonlyargs, a.kw_defaults, strict=True)]
        folded = {p.arg: fold(default, func.scope, self) for p, default in paired if isinstance(default, ast.expr)}
        return {name: either([value, Unknown(GIVEN, True)]) for name, value in folded.items()
                if isinstance(value, (Lib, Class, Func))}

    # ------------------------------------------------------------------ what expressions ask

    def spend(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise OverBudgetError

    def step(self, node: ast.AST) -> Step:
        path = (*self._stack, node)
        depth = next((i for i in range(len(path) - 1, 0, -1) if self._names_op(path[i])), 0)
        return Step(Spot(self._root, path[depth]), path, depth)

    def _names_op(self, node: ast.AST) -> bool:
        """Whether a call stands in this file and spells out what may be an op's name."""
        if not isinstance(node, ast.Call):
            return False
        given = (*node.args[:1], *(k.value for k in node.keywords if k.arg and "name" in k.arg))
        spelt = any(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in given)
        return spelt and id(node) in self._own_calls

    @cached_property
    def _own_calls(self) -> frozenset[int]:
        return frozenset(id(node) for node in ast.walk(self._root.tree) if isinstance(node, ast.Call))

    def note(self, event: Event) -> None:
        if event.function is not None:
            event = replace(event, function=either([forwarded(v) for v in options(event.function)]))
        self._events.append(event)

    # ------------------------------------------------------------------ calls

    def call(self, callee: Value, args: Args, node: ast.AST, module: HostModule) -> Value:
        several = list(options(callee))
        if any(isinstance(v, Ext) and v.name.endswith(".triton_op") for v in several):
            several = [v for v in several if not (isinstance(v, Ext) and v.name.endswith(".custom_op"))]
        if any(isinstance(v, Method) and isinstance(v.owner, Lib) for v in several):  # it is that library, if any
            several = [v for v in several if not (isinstance(v, Method) and isinstance(v.owner, Unknown))]
        return either([self._call(one, args, node, module) for one in several])

    def _call(self, callee: Value, args: Args, node: ast.AST, module: HostModule) -> Value:
        registrar = self._registrar(callee)
        if registrar is not None:
            return self._configured_call(registrar[1], callee, registrar[0], args, node)
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

    def _configured_call(self, registrar: Registrar, callee: Value, name: str, args: Args, node: ast.AST) -> Value:
        """A call of a known registrar: its own code says how ops are named, if it can be followed that far."""
        if isinstance(callee, Func):
            before, self._events = self._events, []
            value = self._inline(callee, args, node)
            found, self._events = self._events, before
            if found or isinstance(value, Func):
                told = op_calls.passed(registrar, args, registrar.mutates)
                for event in found:
                    if isinstance(event, OpEvent):
                        event = replace(event, mutates=told, default=registrar.default, schema=None, required=False)
                    self._events.append(event)
                return value
        return op_calls.by_registrar(registrar, callee, name, args, node, self)

    def _external(self, callee: Ext, args: Args, node: ast.AST, module: HostModule) -> Value | None:
        if not callee.name.startswith("builtins."):
            return op_calls.external(callee, args, node, self)
        name = callee.name.removeprefix("builtins.")
        if name == "getattr" and len(args.positional) > 1:
            attribute = args.positional[1]
            if isinstance(attribute, Text) and attribute.known:
                found = self.attribute(args.positional[0], attribute.text)
                return either([found, *args.positional[2:3]]) if isinstance(found, Ext) else found
        if name == "map" and len(args.positional) == 2:
            held = each(args.positional[1])
            if held is not None and len(held) <= MAX_UNROLLED:
                made = tuple(self.call(args.positional[0], Args((one,)), node, module) for one in held)
                return Items(made) if as_items(args.positional[1]) is not None else Some(made)
        return folding_builtins.builtin(name, args)

    def _complete(self, callee: Partial, args: Args, node: ast.AST, module: HostModule) -> Value:
        held = callee.args
        if callee.pending:
            function = args.positional[0] if args.positional else Unknown("it is not passed")
            full = Args(held.positional, {**held.keywords, callee.pending: function}, held.open)
        else:
            keywords = {**held.keywords, **args.keywords}
            full = Args((*held.positional, *args.positional), keywords, held.open or args.open)
        return self.call(callee.callee, full, node, module)

    def _inline(self, func: Func, args: Args, node: ast.AST, always: bool = False) -> Value:
        """Follow a call into a function of the project, if it is worth it or `always`."""
        known = always or worth_following(func, self._root)
        if id(func.node) in self._active or self.depth >= MAX_DEPTH or not known:
            given = any(a.given() for a in (*args.positional, *args.keywords.values()))
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
        acts = any(registers(m, cls.module) for m in cls.node.body)
        if not acts and not cls.node.decorator_list and not instance.is_row:
            return instance
        init = cls.scope.names.get("__init__")
        if isinstance(init, Func):
            self._inline(owned(init, instance), args, node, always=True)
        else:
            annotated = [s.target for s in cls.node.body if isinstance(s, ast.AnnAssign)]
            fields = [target.id for target in annotated if isinstance(target, ast.Name)]
            given = {**dict(zip(fields, args.positional, strict=False)), **args.keywords}
            left_out = Unknown("it may be passed with `*` or `**`") if args.open else Unknown("it is not passed")
            instance.fields.update({f: given.get(f) or cls.scope.names.get(f) or left_out for f in fields})
        for name, member in cls.scope.names.items():
            if not isinstance(member, Func) or name == "__init__" or not _takes_self(member):
                continue
            if registers(member.node, member.module):
                self._inline(owned(member, instance), Args(), node)
        return instance


def _has_function(event: Event) -> bool:
    return event.function is not None and any(isinstance(v, Func) for v in options(event.function))


def _ids(path: tuple[ast.AST, ...]) -> tuple[int, ...]:
    return tuple(map(id, path))


def _shown(node: ast.AST) -> str:
    callee = node.func if isinstance(node, ast.Call) else node
    text = ast.unparse(callee)
    return text if len(text) < 60 else f"{text[:57]}..."


def _takes_self(func: Func) -> bool:
    a = func.node.args
    needed = len(a.posonlyargs) + len(a.args) - len(a.defaults)
    return needed == 1 and not any(d is None for d in a.kw_defaults)
