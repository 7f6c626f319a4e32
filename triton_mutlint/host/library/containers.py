"""Methods of lists, tuples, dicts, sets and generators."""

from __future__ import annotations

import ast
from dataclasses import replace

from triton_mutlint.host.torch import table as torch_table
from triton_mutlint.host.torch.calls import TorchCallsMixin
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import KEYS, Cell
from triton_mutlint.host.values.values import NONE, PLAIN, UNSEEN, Attribute, Sort, Value, constant, join, thing

# Methods that change nothing and give nothing of what is in the container.
_LOOKS = frozenset({
    "index", "count", "issubset", "issuperset", "isdisjoint", "__len__", "__contains__", "__eq__", "__ne__", "format",
    "__hash__", "__repr__", "__str__",
})  # fmt: skip
_SHRINKS = frozenset({"remove", "discard", "clear", "__delitem__", "difference_update", "intersection_update"})
_AT_THE_END = frozenset({"append", "add"})
_MOVES = frozenset({"appendleft", "insert", "extendleft", "reverse", "sort", "rotate"}) | _SHRINKS
_EXTENDS = frozenset({"extend", "update", "__iadd__", "__ior__", "symmetric_difference_update"})
_COPIES = frozenset({
    "copy", "__copy__", "union", "intersection", "difference", "symmetric_difference", "_asdict", "__add__", "__or__",
    "__mul__",
})  # fmt: skip
_TAKES = frozenset({"get", "pop", "setdefault", "popleft", "popitem", "__getitem__"})


class ContainersMixin(TorchCallsMixin):
    """Calls methods of containers."""

    def container_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        contents = self.state.contents(owner)
        kinds = {content.kind for content in contents}
        last = arguments.positional[-1] if arguments.positional else None
        if "generator" in kinds:
            return self._generator_method(owner, name, last, node)
        if name in _AT_THE_END and last is not None:
            self._appended(owner, last)
            return NONE
        if name in _MOVES:
            self._moved(owner, name, arguments, node)
            return NONE
        if name in _EXTENDS:
            self._updated(owner, arguments, node)
            return owner if name.startswith("__") else NONE
        if name == "__setitem__" and len(arguments.positional) == 2:
            self.put_element(owner, None, *arguments.positional, node)
            return NONE
        if name == "pop" and len(contents) == 1 and contents[0].kind != "dict" and not arguments.positional:
            return self._popped(owner, contents[0])
        if name in _TAKES:
            return self._taken(owner, name, arguments)
        return self._viewed(owner, name, contents, arguments, node)

    def _moved(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> None:
        """Methods after which elements stand elsewhere."""
        if name in ("insert", "appendleft") and arguments.positional:
            self._inserted(owner, PLAIN if name == "insert" else constant(0), arguments)
            return
        if name == "reverse":
            self.state.rearrange(owner, lambda listed: listed[::-1])
            return
        if name in _SHRINKS:
            self.removed(owner, None)
            return
        key = arguments.named.get("key")
        if key is not None and key.things:
            self.call(key, Arguments((self.state.elements(owner),)), node)
        self.state.mix(owner)
        for value in arguments.positional:
            self.state.grow(owner, self.iterate(value, node))

    def _viewed(self, owner: Value, name: str, contents: list[Cell], arguments: Arguments, node: ast.AST) -> Value:
        """Methods that give the elements, or a copy of the container."""
        again = thing(Attribute(replace(owner, things=frozenset(), kind=Value().kind), name))
        if name in ("items", "values", "keys", "elements", "__iter__", "__reversed__"):
            keys = join(PLAIN, *(content.get(KEYS) or Value() for content in contents))
            element = keys if name == "keys" else self.state.elements(owner)
            if name == "items":
                row = Cell({0: keys, 1: element}, size=2, kind="tuple")
                element = self.make(node, row, "row")
            elif name.startswith("__"):
                element = self.iterate(owner, node)
                return self.make(node, Cell(rest=element), name)
            return self.make(node, Cell(rest=element, source=again))
        if name in _COPIES and len(contents) == 1:
            content = contents[0]
            for value in arguments:
                content = content.mixed().add(self.iterate(value, node))
            return self.make(node, content)
        if name in ("_replace", *_COPIES):
            content = contents[0] if len(contents) == 1 else Cell(rest=self.state.elements(owner))
            for value in arguments:
                content = content.spread(value)
            return self.make(node, content)
        if name in _LOOKS:
            for value in arguments:
                self.special(value, "__eq__", (self.state.elements(owner),), node)
            return PLAIN
        if torch_table.method(name) is not None and all(c.kind in ("list", "tuple", "dict") for c in contents):
            # No container has it: what comes here is a tensor among what may be in it, or nothing.
            held = replace(self.within(owner), cells=frozenset(), things=frozenset(), kind=Sort.TENSOR)
            return self.tensor_method(Attribute(held, name), arguments, node)
        return self.not_known(owner, arguments, node)

    def _generator_method(self, owner: Value, name: str, sent: Value | None, node: ast.AST) -> Value:
        """`send`, `throw`, `close` and `__next__` run the generator on."""
        if name == "throw" and sent is not None:
            self.throw(sent)
        given = Arguments((sent,)) if sent is not None else Arguments()
        found = [self.state.elements(owner)]
        for content in self.state.contents(owner):
            if content.source != Value():
                found.append(self.state.elements(self.call(content.source, given, node)))
        return join(*found)

    def _appended(self, owner: Value, value: Value) -> None:
        contents = self.state.contents(owner)
        if len(contents) == 1 and contents[0].size is not None and not contents[0].many:
            content = contents[0]
            (cell,) = owner.cells
            self.state.kept |= cell in self.state.base
            self.state.store(cell, replace(content.put(content.size, value), size=(content.size or 0) + 1))
            return
        self.state.grow(owner, value)

    def _inserted(self, owner: Value, at: Value, arguments: Arguments) -> None:
        *before, value = arguments.positional
        place = (before[0] if before else at).constant
        index = place[1] if place is not None and isinstance(place[1], int) else None
        if index is None or any(content.listed() is None for content in self.state.contents(owner)):
            self.state.mix(owner)
            self.state.grow(owner, value)
            return
        self.state.rearrange(owner, lambda listed: [*listed[:index], value, *listed[index:]])

    def _popped(self, owner: Value, content: Cell) -> Value:
        """The last element of a list, which becomes shorter."""
        if not content.size or content.many:
            return content.every()
        (cell,) = owner.cells
        self.state.kept |= cell in self.state.base
        last = content.size - 1
        fields = {key: value for key, value in content.fields.items() if key != last}
        self.state.store(cell, replace(content, fields=fields, size=last))
        return content.get(last) or content.rest

    def _updated(self, owner: Value, arguments: Arguments, node: ast.AST) -> None:
        for value in arguments.positional:
            self.extended(owner, value, node)
        for name, value in arguments.named.items():
            self.state.change(owner, name, value)
        for rest in (arguments.star, arguments.double_star):
            if rest is not None:
                self.state.change(owner, None, join(rest, self.iterate(rest, node)))

    def extended(self, owner: Value, value: Value, node: ast.AST) -> None:
        """`owner += value`, `owner.extend(value)`, `owner |= value` of lists, sets and dicts."""
        contents = self.state.contents(value)
        plain = not value.roots and not value.kind and all(c.source == Value() and c.owner is None for c in contents)
        if plain and len(contents) == 1 and contents[0].size is not None and contents[0].kind != "dict":
            for i in range(contents[0].size):
                self._appended(owner, contents[0].get(i) or contents[0].rest)
            return
        into_dict = any(content.kind == "dict" for content in self.state.contents(owner))
        for content in contents:
            if content.kind == "dict":
                for key, item in content.fields.items():
                    self.state.change(owner, key,
                                      join(self.state.element(owner, key), item) if len(contents) > 1 else item)
                if content.rest != Value():
                    self.state.change(owner, None, content.rest)
            elif not into_dict:
                self.state.grow(owner, content.every())
        if not plain or (into_dict and any(content.kind != "dict" for content in contents)):
            every = self.iterate(value, node)
            if into_dict:  # pairs
                self.state.change(owner, None, join(every, self.iterate(every, node)))
            else:
                self.state.grow(owner, every)

    def _taken(self, owner: Value, name: str, arguments: Arguments) -> Value:
        key = arguments.positional[0] if arguments.positional else None
        default = arguments.positional[1] if len(arguments.positional) > 1 else arguments.named.get("default")
        if key is not None and key.constant is not None and (name != "pop" or isinstance(key.constant[1], str)):
            value = self.state.element(owner, key.constant[1])
        else:
            value = self.state.elements(owner)
        if name in ("pop", "popleft") and any(content.kind != "dict" for content in self.state.contents(owner)):
            place = key.constant if key is not None else None
            index = 0 if name == "popleft" else place[1] if place is not None and isinstance(place[1], int) else None
            value = self.state.elements(owner) if index is None else self.state.element(owner, index)
            self.removed(owner, index)
        if name == "setdefault" and default is not None:
            self.state.change(owner, key.constant[1] if key is not None and key.constant is not None else None,
                         join(value, default) if value != Value() else default)
        extra = [default] if default is not None else [constant(None)] if name == "get" else []
        return join(value, *extra) if value != Value() else (join(*extra) if extra else UNSEEN)
