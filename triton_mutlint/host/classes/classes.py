"""First-party classes: their members, as instances and as the class itself give them, and special methods."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from triton_mutlint.host.classes.names import NameLookup
from triton_mutlint.host.classes.outside import STRANGE, Inherited, inherited, is_strange, written_out
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.state.state import State, body_scope, state_scope
from triton_mutlint.host.values.groups import Arguments, Cell
from triton_mutlint.host.values.values import (
    NONE,
    UNSEEN,
    ClassValue,
    FunctionValue,
    KernelValue,
    Partial,
    Thing,
    Value,
    attribute_of,
    constant,
    join,
    thing,
    with_first,
)
from triton_mutlint.source.walking import dotted

_ROLES = ("staticmethod", "classmethod", "property", "cached_property", "setter", "deleter")  # by decorators
# What the calls give that stand for the decorators: `size = property(_size)`.
MADE = frozenset({
    "builtins.property", "functools.cached_property", "builtins.staticmethod", "builtins.classmethod",
    "functools.partialmethod", "dataclasses.field",
})  # fmt: skip


class Classes(NameLookup):
    """Looks members of classes up."""

    def class_member(self, owner: ClassValue, name: str) -> Value | None:
        """A method or class variable, of the class or of a first-party base; flags may have been set since."""
        for one in self.order(owner):
            scope = state_scope(one)
            given = join(self.state.get(scope, name) or Value(), self.module_state.get(scope, name) or Value(),
                         self.as_member(one, self.rebound(one, name)))
            value = self._own_member(one, name)
            if value is not None or given != Value():
                changed = self.world.modules.is_changed(one.module, frozenset([one.node.name]))
                return join(value or Value(), given, UNSEEN if changed else Value())
        return None

    def _own_member(self, owner: ClassValue, name: str) -> Value | None:
        value = self.members(owner).get(name)
        if value is None:
            return None
        may_change = not self.state.importing and self.world.modules.is_field_given(name)
        if may_change and not (self.is_enum(owner) and self.is_enum_member(value)):
            value = replace(value, constant=None)
        return self.as_member(owner, value)

    def members(self, owner: ClassValue) -> Mapping[str, Value]:
        """What the body of a class binds; one in a function that has not run is run by itself."""
        for state in (self.state, self.module_state):
            if body_scope(owner) in state.names:
                return state.names[body_scope(owner)]
        known = self.world.shared.members
        if id(owner.node) not in known:
            known[id(owner.node)] = {}

            def work() -> Value:
                known[id(owner.node)] = self.class_body(owner.node)
                return Value()

            self.apart(work, self.top(owner.module))
            for name, value in known[id(owner.node)].items():
                self.loosen(value, self.world.modules.is_field_changed(name))
        return known[id(owner.node)]

    def class_body(self, node: ast.ClassDef) -> Mapping[str, Value]:
        """Run the body of a class here; the names that it binds."""
        place = self.cell(node, "class")
        owner = ClassValue(self.here.module, node, self.closure)
        self.scopes[place] = owner.scope
        with self.at(self.state, replace(self.here, scope=place, node=None, owner=owner, is_class=True)):
            self.block(node.body, self.state)
        return dict(self.state.names.get(place, {}))

    @staticmethod
    def as_member(owner: ClassValue, value: Value) -> Value:
        owned = [replace(t, owner=owner, scope=owner.scope or t.scope) if isinstance(t, FunctionValue) else t
                 for t in value.things]
        return replace(value, things=frozenset(owned))

    def order(self, owner: ClassValue, depth: int = 0) -> list[ClassValue]:
        """The class and its first-party bases, in the order in which members are looked up."""
        if owner in self.orders:
            return self.orders[owner]
        bases = self.bases(owner) if depth < 8 else []
        found = [owner, *_merged([*(self.order(base, depth + 1) for base in bases), bases])]
        if not depth:
            self.orders[owner] = found
        return found

    def fields(self, owner: ClassValue) -> list[str]:
        """The fields that a class declares, those of its bases first."""
        declared = [s for c in reversed(self.order(owner)) for s in c.node.body if isinstance(s, ast.AnnAssign)]
        return list(dict.fromkeys(s.target.id for s in declared if isinstance(s.target, ast.Name)))

    def names_in(self, owner: ClassValue) -> list[str]:
        """The names of its members, its own first."""
        return list(dict.fromkeys(name for one in self.order(owner) for name in self.members(one)))

    def after(self, owner: Value, of: ClassValue) -> list[ClassValue]:
        """The classes that `super()` looks in, in a method of `of` on `owner`."""
        own = [content.owner for content in self.state.contents(owner) if content.owner is not None]
        own.extend(t for t in owner.things if isinstance(t, ClassValue))
        for one in own:
            order = self.order(one)
            if of in order:
                return order[order.index(of) + 1 :]
        return self.order(of)[1:]

    def is_enum(self, owner: ClassValue) -> bool:
        """Whether class variables are instances of the class."""
        return any(dotted(node)[-1:] and dotted(node)[-1].endswith(("Enum", "Flag"))
                   for one in self.order(owner) for node in one.node.bases)

    def metaclass(self, owner: ClassValue) -> ClassValue | None:
        """Its class, if that is of the project."""
        return next((t for t in self._made_by(owner).things if isinstance(t, ClassValue)), None)

    def _made_by(self, owner: ClassValue) -> Value:
        """What it and its bases name as their class."""
        return join(Value(), *(self._heading(one)[-1] for one in self.order(owner)))

    def item_of_class(self, owner: ClassValue, index: Value, node: ast.AST) -> Value | None:
        """`Class[index]`, where the class makes more of it than an alias, or it is the member of an enumeration."""
        handler = self.class_member(owner, "__class_getitem__")
        if handler is not None:
            function = join(*(with_first(role_of(item)[1], thing(owner)) for item in handler.things))
            return self.call(function, Arguments((index,)), node)
        if not self.is_enum(owner):
            return None
        known = self.enum_members(owner)
        asked = known.keys() if index.constant is None else known.keys() & {index.constant[1]}
        return join(*(self.enum_member(owner, name, known[name]) for name in asked or known))

    def enum_members(self, owner: ClassValue) -> dict[str, Value]:
        """The values of an enumeration by name; there are none of another class."""
        held = self.members(owner).items() if self.is_enum(owner) else ()
        return {name: value for name, value in held if self.is_enum_member(value)}

    @staticmethod
    def is_enum_member(value: Value) -> bool:
        """Whether a class variable of an enumeration is one of its members: functions and properties are not."""
        return all(not role_of(item)[0] for item in value.things)

    def enum_member(self, owner: ClassValue, name: str, value: Value) -> Value:
        """The object that a class variable of an enumeration is, the same wherever it is asked for."""
        cell = (*state_scope(owner), name)
        if self.state.cell(cell) is None:
            self.state.store(cell, Cell({"value": value, "name": constant(name)}, kind="object", owner=owner))
        return Value(cells=frozenset([cell]))

    def bases(self, owner: ClassValue) -> list[ClassValue]:
        """Its first-party bases."""
        things = [written_out(item) for value in self._heading(owner)[:-1] for item in value.things]
        return [made for made in things if isinstance(made, ClassValue) and made != owner]

    def inherited(self, owner: ClassValue, names: Collection[str]) -> Inherited:
        """What one of the methods may do, of those that it has from bases that are not of the project."""
        return inherited(self.all_bases(owner), names)

    def all_bases(self, owner: ClassValue) -> list[Value]:
        """What stands as a base in it and in its first-party bases."""
        return [base for one in self.order(owner) for base in self._heading(one)[:-1]]

    def strange(self, value: Value) -> Value:
        """What is of a package that is not there, or a class that such a one may have made."""
        return Value(things=frozenset(item for item in value.things if is_strange(item) or (
            isinstance(item, ClassValue) and (any(map(is_strange, self._made_by(item).things))
                                              or self.inherited(item, ()) is Inherited.ANYTHING))))

    def _heading(self, owner: ClassValue) -> Sequence[Value]:
        """What stands as its bases, and last as its class."""
        known = self.world.shared.bases
        if id(owner.node) not in known:  # at the top level of a file
            with self.at(State(), self.top(owner.module)):
                known[id(owner.node)] = self.heading(owner.node)
        return known[id(owner.node)]

    def heading(self, node: ast.ClassDef) -> Sequence[Value]:
        """The same, evaluated here."""
        inner = [base.value if isinstance(base, ast.Subscript | ast.Starred) else base for base in node.bases]
        made_by = [self.evaluate(keyword.value) for keyword in node.keywords if keyword.arg == "metaclass"]
        return [*(self.state.elements(self.evaluate(one)) if isinstance(base, ast.Starred) else self.evaluate(one)
                  for base, one in zip(node.bases, inner, strict=True)), join(Value(), *made_by)]

    # ------------------------------------------------------------------ members as they are given

    def bound(self, one: Value, member: Value, node: ast.AST) -> Value:
        """A class's member as an instance gives it."""
        found = [self._of_instance(one, item, node) for item in member.things]
        got = self.special(Value(cells=member.cells), "__get__", (one, UNSEEN), node)
        rest = replace(member, things=frozenset(), cells=frozenset() if got is not None else member.cells)
        return join(*found, rest, got or Value())

    def _of_instance(self, one: Value, item: Thing, node: ast.AST) -> Value:
        role, function = role_of(item)
        if role in ("property", "cached_property"):
            return self.call(function, Arguments((one,)), node)
        if role in ("setter", "deleter"):
            return Value()
        if role == "classmethod":
            owner = getattr(item, "owner", None)
            return with_first(function, thing(owner) if owner is not None else one)
        if role == "partialmethod" and isinstance(item, Partial):
            return thing(Partial(function, (one, *item.positional[1:]), item.keywords))
        return with_first(function, one) if role == "method" else function

    def of_class(self, owner: ClassValue, member: Value, node: ast.AST) -> Value:
        """A class's member as the class gives it: class methods take the class."""
        got = self.special(Value(cells=member.cells), "__get__", (NONE, thing(owner)), node)
        found = [got] if got is not None else []
        for item in member.things:
            role, function = role_of(item)
            found.append(with_first(function, thing(owner)) if role == "classmethod" else
                         function if role == "staticmethod" else thing(item))
        return join(*found, replace(member, things=frozenset()))

    def set_member(self, one: Value, owner: ClassValue, name: str, value: Value, node: ast.AST) -> bool:
        """Assignment to an attribute that the class handles: a property's setter, a descriptor, `__setattr__`."""
        handler = self.class_member(owner, "__setattr__")
        if handler is not None:
            self.call(self.bound(one, handler, node), Arguments((constant(name), value)), node)
            return True
        member = self.class_member(owner, name)
        if member is None:
            return False
        setters = [setter for item in member.things if (setter := accessor(item, "setter")) is not None]
        for setter in setters:
            self.call(setter, Arguments((one, value)), node)
        handled = self.special(Value(cells=member.cells), "__set__", (one, value), node) is not None
        return bool(setters) or handled


def _merged(orders: list[list[ClassValue]]) -> list[ClassValue]:
    """One order that agrees with all of `orders`, as Python makes it for several bases."""
    found: list[ClassValue] = []
    pending = [order for order in orders if order]
    while pending:
        head = next((o[0] for o in pending if not any(o[0] in order[1:] for order in pending)), pending[0][0])
        found.append(head)
        pending = [rest for order in pending if (rest := [c for c in order if c != head])]
    return found


def role_of(item: Thing) -> tuple[str, Value]:
    """What a class takes a member for ("property", "method", ...; "" is anything else), and the function it is."""
    if isinstance(item, FunctionValue):
        kinds = [name for decorator in getattr(item.node, "decorator_list", ()) for name in dotted(decorator)[-1:]]
        return next((role for role in _ROLES if role in kinds), "method"), thing(item)
    if isinstance(item, Partial):
        made = next((t.name for t in item.function.things if isinstance(t, External) and t.name in MADE), "")
        first = item.positional[0] if item.positional else dict(item.keywords).get("fget", UNSEEN)
        return (made.rpartition(".")[2], first) if made else ("", thing(item))
    return "", thing(item)


def is_property(member: Value) -> bool:
    """Whether reading it runs a function."""
    return any(role_of(item)[0] in ("property", "cached_property") for item in member.things)


def accessor(item: Thing, wanted: str) -> Value | None:
    """What a property calls as its "setter" or "deleter", if it is one that was made for that."""
    role, function = role_of(item)
    if role == "property" and isinstance(item, Partial):
        index = ("setter", "deleter").index(wanted) + 1
        return (*item.positional[index : index + 1], dict(item.keywords).get(f"f{wanted[:3]}", UNSEEN))[0]
    return function if role == wanted else None


def name_of(item: Thing) -> str:
    """What a function calls itself, unless `functools.wraps` gave it another name; "" where that is not known."""
    node = item.node if isinstance(item, FunctionValue) else None
    wraps = any(dotted(getattr(one, "func", one))[-1:] == ("wraps",) for one in getattr(node, "decorator_list", ()))
    return node.name if isinstance(node, ast.FunctionDef) and not wraps else ""


def attribute_of_any(item: Thing, name: str) -> Value:
    """An attribute of a function, a kernel or something of which less is known."""
    if isinstance(item, External) and item != STRANGE:
        return thing(External(f"{item.name}.{name}"))
    if isinstance(item, KernelValue) and name == "fn":
        return thing(item.below)
    known = name_of(item) if name == "__name__" else ""
    return constant(known) if known else thing(attribute_of(item, name))
