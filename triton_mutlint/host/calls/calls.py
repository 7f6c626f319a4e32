"""Calls in host code: what is called, with what, and what comes of it; and the objects that classes make."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from triton_mutlint.host.calls.first_party import Invoking
from triton_mutlint.host.classes.outside import STRANGE, Inherited
from triton_mutlint.host.modules.module import External, HostModule
from triton_mutlint.host.state.effects import Effects
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, Cell, bind, parameters, sequence
from triton_mutlint.host.values.values import (
    UNSEEN,
    Attribute,
    CellId,
    ClassValue,
    FunctionValue,
    KernelValue,
    Observed,
    Partial,
    Resumed,
    ScopeId,
    Sort,
    Super,
    Thing,
    Tuner,
    Value,
    join,
    picked,
    thing,
    with_first,
)
from triton_mutlint.source.walking import own_nodes


class Calling(Invoking):
    """Makes objects of first-party classes."""

    def instance(self, owner: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
        """An object of a first-party class, after `__init__`, or what its own class makes of the call."""
        for name, known in self.enum_members(owner).items():
            if known.constant is not None and known.constant == (arguments.get(0) or UNSEEN).constant:
                return self.enum_member(owner, name, known)
        made_by = self.metaclass(owner)
        called = self.class_member(made_by, "__call__") if made_by is not None else None
        if called is not None:
            return self.call(self.bound(thing(owner), called, node), arguments, node)
        made, strange = self.made(owner, arguments, node), self.strange(thing(owner))
        return made if strange == Value() else join(made, self.not_known(join(made, strange), arguments, node))

    def made(self, owner: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
        """What `type.__call__` gives."""
        made = self.make(node, Cell(owner=owner, kind="object"), "object")
        init, new = self.class_member(owner, "__init__"), self.class_member(owner, "__new__")
        if new is not None:
            made = join(made, self.call(new, arguments.before(thing(owner)), node))
        if init is not None:
            self.call(self._bind_all(made, init), arguments, node)
        elif new is None and self.inherited(owner, ("__init__",)) is not Inherited.CALLS:
            self._fields_of(made, owner, arguments, node)
        if init is None:
            self.outside(made, owner, ["__init__"], arguments, node)
        rest = self.outside(made, owner, ["__new__"], arguments, node) if new is None else None
        return made if rest is None else join(made, rest)

    def _fields_of(self, made: Value, owner: ClassValue, arguments: Arguments, node: ast.AST) -> None:
        """What a dataclass or a NamedTuple does with its arguments."""
        names = self.fields(owner)
        bound = bind(names, [], arguments)
        for i, name in enumerate(names):
            value = bound.values.get(name) or self.default_of(owner, name, node)
            if value is not None:
                self.state.change(made, name, value)
                self.state.change(made, i, value)
        for value in (*bound.spare, *bound.extra.values(), bound.spare_rest, bound.extra_rest):
            if value is not None:
                self.state.change(made, None, value)
        self.special(made, "__post_init__", (), node)

    @staticmethod
    def _bind_all(owner: Value, member: Value) -> Value:
        found = [with_first(thing(t), owner) for t in member.things if isinstance(t, FunctionValue)]
        return join(*found) if found else member

    def apply_autograd(self, owner: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
        """`Function.apply(...)`: its `forward`, with a context of its own where it takes one."""
        forward = self.class_member(owner, "forward")
        if forward is None:
            return self.not_known(UNSEEN, arguments, node)
        setup = self.class_member(owner, "setup_context")
        context = self.make(node, Cell(kind="context"), "context")
        before = set(self.effects.written)
        if setup is None:
            result = self.call(forward, arguments.before(context), node)
        else:
            result = self.call(forward, arguments, node)
            content = sequence(arguments.positional)
            others = join(*(v for v in arguments if v not in arguments.positional))
            content = content if others == Value() else replace(content, rest=others, size=None)
            self.call(setup, Arguments((context, self.make(node, content, "inputs"), result)), node)
        dirty = self.state.element(context, "<dirty>")
        inputs = frozenset[str]().union(*(value.same for value in arguments))
        for name in sorted((self.effects.written.keys() - before) & inputs - dirty.same):
            self.effects.unmarked[name, self.place(node)] = None
        return result

    def is_autograd(self, owner: ClassValue) -> bool:
        for base in owner.node.bases:
            value = self.evaluate_in(base, State(), self.top(owner.module))
            for item in value.things:
                if isinstance(item, External) and item.name.endswith("Function"):
                    return True
                if isinstance(item, ClassValue) and item != owner and self.is_autograd(item):
                    return True
        return False

    def super_of(self, given: Sequence[Value]) -> Value:
        """`super()` in a method: the first parameter, as an object of the next class; or what is given, as that."""
        if len(given) == 2:
            first, owner = given
            found = [thing(Super(owner, one)) for one in first.things if isinstance(one, ClassValue)]
            return join(*found) if found else owner if owner.roots else thing(Attribute(owner, "<super>"))
        names = parameters(self.here.node.args)[0] if self.here.node is not None else []
        if self.here.owner is None or not names:
            return UNSEEN
        return thing(Super(self.name(ast.Name(names[0]), names[0]), self.here.owner))

    # ------------------------------------------------------------------ scopes

    def scope_of(self, name: str) -> ScopeId:
        """The scope that an assignment to `name` binds in."""
        if self.here.node is None or isinstance(self.here.node, ast.Lambda):
            return self.here.scope
        for statement in declared_elsewhere(self.here.node):
            if name in statement.names:
                if isinstance(statement, ast.Global):
                    return ("module", self.here.module.display)
                first = outer = self.scopes.get(self.here.scope)
                while outer is not None and self.state.get(outer, name) is None:
                    outer = self.scopes.get(outer)
                return outer or first or self.here.scope
        return self.here.scope

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return self.super_of([*map(self.evaluate, node.args)])
        callee = self.evaluate(node.func)
        return self.call(callee, self._arguments(node), node)

    def _arguments(self, node: ast.Call) -> Arguments:
        positional, star = self.displayed(node.args)
        named: dict[str, Value] = {}
        double_star: Value | None = None
        optional = set[str]()
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
                continue
            self.handed([value], node)
            rest = value if not value.cells else replace(value, cells=frozenset())
            rest = join(rest, self.special(value, "__getitem__", (UNSEEN,), node) or Value())
            contents = self.state.contents(value)
            for content in contents:
                for key, item in content.fields.items():
                    named[str(key)] = join(named[str(key)], item) if str(key) in named else item
                    if not all(other.has(key) for other in contents):
                        optional.add(str(key))
                rest = join(rest, content.rest)
            if rest != Value():
                double_star = rest if double_star is None else join(double_star, rest)
        return Arguments(tuple(positional), named, star, double_star, frozenset(optional))

    def call(self, callee: Value, arguments: Arguments, node: ast.AST) -> Value:
        """The result of calling whatever `callee` may be."""
        objects, others = self._callable_objects(callee, node)
        things = sorted(_once({*callee.things, *objects}), key=_order)
        uncertain = bool(callee.kind & (Sort.TENSOR | Sort.OTHER) or callee.roots or others)
        if not things:
            return self.not_known(callee, arguments, node)
        if callee.chosen and len(things) > 1:
            outer, self.effects = self.effects, Effects()
            result = picked(self.call(replace(callee, chosen=False), arguments, node))
            self.effects, doubtful = outer, self.effects
            self.effects.doubt(doubtful)
            return result
        results: list[Value] = []
        state = self.state
        before = state.copy() if len(things) > 1 or uncertain else state
        for i, one in enumerate(things):
            self.state = state if i == 0 else before.copy()
            results.append(self._one(one, arguments, node))
            state.join(self.state)
        if uncertain:
            self.state = before
            rest = replace(callee, things=frozenset(), cells=others, constant=None)
            results.append(self.not_known(rest, arguments, node))
            state.join(before)
        self.state = state
        return join(*results)

    def _callable_objects(self, callee: Value, node: ast.AST) -> tuple[list[Thing], frozenset[CellId]]:
        """What calling the objects among `callee` runs: `__call__`, or the `forward` of a module; and the others."""
        found: list[Thing] = []
        others: set[CellId] = set()
        for cell in callee.cells:
            content = self.state.cell(cell)
            owner = content.owner if content is not None else None
            member = owner and (self.class_member(owner, "__call__") or self.class_member(owner, "forward"))
            if member:
                bound = self.bound(Value(cells=frozenset([cell])), member, node)
                inner = self._callable_objects(bound, node) if bound.cells - callee.cells else ([], bound.cells)
                found.extend((*bound.things, *inner[0]))
                others |= inner[1]
            else:
                others.add(cell)
        return found, frozenset(others)

    def is_called(self, value: Value) -> bool:
        """Whether a value may be a function, or an object that can be called."""
        owners = (content.owner for content in self.state.contents(value))
        return bool(value.things) or any(self.class_member(owner, "__call__") for owner in owners if owner is not None)

    def _one(self, thing: Thing, arguments: Arguments, node: ast.AST) -> Value:
        if isinstance(thing, FunctionValue):
            return self.invoke(thing, arguments, node)
        if isinstance(thing, ClassValue):
            return self.instance(thing, arguments, node)
        if isinstance(thing, Partial):
            named = {**dict(thing.keywords), **arguments.named}
            if thing.next and arguments.positional:
                named[thing.next] = arguments.positional[0]
                arguments = replace(arguments, positional=arguments.positional[1:])
            positional, star = (*thing.positional, *arguments.positional), arguments.star
            if thing.star is not None:
                star = join(thing.star, *arguments.positional, star or Value())
                positional = thing.positional
            full = replace(arguments, positional=positional, named=named, star=star)
            return self.call(thing.function, full, node)
        if isinstance(thing, Resumed):
            return UNSEEN
        if isinstance(thing, Tuner):
            return self.tuned(thing, arguments)
        if isinstance(thing, External):
            return self.external(thing.name, arguments, node)
        if isinstance(thing, Attribute):
            return self.method(thing, arguments, node)
        if isinstance(thing, (KernelValue, HostModule, Super, Observed)):
            return self.not_known(UNSEEN, arguments, node)
        raise AssertionError(thing)

    def not_known(self, owner: Value, arguments: Arguments, node: ast.AST) -> Value:
        """A call of something of which nothing is known: all that reaches it may be written."""
        gap = self.effect(f"{self.callee(node)} is not known", node)
        reached = [owner, *arguments]
        self.effects.gap(gap, self.state, reached)
        same, maybe = self.state.reach(reached)
        given = UNSEEN if self.strange(owner) == Value() else thing(STRANGE)
        leaked = replace(given, unsure=same | maybe)
        for value in reached:
            if value.cells:
                self.escaped.append((gap, value))
                if leaked.unsure:
                    self.state.change(value, None, leaked)
        return leaked


@lru_cache(maxsize=2048)  # asked at every assignment
def declared_elsewhere(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.Global | ast.Nonlocal, ...]:
    """The `global` and `nonlocal` statements of a function."""
    return tuple(inner for inner in own_nodes(node) if isinstance(inner, (ast.Global, ast.Nonlocal)))


def _once(things: set[Thing]) -> Iterator[Thing]:
    """Without a launch of a bare kernel beside one of the same kernel wrapped: it does the same to its arguments."""
    kernels = {one: launched(one) for one in things}
    for one, kernel in kernels.items():
        if kernel is None or kernel.wrapped or replace(kernel, wrapped=True) not in kernels.values():
            yield one


def launched(one: Thing) -> KernelValue | None:
    """The kernel that something is a method of."""
    owner = next(iter(one.owner.things), None) if isinstance(one, Attribute) else None
    return owner if isinstance(owner, KernelValue) else None


def _order(thing: Thing) -> tuple[str, ...]:
    made = launched(thing) or (next(iter(thing.function.things), None) if isinstance(thing, Partial) else thing)
    node, names = getattr(made, "node", None), getattr(made, "names", ())
    return (type(thing).__name__, str(getattr(thing, "name", "")), str(getattr(node, "lineno", "")), *sorted(names))
