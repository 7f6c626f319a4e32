"""Attributes, elements and assignment: how values are taken apart and put together."""

from __future__ import annotations

import ast
from dataclasses import replace

from triton_mutlint.host import torch_table
from triton_mutlint.host.arguments import Arguments
from triton_mutlint.host.classes import kinds_of, made_by
from triton_mutlint.host.core import Activation, text_of
from triton_mutlint.host.instances import InstancesMixin
from triton_mutlint.host.modules import External, HostModule
from triton_mutlint.host.state import State
from triton_mutlint.host.torch_table import Result, TorchEffect
from triton_mutlint.host.values import (
    KEYS,
    NOTHING,
    PLAIN,
    TENSOR,
    UNSEEN,
    Attribute,
    Cell,
    ClassValue,
    FunctionValue,
    KernelMethod,
    KernelValue,
    Kind,
    ScopeId,
    Super,
    Thing,
    Value,
    attribute_of,
    constant,
    is_plain,
    join,
    picked,
    present,
    sequence,
    thing,
    weakened,
)

_COPYING = frozenset({"real", "imag", "flat"})  # assignment copies into the tensor, or into the array
# Methods of containers; those of a first-party class come before them.
CONTAINER = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "copy", "get", "items", "keys", "values", "update",
    "setdefault", "popitem", "index", "count", "sort", "reverse", "add", "appendleft", "popleft", "_replace",
    "_asdict", "discard", "union",
})  # fmt: skip


class AttributesMixin(InstancesMixin):
    """Takes values apart."""

    def attribute(self, owner: Value, name: str, node: ast.AST, state: State, here: Activation) -> Value:
        """`owner.name`; `node` is the expression it stands in."""
        owner = present(owner)
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

    def _of_thing(self, owner: Thing, name: str, node: ast.AST, state: State, here: Activation) -> Value:
        if isinstance(owner, External):
            return thing(External(f"{owner.name}.{name}"))
        if isinstance(owner, HostModule):
            return self.meaning(self.world.modules.members(owner, (name,)))
        if isinstance(owner, ClassValue):
            member = self.class_member(owner, name)
            if member is None:
                return thing(Attribute(thing(owner), name))
            if self.is_enum(owner) and not member.things:
                return self.make(node, Cell({"value": member}, kind="object", owner=owner), state, here, name)
            return self.of_class(owner, member)
        if isinstance(owner, Super):
            for base in self.after(owner.owner, owner.of, state):
                member = self._own_member(base, name)
                if member is not None:
                    return self.bound(owner.owner, member, node, state, here)
            return thing(Attribute(owner.owner, "<base init>" if name == "__init__" else name))
        if isinstance(owner, KernelValue):
            return thing(owner if name == "fn" else KernelMethod(owner, name))
        return thing(attribute_of(owner, name))

    def _of_cell(self, one: Value, content: Cell, name: str, node: ast.AST, state: State, here: Activation) -> Value:
        if name in ("__dict__", "__class__"):
            found = thing(content.owner) if content.owner is not None else UNSEEN
            return thing(Attribute(one, name)) if name == "__dict__" else found
        member = self.class_member(content.owner, name) if content.owner is not None else None
        field = content.get(name) if content.kind not in ("dict", "list") else None
        if field is not None and not (member is not None and _is_property(member)):
            return join(field, content.rest) if content.many else field
        if member is not None:
            return join(self.bound(one, member, node, state, here), content.rest, field or Value())
        if content.owner is not None:
            got = self.special(one, ("__getattribute__", "__getattr__"), (constant(name),), node, state, here)
            if got is not None:
                return join(got, content.rest)
        if content.kind == "context" and name in ("saved_tensors", "saved_variables"):
            return content.get("saved_tensors") or UNSEEN
        if content.kind not in ("object", "context") and name in CONTAINER:
            return thing(Attribute(one, name))
        if content.kind in ("object", "context") and content.rest == Value() and content.owner is not None:
            return thing(Attribute(one, name))
        if content.kind in ("list", "tuple", "dict") and content.owner is None:
            return thing(Attribute(one, name))
        return join(content.rest, thing(Attribute(one, name)))

    def _of_tensor(self, owner: Value, name: str) -> Value:
        if name == "__class__":
            return thing(External("torch.Tensor")) if owner.kind == Kind.TENSOR else UNSEEN
        if is_plain(owner) and not owner.roots:
            return thing(Attribute(owner, name)) if not name.startswith("is_") else PLAIN
        effect = torch_table.attribute(name)
        if effect is not None and (owner.kind & Kind.TENSOR or owner.roots):
            for index in effect.carries if owner.roots else ():
                self.effects.exposed.update(dict.fromkeys(owner.roots if index == 0 else ()))
            result = applied(effect, [owner])
            return replace(result, kind=owner.kind) if is_array(owner) and result.kind & Kind.TENSOR else result
        if torch_table.method(name) is None and owner.roots:  # it may be a part of the owner
            return replace(UNSEEN, unsure=owner.roots, things=frozenset([Attribute(owner, name)]))
        return thing(Attribute(owner, name))

    # ------------------------------------------------------------------ elements

    def subscript(self, owner: Value, node: ast.Subscript, state: State, here: Activation) -> Value:
        """`owner[...]`."""
        owner, index = present(owner), self.evaluate(node.slice, state, here)
        found: list[Value] = []
        for item in owner.things:
            if isinstance(item, KernelValue):
                self.grid(index, node, state, here)
                found.append(thing(KernelMethod(item, "launch")))
            elif isinstance(item, Attribute) and item.name == "__dict__":
                found.append(self._keyed(item.owner, index, state))
            elif isinstance(item, (ClassValue, External)):
                found.append(thing(item))  # a generic alias
            else:
                found.append(thing(attribute_of(item, "__getitem__")))
        if owner.cells:
            found.append(self._element(owner, node, index, state, here))
        rest = replace(owner, things=frozenset(), cells=frozenset())
        if rest.roots or rest.kind or not found:
            found.append(self._indexed(rest, node.slice, index, state))
        return join(*found)

    @staticmethod
    def _keyed(owner: Value, index: Value, state: State) -> Value:
        if index.constant is not None:
            return state.element(owner, index.constant[1])
        by_name = all(content.kind == "dict" for content in state.contents(owner))
        return picked(state.elements(owner)) if by_name else state.elements(owner)

    def grid(self, grid: Value, node: ast.AST, state: State, here: Activation) -> None:
        """A launch calls its grid, where that is a function."""
        if grid.things:
            self.call(grid, Arguments((UNSEEN,)), node, state, here)

    def _element(self, owner: Value, node: ast.Subscript, index: Value, state: State, here: Activation) -> Value:
        got = self.special(owner, "__getitem__", (index,), node, state, here)
        if got is not None:
            return join(got, self._keyed(owner, index, state)) if len(owner.cells) > 1 else got
        if isinstance(node.slice, ast.Slice):
            contents = state.contents(owner)
            bounds = [self._bound_of(part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            if len(contents) == 1 and contents[0].size is not None and all(known for known, _ in bounds):
                content = contents[0]
                chosen = range(content.size or 0)[slice(*(value for _, value in bounds))]
                fields = {i: content.get(j) or content.rest for i, j in enumerate(chosen)}
                return self.make(node, Cell(fields, size=len(fields), kind=content.kind), state, here)
            return self.make(node, Cell(rest=state.elements(owner)), state, here)
        return self._keyed(owner, index, state)

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
        if is_plain(tensor) and not tensor.roots:
            return PLAIN
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        values = [state.element(index, i) for i in range(len(parts))] if isinstance(node, ast.Tuple) else [index]
        view = replace(tensor, constant=None, wide=False, some=True)
        copied = False
        for part, value in zip(parts, values, strict=True):
            mask = value.constant is not None and isinstance(value.constant[1], bool)
            if isinstance(part, ast.List) or mask or value.wide or (value.cells and _listed(value, state)):
                return replace(TENSOR, carried=tensor.carried)
            if isinstance(part, (ast.Slice, ast.Constant)) or is_plain(value):
                continue
            copied = True
        return weakened(view) if copied else view

    # ------------------------------------------------------------------ assignment

    def assign(self, target: ast.expr, value: Value, state: State, here: Activation) -> None:
        """`target = value`."""
        if isinstance(target, ast.Name):
            state.put(self.scope_of(target.id, state, here), target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, state, here)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, self.make(target, Cell(rest=value), state, here), state, here)
        elif isinstance(target, ast.Attribute):
            self._set_attribute(target, self.evaluate(target.value, state, here), value, state, here)
        elif isinstance(target, ast.Subscript):
            self._set_element(target, value, state, here)

    def scope_of(self, name: str, state: State, here: Activation) -> ScopeId:
        raise NotImplementedError

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, state: State, here: Activation) -> None:
        stars = [i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred)]
        every: Value | None = None
        contents = state.contents(value)
        if stars and len(contents) == 1 and contents[0].size is not None and not value.roots and not contents[0].many:
            self._unpack_star(target, contents[0], stars[0], state, here)
            return
        for i, element in enumerate(target.elts):
            lazy = any(content.source != Value() or (
                content.owner is not None and self.class_member(content.owner, "__iter__")) for content in contents)
            if value.cells and not value.roots and not stars and not lazy:
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
        self.put_attribute(owner, target.attr, value, target, state, here)
        if target.attr == "data":  # from now on it is the other's storage
            self.assign(target.value, join(owner, value), state, here)

    def put_attribute(self, owner: Value, name: str, value: Value, node: ast.AST, state: State,
                      here: Activation) -> None:
        for cell in owner.cells:
            content = state.cell(cell)
            one = Value(cells=frozenset([cell]))
            if content is None or content.owner is None or not self.set_member(
                    one, content.owner, name, value, node, state, here):
                old = Value() if len(owner.cells) == 1 or content is None else content.get(name) or Value()
                state.change(one, name, join(old, value))
        text = f"`{text_of(node)} = …`"
        if name == "data" or name in _COPYING:
            self.effects.write(owner, self.effect(text, node, here))
        if name == "data":
            if not owner.roots:  # other names may be of the same tensor
                self.escape(value, f"{text} shares it", node, state, here)
        elif name in _COPYING and (owner.kind == Kind.TENSOR or is_array(owner)):
            return
        elif owner.things or owner.kind & (Kind.TENSOR | Kind.OTHER) or owner.roots or not owner.cells:
            self.escape(value, f"{text} puts it where it is not followed", node, state, here)

    def _set_element(self, target: ast.Subscript, value: Value, state: State, here: Activation) -> None:
        owner = self.evaluate(target.value, state, here)
        index = self.evaluate(target.slice, state, here)
        text = f"`{text_of(target)} = …`"
        if owner.cells:
            self.put_element(owner, target.slice, index, value, target, state, here)
        self.effects.write(owner, self.effect(text, target, here))
        if value.carried and not owner.cells:  # addresses put into a table
            self.assign(target.value, replace(owner, carried=owner.carried | value.carried), state, here)
        for item in owner.things:
            if isinstance(item, Attribute) and item.name == "__dict__":
                state.change(item.owner, index.constant[1] if index.constant is not None else None, value)
        if not owner.cells and not owner.kind & Kind.TENSOR and not owner.roots:
            self.escape(value, f"{text} puts it where it is not followed", target, state, here)

    def put_element(self, owner: Value, at: ast.expr | None, index: Value, value: Value, node: ast.AST, state: State,
                    here: Activation) -> None:
        """`owner[index] = value` for containers and objects."""
        if self.special(owner, "__setitem__", (index, value), node, state, here) is not None and len(owner.cells) == 1:
            return
        if isinstance(at, ast.Slice):
            self._put_slice(owner, at, value, node, state, here)
            return
        state.change(owner, index.constant[1] if index.constant is not None else None, value)
        self.key(owner, index, state)

    def _put_slice(self, owner: Value, at: ast.Slice, value: Value, node: ast.AST, state: State,
                   here: Activation) -> None:
        bounds = [self._bound_of(part) for part in (at.lower, at.upper)]
        contents = state.contents(value)
        new = contents[0].listed() if len(contents) == 1 and not value.roots else None
        if new is None or at.step is not None or not all(known for known, _ in bounds):
            every = self.iterate(value, node, state, here)
            state.mix(owner)
            state.grow(owner, every)
            return

        def put(listed: list[Value]) -> list[Value]:
            listed[slice(bounds[0][1], bounds[1][1])] = new
            return listed

        if any(content.listed() is None for content in state.contents(owner)) or len(owner.cells) > 1:
            state.mix(owner)
            state.grow(owner, join(*new, Value()))
        else:
            state.rearrange(owner, put)

    @staticmethod
    def key(owner: Value, index: Value, state: State) -> None:
        """Note a dict's key that is no constant: it may be an argument."""
        if index.roots or index.cells or index.things:
            state.change(owner, KEYS, join(state.element(owner, KEYS), index))


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


def is_array(value: Value) -> bool:
    """Whether a value with an argument's storage is no tensor but something like a numpy array."""
    return bool(value.same or value.maybe) and value.kind == Kind.OTHER


def _is_property(member: Value) -> bool:
    functions = (t for t in member.things if hasattr(t, "node"))
    made = any(made_by(t) == "builtins.property" for t in member.things)
    return made or bool(member.cells) or any(
        isinstance(t, FunctionValue) and "property" in kinds_of(t) for t in functions)


def _listed(value: Value, state: State) -> bool:
    """Whether an index is a list, which copies, and not a tuple."""
    return all(content.kind == "list" for content in state.contents(value))
