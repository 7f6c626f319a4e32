"""Special methods: those that an operation names, and those that Python's own code may call on what it is given."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from triton_mutlint.host.classes.classes import Classes, accessor, is_property, role_of
from triton_mutlint.host.classes.outside import STRANGE, Inherited, may_call
from triton_mutlint.host.state.effects import Effects
from triton_mutlint.host.state.state import body_scope
from triton_mutlint.host.values.groups import KEPT, Arguments, Cell
from triton_mutlint.host.values.values import (
    UNSEEN,
    Attribute,
    CellId,
    ClassValue,
    Partial,
    Thing,
    Value,
    constant,
    join,
    picked,
    thing,
)

# What only a call, `with`, an assignment, a deletion or a class of the project itself asks for.
_BY_SYNTAX = frozenset({
    "__init__", "__new__", "__post_init__", "__call__", "__enter__", "__exit__", "__aenter__", "__aexit__", "__del__",
    "__setattr__", "__delattr__", "__setitem__", "__delitem__", "__get__", "__set__", "__delete__", "__set_name__",
    "__prepare__", "__init_subclass__", "__class_getitem__",
})  # fmt: skip

_ANY = ("__hash__", "__eq__", "__str__", "__repr__", "__format__", "__reduce_ex__")  # that any code of Python may call


class Special(Classes):
    """Calls special methods."""

    def special(self, value: Value, names: str | Iterable[str], given: tuple[Value, ...],
                node: ast.AST) -> Value | None:
        """What special methods of objects and classes among `value` give that are not only Python's: the first of each.

        What is of a class of which not all is known may do anything with what it is given.
        """
        names = (names,) if isinstance(names, str) else tuple(names)
        found: list[Value] = []
        for one, owner in self.owned(value):
            members = ((at, self.class_member(owner, name)) for at, name in enumerate(names))
            first, member = next((pair for pair in members if pair[1] is not None), (len(names), None))
            if member is not None:
                found.append(self.call(self.bound(one, member, node), Arguments(given), node))
            found.extend(filter(None, [self.outside(one, owner, names[:first], Arguments(given), node)]))
        strange = self.strange(value)
        if strange != Value():
            found.append(self.not_known(strange, Arguments(given), node))
        return join(*found) if found else None

    def outside(self, one: Value, owner: ClassValue, names: Collection[str], arguments: Arguments,
                node: ast.AST) -> Value | None:
        """What the first of these methods gives that an object has from a class outside the project, if it may."""
        may = self.inherited(owner, names) if names else Inherited.NOTHING
        if may is Inherited.CALLS:
            return self._in_library(one, owner, names, arguments, node)
        return self.not_known(join(one, thing(STRANGE)), arguments, node) if may is Inherited.ANYTHING else None

    def _in_library(self, one: Value, owner: ClassValue, names: Collection[str], arguments: Arguments,
                    node: ast.AST) -> Value:
        """A method that Python's library wrote in Python may call those that it mentions, and keep what it is given."""
        given = [value for value in arguments if value.cells or value.roots or value.things]
        if given:
            inside = self.make(node, Cell(rest=join(*given), kind="given"), "kept")
            self.state.change(one, KEPT, join(self.state.element(one, KEPT), inside, *given))
        every = picked(join(UNSEEN, self.state.elements(one), *given))
        if any(self.state.reach([one, *given])):
            bases = self.all_bases(owner)
            called = [name for name in self.names_in(owner) if may_call(bases, names, name)]
            members = filter(None, (self.class_member(owner, name) for name in called))
            methods = {(one, member): None for member in members if self.is_called(member)}
            self._may_run(methods, join(every, self.make(node, Cell(rest=every), "given")), node)
        return every

    def handed(self, given: Iterable[Value], node: ast.AST, beside: Iterable[Value] = (), deep: bool = False) -> None:
        """Python's own code is given values, of which it may call any special method, any number of times.

        What it passes are any of them and of `beside`. They are those in containers, too. With `deep` it looks into
        objects: at what these hold, and at their properties.
        """
        given = [*given]
        values = [value for value in given if value.cells or value.things]
        if not values:
            return
        for value in values:
            if any(map(self.is_generator, value.cells)):
                self.iterate(value, node)
        reached = list(self._looked_into(values, deep))
        strange = self.strange(Value(things=frozenset().union(*(value.things for value in reached))))
        if strange != Value():
            self.not_known(strange, Arguments((*given, *beside)), node)
        found = [pair for value in reached for pair in self.owned(value)]
        if not found:
            return
        told = (replace(value, things=frozenset(t for t in value.things if isinstance(t, ClassValue)))
                for value in (*values, *beside))
        others = picked(join(UNSEEN, *told, *(one for one, _ in found)))
        for one, owner in found:
            self.outside(one, owner, _ANY, Arguments((others,)), node)
        methods = {(one, member): None for one, owner in found for member in self._implicit(owner, deep)}
        if methods:
            self._may_run(methods, join(others, self.make(node, Cell(rest=others), "given")), node)

    def _may_run(self, methods: dict[tuple[Value, Value], None], others: Value, node: ast.AST) -> None:
        """Run methods any number of times, in any order; what these hand to Python's code in turn runs with them."""
        if self.implied is not None:
            self.implied = {**self.implied[0], **methods}, join(self.implied[1], others)
            return
        state, effects = self.state, self.effects
        self.effects, self.implied = Effects(), (methods, others)

        def work(known: Mapping[tuple[Value, Value], None], given: Value) -> bool:
            for one, member in known:
                method = self.bound(one, member, node)
                if not is_property(member):
                    self.call(method, Arguments(star=given), node)
            return True

        try:
            known = None
            while known != self.implied:
                known = self.implied
                self.repeated(partial(work, *known))
        finally:
            self.effects, doubtful, self.implied = effects, self.effects, None
        state.become(self.state)
        self.state = state
        self.effects.doubt(doubtful)

    def _implicit(self, owner: ClassValue, deep: bool) -> list[Value]:
        """The special methods of a class that Python's own code may call; of a mapping it asks the keys, too.

        With `deep` also what it runs that reads all attributes.
        """
        if owner not in self.implicit:
            self.implicit[owner] = [name for name in self.names_in(owner) if name == "keys" or (
                name.startswith("__") and name.endswith("__") and name not in _BY_SYNTAX)]
        read = [*filter(None, (self.class_member(owner, name) for name in self.names_in(owner)))] if deep else ()
        found = filter(None, (self.class_member(owner, name) for name in self.implicit[owner]))
        return [*filter(self.is_called, found), *filter(is_property, read)]

    def owned(self, value: Value) -> Iterator[tuple[Value, ClassValue]]:
        """The first-party objects and classes among `value`, one by one, each with its class."""
        for cell in value.cells:
            content = self.state.cell(cell)
            if content is not None and content.owner is not None:
                yield Value(cells=frozenset([cell])), content.owner
        for item in value.things:
            made_by = self.metaclass(item) if isinstance(item, ClassValue) else None
            if made_by is not None:
                yield thing(item), made_by

    def _looked_into(self, values: Iterable[Value], deep: bool) -> Iterator[Value]:
        """What `values` are and hold, where Python looks into it."""
        seen, pending = set[CellId](), list(values)
        while pending:
            value = pending.pop()
            yield value
            for item in value.things:
                if isinstance(item, Attribute) and _is_looked_into(item):
                    pending.extend((item.owner, self.state.elements(item.owner)))
            for cell in value.cells - seen:
                seen.add(cell)
                content = self.state.cell(cell)
                if content is not None and (deep or content.owner is None or self.fields(content.owner)):
                    pending.extend((content.source, *content.held()))

    def default_of(self, owner: ClassValue, name: str, node: ast.AST) -> Value | None:
        """What a field holds that is not given: the class's value, or what `field(default_factory=…)` makes."""
        member = self.class_member(owner, name)
        made = [one for one in member.things if role_of(one)[0] == "field"] if member is not None else []
        if member is None or not made:
            return member
        found = [replace(member, things=member.things - frozenset(made))]
        for given in (dict(one.keywords) for one in made if isinstance(one, Partial)):
            factory = given.get("default_factory")
            found.append(given.get("default", UNSEEN) if factory is None else self.call(factory, Arguments(), node))
        return join(*found)

    # ------------------------------------------------------------------ what the making of a class calls

    def hold_bases(self, made: ClassValue) -> None:
        """Keep what stands as bases and class of a class that is made here; made again, it may have these, too."""
        new, known = self.heading(made.node), self.world.shared.bases.get(id(made.node))
        found = [join(*pair) for pair in zip(new, known or new, strict=True)]
        self.world.shared.bases[id(made.node)] = found
        self.orders.clear()

    def hold_members(self, made: ClassValue, bound: Mapping[str, Value]) -> None:
        """Keep what the body of a class in a function bound; run again, its names may have these values, too."""
        scope = body_scope(made)
        held = self.state.names.get(scope, {})
        self.state.names[scope] = {**held, **{name: join(self.as_member(made, value), held.get(name, Value()))
                                              for name, value in bound.items()}}

    def announced(self, made: ClassValue, node: ast.ClassDef) -> None:
        """Tell its members, its base and its own class that a class was made."""
        members = dict(self.members(made))
        for name, member in members.items():
            self.special(Value(cells=member.cells), "__set_name__", (thing(made), constant(name)), node)
        for base in self.order(made)[1:]:
            hook = self._own_member(base, "__init_subclass__")
            if hook is not None:  # a class method, with or without its decorator
                given = {k.arg: self.evaluate(k.value) for k in node.keywords if k.arg not in (None, "metaclass")}
                self.call(hook, Arguments((thing(made),), {str(name): value for name, value in given.items()}), node)
                break
        strange = self.strange(thing(made))
        if strange != Value():
            told = [self.evaluate(keyword.value) for keyword in node.keywords]
            self.not_known(strange, Arguments((*members.values(), *told)), node)
        made_by = self.metaclass(made)
        if made_by is not None:
            for name in ("__prepare__", "__new__", "__init__"):
                first = thing(made if name == "__init__" else made_by)
                for hook in filter(None, [self.class_member(made_by, name)]):
                    self.call(hook, Arguments((first,), star=picked(join(UNSEEN, *members.values()))), node)

    def delete_attribute(self, owner: Value, name: str, node: ast.AST) -> None:
        """`del owner.name`."""
        if self.special(owner, "__delattr__", (constant(name),), node) is None:
            for one, of in self.owned(owner):
                member = self.class_member(of, name) or Value()
                self.special(Value(cells=member.cells), "__delete__", (one,), node)
                for deleter in filter(None, (accessor(item, "deleter") for item in member.things)):
                    self.call(deleter, Arguments((one,)), node)


def _is_looked_into(item: Thing) -> bool:
    """Whether it is a class, or gives what an object or a dict holds: `vars(x)`, `d.values()`."""
    return isinstance(item, ClassValue) or (
        isinstance(item, Attribute) and item.name in ("__dict__", "items", "values", "keys"))
