"""Assignment to names, attributes and elements."""

from __future__ import annotations

import ast
from dataclasses import replace

from triton_mutlint.host.expressions.attributes import AttributesMixin, is_array
from triton_mutlint.host.state.core import Activation, text_of
from triton_mutlint.host.state.state import State
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
        elif name in _COPYING and (owner.kind == Sort.TENSOR or is_array(owner)):
            return
        elif owner.things or owner.kind & (Sort.TENSOR | Sort.OTHER) or owner.roots or not owner.cells:
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
        if not owner.cells and not owner.kind & Sort.TENSOR and not owner.roots:
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
        bounds = [self.literal_bound(part) for part in (at.lower, at.upper)]
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
