"""Attributes, elements and assignment: how values are taken apart and put together."""

from __future__ import annotations

import ast
from dataclasses import replace

from triton_mutlint.host import torch_table
from triton_mutlint.host.core import Activation, text_of
from triton_mutlint.host.modules import Definition, External, HostModule
from triton_mutlint.host.names import NamesMixin
from triton_mutlint.host.state import State
from triton_mutlint.host.torch_table import Result, TorchEffect
from triton_mutlint.host.values import (
    NOTHING,
    PLAIN,
    TENSOR,
    UNSEEN,
    Attribute,
    BoundMethod,
    Cell,
    ClassValue,
    FunctionValue,
    KernelMethod,
    KernelValue,
    Kind,
    Super,
    Value,
    join,
    sequence,
    thing,
    weakened,
)

_RUNS = frozenset({"run", "warmup"})
# Methods of containers; those of a first-party class come before them.
CONTAINER = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "copy", "get", "items", "keys", "values", "update",
    "setdefault", "popitem", "index", "count", "sort", "reverse", "add", "appendleft", "popleft", "_replace",
    "_asdict", "discard", "union",
})  # fmt: skip


class AttributesMixin(NamesMixin):
    """Takes values apart."""

    def attribute(self, owner: Value, name: str, node: ast.AST, state: State, here: Activation) -> Value:
        """`owner.name`; `node` is the expression it stands in."""
        found: list[Value] = [self._of_thing(thing_, name, node, state, here) for thing_ in owner.things]
        for cell in owner.cells:
            content = state.cell(cell)
            if content is not None:
                one = Value(cells=frozenset([cell]))
                found.append(self._of_cell(one, content, name, node, state, here))
        rest = replace(owner, things=frozenset(), cells=frozenset())
        if rest.kind or rest.roots or not found:
            found.append(self._of_tensor(rest, name))
        return join(*found)

    def _of_thing(self, owner: object, name: str, node: ast.AST, state: State, here: Activation) -> Value:
        if isinstance(owner, External):
            return thing(External(f"{owner.name}.{name}"))
        if isinstance(owner, HostModule):
            return self.meaning(self.world.modules.members(owner, (name,)))
        if isinstance(owner, ClassValue):
            member = self.class_member(owner, name)
            return thing(Attribute(thing(owner), name)) if member is None else _of_class(owner, member)
        if isinstance(owner, Super):
            for base in self.bases(owner.of):
                member = self.class_member(base, name)
                if member is not None:
                    return self._bound(owner.owner, member, node, state, here)
            return thing(Attribute(PLAIN if name == "__init__" else owner.owner, name))
        if isinstance(owner, KernelValue):
            return thing(owner if name == "fn" else KernelMethod(owner, name))
        return thing(Attribute(Value(things=frozenset([owner])), name))  # type: ignore[list-item]

    def class_member(self, owner: ClassValue, name: str, depth: int = 0) -> Value | None:
        """A method or class variable, of the class or of a first-party base."""
        found = self.world.modules.members(Definition(owner.module, owner.node), (name,))
        if found:
            value = self.meaning(found)
            owned = [replace(t, owner=owner) if isinstance(t, FunctionValue) else t for t in value.things]
            return replace(value, things=frozenset(owned))
        for base in self.bases(owner) if depth < 8 else ():
            inherited = self.class_member(base, name, depth + 1)
            if inherited is not None:
                return inherited
        return None

    def bases(self, owner: ClassValue) -> list[ClassValue]:
        found: list[ClassValue] = []
        for node in owner.node.bases:
            value = self.evaluate(node, State(), self.top(owner.module))
            found.extend(t for t in value.things if isinstance(t, ClassValue) and t != owner)
        return found

    def _of_cell(self, one: Value, content: Cell, name: str, node: ast.AST, state: State, here: Activation) -> Value:
        field = content.get(name) if content.kind not in ("dict", "list") else None
        if field is not None:
            return join(field, content.rest) if content.many else field
        if content.owner is not None:
            member = self.class_member(content.owner, name)
            if member is not None:
                return self._bound(one, member, node, state, here)
        if content.kind == "context" and name in ("saved_tensors", "saved_variables"):
            return content.get("saved_tensors") or UNSEEN
        if content.kind not in ("object", "context") and name in CONTAINER:
            return thing(Attribute(one, name))
        if content.kind in ("object", "context") and content.rest == Value() and content.owner is not None:
            return thing(Attribute(one, name))
        return join(content.rest, thing(Attribute(one, name)))

    def _bound(self, one: Value, member: Value, node: ast.AST, state: State, here: Activation) -> Value:
        """A class's member as an instance gives it."""
        found: list[Value] = []
        for item in member.things:
            if isinstance(item, FunctionValue) and not isinstance(item.node, ast.Lambda):
                kinds = _kinds(item)
                if "staticmethod" in kinds:
                    found.append(thing(item))
                elif "classmethod" in kinds:
                    found.append(thing(BoundMethod(thing(item.owner) if item.owner else one, item)))
                elif kinds & {"property", "cached_property"}:
                    found.append(self.get_property(BoundMethod(one, item), node, state, here))
                else:
                    found.append(thing(BoundMethod(one, item)))
            else:
                found.append(thing(item))
        rest = replace(member, things=frozenset())
        return join(*found, rest) if rest != Value() or not found else join(*found)

    def get_property(self, method: BoundMethod, node: ast.AST, state: State, here: Activation) -> Value:
        raise NotImplementedError

    def _of_tensor(self, owner: Value, name: str) -> Value:
        if owner.kind == Kind.PLAIN and not owner.roots:
            return thing(Attribute(owner, name)) if not name.startswith("is_") else PLAIN
        effect = torch_table.attribute(name)
        if effect is not None and (owner.kind & Kind.TENSOR or owner.roots):
            return applied(effect, [owner])
        if torch_table.method(name) is None and owner.roots:  # it may be a part of the owner
            return replace(UNSEEN, unsure=owner.roots, things=frozenset([Attribute(owner, name)]))
        return thing(Attribute(owner, name))

    # ------------------------------------------------------------------ elements

    def subscript(self, owner: Value, node: ast.Subscript, state: State, here: Activation) -> Value:
        """`owner[...]`."""
        index = self.evaluate(node.slice, state, here)
        found: list[Value] = []
        for item in owner.things:
            if isinstance(item, KernelValue):
                found.append(thing(KernelMethod(item, "launch")))
            elif isinstance(item, (ClassValue, External)):
                found.append(thing(item))  # a generic alias
            else:
                found.append(thing(Attribute(thing(item), "__getitem__")))
        if owner.cells:
            found.append(self._element(owner, node, index, state, here))
        rest = replace(owner, things=frozenset(), cells=frozenset())
        if rest.roots or rest.kind or not found:
            found.append(self._indexed(rest, node.slice, index, state))
        return join(*found)

    def _element(self, owner: Value, node: ast.Subscript, index: Value, state: State, here: Activation) -> Value:
        if isinstance(node.slice, ast.Slice):
            contents = state.contents(owner)
            bounds = [self._bound_of(part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            if len(contents) == 1 and contents[0].size is not None and all(known for known, _ in bounds):
                content = contents[0]
                chosen = range(content.size or 0)[slice(*(value for _, value in bounds))]
                fields = {i: content.get(j) or content.rest for i, j in enumerate(chosen)}
                return self.make(node, Cell(fields, size=len(fields), kind=content.kind), state, here)
            return self.make(node, Cell(rest=state.elements(owner)), state, here)
        if index.constant is not None:
            return state.element(owner, index.constant[1])
        return state.elements(owner)

    @staticmethod
    def _bound_of(node: ast.expr | None) -> tuple[bool, int | None]:
        if node is None:
            return True, None
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return False, None
        return isinstance(value, int), value if isinstance(value, int) else None

    def _indexed(self, tensor: Value, node: ast.expr, index: Value, state: State) -> Value:
        """A tensor indexed: a view by numbers and slices, a copy by tensors and lists."""
        if tensor.kind == Kind.PLAIN and not tensor.roots:
            return PLAIN
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        values = [state.element(index, i) for i in range(len(parts))] if isinstance(node, ast.Tuple) else [index]
        view = replace(tensor, constant=None)
        copied = False
        for part, value in zip(parts, values, strict=True):
            if isinstance(part, (ast.Slice, ast.Constant)) or value.kind == Kind.PLAIN:
                continue
            if isinstance(part, ast.List) or value.kind == Kind.TENSOR or (value.cells and _listed(value, state)):
                return replace(TENSOR, carried=tensor.carried)
            copied = True
        return weakened(view) if copied else view

    def iterate(self, value: Value, node: ast.AST, state: State, here: Activation) -> Value:
        """Any of what a loop over `value` gives."""
        found: list[Value] = []
        for content in state.contents(value):
            found.append(PLAIN if content.kind == "dict" else content.every())
        if value.roots or value.kind & Kind.TENSOR:
            found.append(replace(value, things=frozenset(), cells=frozenset(), constant=None))
        elif value.kind & Kind.OTHER:
            found.append(UNSEEN)
        elif value.kind:
            found.append(PLAIN)
        return join(*found) if found else UNSEEN

    # ------------------------------------------------------------------ assignment

    def assign(self, target: ast.expr, value: Value, state: State, here: Activation) -> None:
        """`target = value`."""
        if isinstance(target, ast.Name):
            state.put(self.scope_of(target.id, here), target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, state, here)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, self.make(target, Cell(rest=value), state, here), state, here)
        elif isinstance(target, ast.Attribute):
            self._set_attribute(target, self.evaluate(target.value, state, here), value, state, here)
        elif isinstance(target, ast.Subscript):
            self._set_element(target, value, state, here)

    def scope_of(self, name: str, here: Activation) -> tuple[object, ...]:
        return here.scope

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, state: State, here: Activation) -> None:
        stars = [i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred)]
        every: Value | None = None
        contents = state.contents(value)
        if stars and len(contents) == 1 and contents[0].size is not None and not value.roots and not contents[0].many:
            self._unpack_star(target, contents[0], stars[0], state, here)
            return
        for i, element in enumerate(target.elts):
            if value.cells and not value.roots and not stars:
                part = state.element(value, i)
            else:
                every = every or self.iterate(value, target, state, here)
                part = state.element(value, i) if value.cells and stars and i < stars[0] else every
            self.assign(element, part, state, here)

    def _unpack_star(self, target: ast.Tuple | ast.List, content: Cell, star: int, state: State,
                     here: Activation) -> None:
        """`a, *rest = values`, where there is a known number of values."""
        values = [content.get(i) or content.rest for i in range(content.size or 0)]
        after = len(target.elts) - star - 1
        middle = values[star : len(values) - after]
        for element, value in zip(target.elts[:star], values, strict=False):
            self.assign(element, value, state, here)
        starred = target.elts[star]
        assert isinstance(starred, ast.Starred)
        self.assign(starred.value, self.make(target, sequence(middle, "list"), state, here), state, here)
        for element, value in zip(target.elts[star + 1 :], values[len(values) - after :], strict=False):
            self.assign(element, value, state, here)

    def _set_attribute(self, target: ast.Attribute, owner: Value, value: Value, state: State,
                       here: Activation) -> None:
        if owner.cells:
            state.change(owner, target.attr, value)
        if target.attr != "data":
            return
        if owner.same or owner.maybe:
            self.effects.write(owner, self.effect(f"`{text_of(target)} = …`", target, here))
        if isinstance(target.value, ast.Name):  # from now on it is the other's storage
            state.put(self.scope_of(target.value.id, here), target.value.id, join(owner, value))

    def _set_element(self, target: ast.Subscript, value: Value, state: State, here: Activation) -> None:
        owner = self.evaluate(target.value, state, here)
        index = self.evaluate(target.slice, state, here)
        if owner.cells:
            state.change(owner, index.constant[1] if index.constant is not None else None, value)
        if owner.same or owner.maybe:
            self.effects.write(owner, self.effect(f"`{text_of(target)} = …`", target, here))
        if value.carried and not owner.cells and isinstance(target.value, ast.Name):  # addresses put into a table
            held = replace(owner, carried=owner.carried | value.carried)
            state.put(self.scope_of(target.value.id, here), target.value.id, held)


def applied(effect: TorchEffect, arguments: list[Value | None]) -> Value:
    """The result of a torch function, given its arguments by position (None: left out)."""
    given = {i: value for i, value in enumerate(arguments) if value is not None}
    carried = frozenset[str]().union(*(given[i].carried for i in given))
    if effect.carries:
        carried = carried.union(*(given[i].roots for i in effect.carries if i in given))
    if effect.result is Result.PLAIN:
        return Value(carried=carried, kind=Kind.PLAIN)
    same = [given[i] for i in effect.same if i in given]
    maybe = [given[i] for i in effect.maybe if i in given]
    return Value(
        NOTHING.union(*(v.same for v in same)),
        NOTHING.union(*(v.maybe for v in same), *(v.same | v.maybe for v in maybe)),
        NOTHING.union(*(v.unsure for v in (*same, *maybe))), carried, kind=Kind.TENSOR,
    )  # fmt: skip


def _of_class(owner: ClassValue, member: Value) -> Value:
    """A class's member as the class gives it: class methods take the class."""
    found = [
        BoundMethod(thing(owner), t) if isinstance(t, FunctionValue) and "classmethod" in _kinds(t) else t
        for t in member.things
    ]
    return replace(member, things=frozenset(found))


def _kinds(function: FunctionValue) -> set[str]:
    if isinstance(function.node, ast.Lambda):
        return set()
    return {text_of(decorator).rpartition(".")[2] for decorator in function.node.decorator_list}


def _listed(value: Value, state: State) -> bool:
    """Whether an index is a list, which copies, and not a tuple."""
    return all(content.kind == "list" for content in state.contents(value))
