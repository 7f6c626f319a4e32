"""Assignment to names, attributes and elements."""

from __future__ import annotations

import ast
from dataclasses import replace

from triton_mutlint.host.expressions.attributes import AttributesMixin, is_array
from triton_mutlint.host.state.core import text_of
from triton_mutlint.host.values.cells import KEYS, Cell, sequence
from triton_mutlint.host.values.values import (
    Attribute,
    ScopeId,
    Sort,
    Value,
    join,
)

_COPYING = frozenset({"real", "imag", "flat"})  # assignment copies into the tensor, or into the array


class AssignmentMixin(AttributesMixin):
    """Puts values where code assigns them."""

    def assign(self, target: ast.expr, value: Value) -> None:
        """`target = value`."""
        if isinstance(target, ast.Name):
            self.state.put(self.scope_of(target.id), target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, self.make(target, Cell(rest=value)))
        elif isinstance(target, ast.Attribute):
            self._set_attribute(target, self.evaluate(target.value), value)
        elif isinstance(target, ast.Subscript):
            self._set_element(target, value)

    def scope_of(self, name: str) -> ScopeId:
        raise NotImplementedError

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        stars = [i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred)]
        every: Value | None = None
        contents = self.state.contents(value)
        if stars and len(contents) == 1 and contents[0].size is not None and not value.roots and not contents[0].many:
            self._unpack_star(target, contents[0], stars[0])
            return
        for i, element in enumerate(target.elts):
            lazy = any(content.source != Value() or (
                content.owner is not None and self.class_member(content.owner, "__iter__")) for content in contents)
            if value.cells and not value.roots and not stars and not lazy:
                part = self.state.element(value, i)
            else:
                every = every or self.iterate(value, target)
                part = self.state.element(value, i) if value.cells and stars and i < stars[0] else every
            self.assign(element, part)

    def _unpack_star(self, target: ast.Tuple | ast.List, content: Cell, star: int) -> None:
        """`a, *rest = values`, where there is a known number of values."""
        values = [content.get(i) or content.rest for i in range(content.size or 0)]
        after = len(target.elts) - star - 1
        middle = values[star : len(values) - after]
        for element, value in zip(target.elts[:star], values, strict=False):
            self.assign(element, value)
        starred = target.elts[star]
        assert isinstance(starred, ast.Starred)
        self.assign(starred.value, self.make(target, sequence(middle, "list")))
        for element, value in zip(target.elts[star + 1 :], values[len(values) - after :], strict=False):
            self.assign(element, value)

    def _set_attribute(self, target: ast.Attribute, owner: Value, value: Value) -> None:
        self.put_attribute(owner, target.attr, value, target)
        if target.attr == "data":  # from now on it is the other's storage
            self.assign(target.value, join(owner, value))

    def put_attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        for cell in owner.cells:
            content = self.state.cell(cell)
            one = Value(cells=frozenset([cell]))
            if content is None or content.owner is None or not self.set_member(one, content.owner, name, value, node):
                old = Value() if len(owner.cells) == 1 or content is None else content.get(name) or Value()
                self.state.change(one, name, join(old, value))
        text = f"`{text_of(node)} = …`"
        if name == "data" or name in _COPYING:
            self.effects.write(owner, self.effect(text, node))
        if name == "data":
            if not owner.roots:  # other names may be of the same tensor
                self.escape(value, f"{text} shares it", node)
        elif name in _COPYING and (owner.kind == Sort.TENSOR or is_array(owner)):
            return
        elif owner.things or owner.kind & (Sort.TENSOR | Sort.OTHER) or owner.roots or not owner.cells:
            self.escape(value, f"{text} puts it where it is not followed", node)

    def _set_element(self, target: ast.Subscript, value: Value) -> None:
        owner = self.evaluate(target.value)
        index = self.evaluate(target.slice)
        text = f"`{text_of(target)} = …`"
        if owner.cells:
            self.put_element(owner, target.slice, index, value, target)
        self.effects.write(owner, self.effect(text, target))
        if value.carried and not owner.cells:  # addresses put into a table
            self.assign(target.value, replace(owner, carried=owner.carried | value.carried))
        for item in owner.things:
            if isinstance(item, Attribute) and item.name == "__dict__":
                self.state.change(item.owner, index.constant[1] if index.constant is not None else None, value)
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
        self.key(owner, index)

    def key(self, owner: Value, index: Value) -> None:
        """Note a dict's key that is no constant: it may be an argument."""
        if index.roots or index.cells or index.things:
            self.state.change(owner, KEYS, join(self.state.element(owner, KEYS), index))
