"""Calls of helpers: each jit function is walked once, and its facts applied at every call."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol

from triton_mutlint.kernel_source.evaluate import UNKNOWN, Scope, own
from triton_mutlint.kernel_source.helpers import Helper, Program, definition
from triton_mutlint.signature import marks
from triton_mutlint.signature.constraints import Constraint
from triton_mutlint.signature.expressions import Evaluator
from triton_mutlint.signature.facts import NOTHING, Slot, Value, refs_of
from triton_mutlint.signature.transfer import apply, item, resolve, substitute

MAX_DEPTH = 24
NO_REFS: Mapping[str, Any] = MappingProxyType({})


@dataclass(eq=False)
class Summary:
    """What walking a function body gave, in terms of its own parameters."""

    slots: dict[str, Slot]
    returns: Value = NOTHING
    effects: bool = False  # it may write memory
    constraints: list[Constraint] = field(default_factory=list)
    reaches: list[Constraint] = field(default_factory=list)
    typed: bool = False
    scope: Scope = field(default_factory=lambda: Scope({}))
    given: Mapping[str, Any] = field(default_factory=dict)  # parameters that are known objects


class Watch(Protocol):
    """Sees the statements of one walk, and the arguments of the helpers it calls."""

    def statement(self, walk: Evaluator, node: ast.stmt) -> None: ...

    def passed(self, slots: Mapping[str, Slot], bound: Mapping[str, Value]) -> None: ...


class Summaries(Program):
    """The jit functions that one kernel can call, and what each does."""

    def __init__(self, functions: Mapping[str, Helper]) -> None:
        super().__init__(functions)
        self._summaries: dict[tuple[Any, ...], Summary] = {}
        self._depth = 0
        self._called = 0  # the line of the kernel's own body whose call is followed; 0 outside of calls
        self.watch: Watch | None = None
        self.pointers = False  # somewhere, a pointer is made of a number
        # Lines of the kernel's own body, as all that its report names are: helpers may stand in other files.
        self.loaded = 0  # where a pointer is made of what was in memory
        self.recast = 0  # where bits are given a type that does not tell any more what they were
        self.distances = False  # somewhere, a parameter is added to or subtracted from what was in memory

    def lookup(self, name: str, scope: Scope) -> Any:
        return scope.namespace.get(name, UNKNOWN)

    def made(self, source: Value, kind: Value, value: Value, line: int) -> Value:
        """`value`, which a cast of `source` to `kind` made: noted if that is, or may be, a type of pointers."""
        if marks.points(value):
            self.pointed(line if source.memory else 0)
        if (source.base or source.mixed or source.memory) and not (value.base or value.mixed or value.memory):
            marks.kept((source,), line)
            self.recast = self.recast or self._called or line
        for slot in kind.bare if kind.is_dtype else ():
            slot.models = slot.models or line
            slot.models_loaded = slot.models_loaded or (line if source.memory else 0)
        return value

    def pointed(self, loaded: int) -> None:
        """A pointer is made of a number; `loaded` is the line, if that was in memory."""
        self.pointers = True
        self.loaded = self.loaded or (loaded and (self._called or loaded))

    @property
    def indirect(self) -> int:
        """The line at which a pointer is, or may be, made of what was put somewhere before; 0 if there is none."""
        return self.loaded or (self.recast if self.pointers else 0)

    def method(self, owner: Value, name: str) -> Helper | None:
        """The jit method `name` of an aggregate built in the body."""
        return self.helper(getattr(owner.ref, name, None)) if isinstance(owner.ref, type) else None

    def construct(self, cls: type, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
        """An instance of an aggregate or namedtuple: its fields by name and by position."""
        names = list(getattr(cls, "_fields", ()) or getattr(cls, "__annotations__", {}))
        items: dict[int | str, Value] = dict(zip(names, args, strict=False))
        items.update(kwargs)
        items.update(self._initialised(cls, args, kwargs))
        return Value(items=items, ref=cls)

    def _initialised(
        self, cls: type, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Iterator[tuple[str, Value]]:
        """The fields that the constructor of an aggregate sets from its parameters."""
        first = next(iter(getattr(cls, "hash_attrs", ())), None)  # up to Triton 3.7 it is only kept there
        init = vars(cls).get("__init__") or first
        function = own(init, "fn") or init
        node = definition(init, function) if inspect.isfunction(function) else None
        if node is None or node.name != "__init__":
            return
        bound = {**_positional(node.args, (NOTHING, *args)), **kwargs}
        for statement in node.body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(statement, ast.Assign) and isinstance(target, ast.Attribute):
                used = [bound[n.id] for n in ast.walk(statement.value) if isinstance(n, ast.Name) and n.id in bound]
                if used:
                    yield target.attr, used[0]

    def call(
        self,
        walk: Evaluator,
        helper: Helper,
        node: ast.Call,
        args: tuple[Value, ...],
        kwargs: Mapping[str, Value],
        adopt: bool = True,
    ) -> Value:
        """Apply a helper's facts to the arguments of one call; what it returns."""
        outer, self._called = self._called, self._called or node.lineno
        summary = self.summary(helper)
        bound = _positional(helper.node.args, args)
        bound.update((k, v) for k, v in kwargs.items() if k in summary.slots)
        given = {name: v.ref for name, v in bound.items() if summary.slots[name].called and refs_of(v)}
        summary = self.summary(helper, given) if given else summary
        if self.watch is not None:
            self.watch.passed(summary.slots, bound)
        for name, value in bound.items():
            slot = summary.slots[name]
            apply(slot, value, node.lineno)
            if slot.addressed and value.memory:
                self.loaded = self.loaded or self._called
            for other in slot.kin:
                marks.alike(value, bound.get(other.name, NOTHING))
            for other, wide in slot.summed.items():
                marks.summed(value, bound.get(other.name, NOTHING), wide)
            _hand_on(slot, value, bound, node.lineno)
            for mover in slot.movers:
                chosen = bound.get(mover.name, NOTHING)
                for moved in value.base:
                    moved.movers.update(chosen.tests | chosen.base)
        walk.effects += summary.effects
        walk.typed |= summary.typed
        crowded = len(walk.constraints) >= 256 or len(walk.reaches) >= 64
        if adopt and not walk.repeated and (summary.constraints or summary.reaches) and not crowded:
            self._adopt(walk, summary, node, helper.node, len(args) - len(node.args))
        self._called = outer
        return substitute(summary.returns, bound)

    def _adopt(self, walk: Evaluator, summary: Summary, node: ast.Call, definition: ast.FunctionDef, skip: int) -> None:
        names = list(summary.slots)
        expressions: dict[str, ast.expr] = {}
        defaults = definition.args.defaults
        with_default = definition.args.args[len(definition.args.args) - len(defaults) :]
        expressions.update((p.arg, default) for p, default in zip(with_default, defaults, strict=True))
        expressions.update(zip(names[max(skip, 0) :], node.args, strict=False))
        expressions.update((k.arg, k.value) for k in node.keywords if k.arg is not None)
        inner = Scope(summary.scope.namespace, summary.scope.locals, expressions)
        for found, kept in ((summary.constraints, walk.constraints), (summary.reaches, walk.reaches)):
            for one in found:
                scopes = (*one.scopes[:-1], inner, walk.scope)
                depth = len(scopes) - 1
                outer = tuple((test, wanted, depth) for test, wanted, _ in walk.conditions)
                kept.append(replace(one, line=node.lineno, scopes=scopes, conditions=one.conditions + outer))

    def summary(self, helper: Helper, given: Mapping[str, Any] = NO_REFS) -> Summary:
        """What a helper does, where the parameters in `given` are those objects: functions that it calls, say."""
        key = (id(helper.node), *((name, *map(id, refs_of(Value(ref=ref)))) for name, ref in given.items()))
        known = self._summaries.get(key)
        if known is not None:
            return known  # also a function that is being walked: recursion says nothing more
        from triton_mutlint.signature.usage import walk_function

        slots = formal_slots(helper.node)
        summary = self._summaries[key] = Summary(slots, given=given)
        if self._depth < MAX_DEPTH:
            self._depth += 1
            walk_function(self, helper, summary)
            self._depth -= 1
        return summary


def _hand_on(formal: Slot, actual: Value, bound: Mapping[str, Value], line: int) -> None:
    """A helper hands what it is passed to a function that it is passed as well."""
    for function, key in formal.handed:
        passed = resolve(function, bound)
        for slot in passed.bare:
            marks.handed_to(slot, {key: actual}, line)
        if not passed.bare:
            marks.handed((actual,), line)
    for key, child in formal.children.items():
        _hand_on(child, item(actual, key), bound, line)


def _positional(formal: ast.arguments, args: tuple[Value, ...]) -> dict[str, Value]:
    """The arguments by parameter; what is left over is the tuple that `*names` receives."""
    names = [argument.arg for argument in (*formal.posonlyargs, *formal.args)]
    bound = dict(zip(names, args, strict=False))
    if formal.vararg is not None:
        rest = args[len(names) :]
        bound[formal.vararg.arg] = Value(items=dict(enumerate(rest)))
    return bound


def formal_slots(node: ast.FunctionDef) -> dict[str, Slot]:
    slots = {}
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        text = ast.unparse(argument.annotation) if argument.annotation is not None else ""
        slots[argument.arg] = Slot(argument.arg, constexpr="constexpr" in text)
    if node.args.vararg is not None:
        slots[node.args.vararg.arg] = Slot(node.args.vararg.arg)
    return slots
