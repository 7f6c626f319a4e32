"""Attributes and elements: how values are taken apart, and put where code assigns them."""

from __future__ import annotations

import ast
from dataclasses import replace

from triton_mutlint.host.classes.classes import attribute_of_any, role_of
from triton_mutlint.host.classes.outside import is_strange
from triton_mutlint.host.expressions.iteration import Iteration
from triton_mutlint.host.modules.module import External, HostModule
from triton_mutlint.host.state.state import state_scope
from triton_mutlint.host.torch import table as torch_table
from triton_mutlint.host.torch.table import applied
from triton_mutlint.host.values.groups import CONTAINER_METHODS, KEPT, KEYS, Cell, sequence, taken
from triton_mutlint.host.values.values import (
    ON_GRID,
    PLAIN,
    TENSOR,
    UNSEEN,
    Attribute,
    ClassValue,
    KernelValue,
    Sort,
    Super,
    Thing,
    Value,
    attribute_of,
    constant,
    is_plain,
    join,
    picked,
    present,
    thing,
    weakened,
)

_COPYING = frozenset({"real", "imag", "flat"})  # assignment copies into the tensor, or into the array


class Elements(Iteration):
    """Takes values apart."""

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """`owner.name`; `node` is the expression it stands in."""
        owner = present(owner)
        found: list[Value] = [self._of_thing(thing_, name, node) for thing_ in owner.things]
        for cell in owner.cells:
            content = self.state.cell(cell)
            if content is not None:
                one = Value(cells=frozenset([cell]))
                found.append(self._of_cell(one, content, name, node))
        if owner.kind or owner.roots or not found:
            found.append(self._of_tensor(_rest(owner), name))
        return taken(owner, join(*found))

    def _of_thing(self, owner: Thing, name: str, node: ast.AST) -> Value:
        if isinstance(owner, HostModule):
            return self.member(owner, name)
        if isinstance(owner, ClassValue) and name != "__dict__":
            member = self.class_member(owner, name)
            if member is None:
                made_by = self.metaclass(owner)
                of_it = self.class_member(made_by, name) if made_by is not None else None
                if of_it is not None:
                    return self.bound(thing(owner), of_it, node)
                asked = Value() if made_by is None else thing(owner)
                got = self.special(asked, ("__getattribute__", "__getattr__"), (constant(name),), node)
                return thing(Attribute(thing(owner), name)) if got is None else got
            if self.is_enum(owner) and self.is_enum_member(member):
                return self.enum_member(owner, name, member)
            return self.of_class(owner, member, node)
        if isinstance(owner, Super):
            for base in self.after(owner.owner, owner.of):
                member = self._own_member(base, name)
                if member is not None:
                    return self.bound(owner.owner, member, node)
            is_plain_init = name == "__init__" and not self.inherited(owner.of, [name])
            return thing(Attribute(owner.owner, "<base init>" if is_plain_init else name))
        return attribute_of_any(owner, name)

    def _of_cell(self, one: Value, content: Cell, name: str, node: ast.AST) -> Value:
        if name in ("__dict__", "__class__"):
            found = thing(content.owner) if content.owner is not None else UNSEEN
            return thing(Attribute(one, name)) if name == "__dict__" else found
        got = self.special(one, "__getattribute__", (constant(name),), node)
        if got is not None:
            return join(got, content.every())
        member = self.class_member(content.owner, name) if content.owner is not None else None
        field = content.get(name) if content.kind not in ("dict", "list") else None
        if field is not None and not (member is not None and self._is_property(member)):
            return join(field, content.rest) if content.many else field
        if member is not None:
            return join(self.bound(one, member, node), content.rest, field or Value())
        if content.owner is not None:
            got = self.special(one, "__getattr__", (constant(name),), node)
            if got is not None:
                return join(got, content.rest)
        if content.kind == "context" and name in ("saved_tensors", "saved_variables"):
            return content.get("saved_tensors") or UNSEEN
        if content.kind not in ("object", "context") and name in CONTAINER_METHODS:
            return thing(Attribute(one, name))
        rest = join(content.rest, content.get(KEPT) or Value())
        if rest == Value() if content.owner is not None else content.kind in ("list", "tuple", "dict"):
            return thing(Attribute(one, name))
        return join(rest, thing(Attribute(one, name)))

    def _is_property(self, member: Value) -> bool:
        """Whether it is a property, or an object that may be a descriptor."""
        return any(content.owner is not None for content in self.state.contents(member)) or any(
            role_of(item)[0] == "property" for item in member.things)

    def _of_tensor(self, owner: Value, name: str) -> Value:
        if name == "__class__":
            return thing(External("torch.Tensor")) if owner.kind == Sort.TENSOR else UNSEEN
        if is_plain(owner) and not owner.roots:
            return thing(Attribute(owner, name)) if not name.startswith("is_") else PLAIN
        effect = torch_table.attribute(name)
        if effect is not None and (owner.kind & Sort.TENSOR or owner.roots):
            for index in effect.carries if owner.roots else ():
                self.effects.exposed.update(dict.fromkeys(owner.roots if index == 0 else ()))
            result = applied(effect, [owner])
            return replace(result, kind=owner.kind) if is_array(owner) and result.kind & Sort.TENSOR else result
        if torch_table.method(name) is None and owner.roots:  # it may be a part of the owner
            return replace(UNSEEN, unsure=owner.roots, things=frozenset([Attribute(owner, name)]))
        return thing(Attribute(owner, name))

    # ------------------------------------------------------------------ elements

    def subscript(self, owner: Value, node: ast.Subscript) -> Value:
        """`owner[...]`."""
        owner, index = present(owner), self.evaluate(node.slice)
        self.handed([index], node, beside=[self.state.element(owner, KEYS)])
        found: list[Value] = []
        for item in owner.things:
            if isinstance(item, KernelValue):
                self.grid(index, node)
                found.append(thing(attribute_of(item, ON_GRID)))
            elif isinstance(item, Attribute) and item.name == "__dict__":
                found.append(self._keyed(item.owner, index))
            elif isinstance(item, (ClassValue, External)) or is_strange(item):
                own = self.special(thing(item), "__getitem__", (index,), node)
                if isinstance(item, ClassValue) and self.metaclass(item) is None:
                    own = join(own or Value(), self.item_of_class(item, index, node) or thing(item))
                found.append(own or thing(item))  # a generic alias
            else:
                found.append(thing(attribute_of(item, "__getitem__")))
        if owner.cells:
            found.append(self._element(owner, node, index))
        if owner.roots or owner.kind or not found:
            found.append(self._indexed(_rest(owner), node.slice, index))
        return join(*found)

    def _keyed(self, owner: Value, index: Value) -> Value:
        if owner.things and not owner.cells:  # `vars(module)[name]`
            return self.attribute(owner, str(index.constant[1]), ast.Pass()) if index.constant is not None else UNSEEN
        if index.constant is not None:
            return self.state.element(owner, index.constant[1])
        by_name = all(content.kind == "dict" for content in self.state.contents(owner))
        return picked(self.state.elements(owner)) if by_name else self.state.elements(owner)

    def _element(self, owner: Value, node: ast.Subscript, index: Value) -> Value:
        got = self.special(owner, "__getitem__", (index,), node)
        if got is not None:
            return join(got, self._keyed(owner, index)) if len(owner.cells) > 1 else got
        missing = self.special(owner, "__missing__", (index,), node)
        if missing is not None:
            return join(missing, self._keyed(owner, index))
        if isinstance(node.slice, ast.Slice):
            listed = self.state.listed(owner)
            bounds = [self.literal_bound(part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            if listed is not None and all(known for known, _ in bounds):
                kind = self.state.contents(owner)[0].kind
                return self.make(node, sequence(listed[slice(*(value for _, value in bounds))], kind))
            return self.make(node, Cell(rest=self.state.elements(owner)))
        return self._keyed(owner, index)

    def _indexed(self, tensor: Value, node: ast.expr, index: Value) -> Value:
        """A tensor indexed: a view by numbers and slices, a copy by tensors and lists."""
        if is_plain(tensor) and not tensor.roots:
            return replace(PLAIN, wide=tensor.wide and isinstance(node, ast.Slice))
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        values = [self.state.element(index, i) for i in range(len(parts))] if isinstance(node, ast.Tuple) else [index]
        view = replace(tensor, constant=None, wide=False, some=True)
        copied = False
        for part, value in zip(parts, values, strict=True):
            mask = value.constant is not None and isinstance(value.constant[1], bool)
            if isinstance(part, ast.List) or mask or value.wide or (
                    value.cells and all(content.kind == "list" for content in self.state.contents(value))):
                return replace(TENSOR, carried=tensor.carried)
            if isinstance(part, (ast.Slice, ast.Constant)) or is_plain(value):
                continue
            copied = True
        return weakened(view) if copied else view

    # ------------------------------------------------------------------ assignment

    def assign(self, target: ast.expr, value: Value) -> None:
        """`target = value`."""
        if isinstance(target, ast.Name):
            self.state.put(self.scope_of(target.id), target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, self.make(target, Cell(rest=value)))
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value)
            self.put_attribute(owner, target.attr, value, target)
            if target.attr == "data":  # from now on it is the other's storage
                self.assign(target.value, join(owner, value))
        elif isinstance(target, ast.Subscript):
            self._set_element(target, value)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        star = next((i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
        if self.runs_code(value):
            value = self.gathered(value, target)
        listed = self.state.listed(value)
        if star is not None and listed is not None:
            end = len(listed) - (len(target.elts) - star - 1)
            listed[star:end] = [self.make(target, sequence(listed[star:end], "list"))]
            for part, element in zip(target.elts, listed, strict=False):
                self.assign(part.value if isinstance(part, ast.Starred) else part, element)
            return
        exact = value.cells and not value.roots
        every = Value() if exact and star is None else self.iterate(value, target)
        for i, part in enumerate(target.elts):
            self.assign(part, self.state.element(value, i) if exact and (star is None or i < star) else every)

    def put_attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        for cell in owner.cells:
            content = self.state.cell(cell)
            one = Value(cells=frozenset([cell]))
            if content is None or content.owner is None or not self.set_member(one, content.owner, name, value, node):
                old = Value() if len(owner.cells) == 1 or content is None else content.get(name) or Value()
                self.state.change(one, name, join(old, value))
        text = self.quoted(node, " = …")
        if name == "data" or name in _COPYING:
            self.effects.write(owner, self.effect(text, node))
        if name == "data":
            if not owner.roots:  # other names may be of the same tensor
                self.escape(value, f"{text} shares it", node)
        elif name in _COPYING and (owner.kind == Sort.TENSOR or is_array(owner)):
            return
        named = {t: state_scope(t) for t in owner.things if isinstance(t, (HostModule, ClassValue))}
        for item, scope in named.items():
            if self.special(thing(item), "__setattr__", (constant(name), value), node) is not None:
                continue
            before = self.state.get(scope, name) if len(owner.things) > 1 else None
            self.state.put(scope, name, join(before or Value(), value))
        if owner.things - named.keys() or owner.kind & (Sort.TENSOR | Sort.OTHER) or owner.roots or not (
                owner.cells or named):
            self.escape(value, f"{text} puts it where it is not followed", node)

    def _set_element(self, target: ast.Subscript, value: Value) -> None:
        owner = self.evaluate(target.value)
        index = self.evaluate(target.slice)
        text = self.quoted(target, " = …")
        if owner.cells:
            self.put_element(owner, target.slice, index, value, target)
        else:
            self.special(owner, "__setitem__", (index, value), target)
            self.handed([index, value], target)
        self.effects.write(owner, self.effect(text, target))
        if value.carried and not owner.cells:  # addresses put into a table
            self.assign(target.value, replace(owner, carried=owner.carried | value.carried))
        for item in owner.things:
            if isinstance(item, Attribute) and item.name == "__dict__":
                self.state.change(item.owner, index.constant[1] if index.constant is not None else None, value)
                if item.owner.things:
                    self.put_attribute(item.owner, str((index.constant or ("", ""))[1]), value, target)
        if not owner.cells and not owner.kind & Sort.TENSOR and not owner.roots:
            self.escape(value, f"{text} puts it where it is not followed", target)

    def put_element(self, owner: Value, at: ast.expr | None, index: Value, value: Value, node: ast.AST) -> None:
        """`owner[index] = value` for containers and objects."""
        if self.special(owner, "__setitem__", (index, value), node) is not None and len(owner.cells) == 1:
            return
        if isinstance(at, ast.Slice):
            self.state.mix(owner, self.iterate(value, node))
            return
        self.state.change(owner, index.constant[1] if index.constant is not None else None, value)
        self.key(owner, index, node)

    def key(self, owner: Value, index: Value, node: ast.AST) -> None:
        """Note a dict's key that is no constant: it may be an argument."""
        self.handed([index], node, beside=[self.state.element(owner, KEYS)])
        if index.roots or index.cells or index.things:
            self.state.change(owner, KEYS, join(self.state.element(owner, KEYS), index))


def _rest(value: Value) -> Value:
    """What a value may be, containers and what can be called aside."""
    return replace(value, things=frozenset(), cells=frozenset()) if value.things or value.cells else value


def is_array(value: Value) -> bool:
    """Whether a value with an argument's storage is no tensor but something like a numpy array."""
    return bool(value.same or value.maybe) and value.kind == Sort.OTHER
