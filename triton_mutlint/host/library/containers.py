"""Methods of lists, tuples, dicts, sets and generators; what makes classes with fields, and copies of their objects."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from triton_mutlint.host.torch import table as torch_table
from triton_mutlint.host.torch.calls import TorchCalls
from triton_mutlint.host.values.groups import CONTAINER_METHODS, FIXED_METHODS, KEYS, Arguments, Cell, chosen
from triton_mutlint.host.values.values import (
    NONE,
    PLAIN,
    UNSEEN,
    Attribute,
    ClassValue,
    Sort,
    Value,
    constant,
    join,
    picked,
    thing,
    weakened,
)

# Methods that give nothing of what is in the container.
_LOOKS = frozenset({"index", "count", "issubset", "issuperset", "isdisjoint", "__len__", "__contains__", "__eq__"})
# Methods of lists that ask elements and arguments something, as all those do that no list or deque has.
_ASKS = frozenset({"index", "count", "remove", "sort", "pop", "insert", "rotate"})
_EXTENDS = frozenset({"extend", "update", "__iadd__", "__ior__"})


class Containers(TorchCalls):
    """Calls methods of containers."""

    def container_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        contents = self.state.contents(owner)
        kinds = {content.kind for content in contents}
        if "generator" in kinds:
            return self._generator_method(owner, name, arguments, node)
        if not hasattr(deque, name) or name in _ASKS:
            self.handed([owner, *arguments], node, beside=[self.state.element(owner, KEYS)])
        if name in ("append", "add") and arguments.positional:
            self.appended(owner, arguments.positional[-1])
            return NONE
        if name in _EXTENDS:
            self.updated(owner, arguments, node)
            return owner if name.startswith("__") else NONE
        if name == "__setitem__" and len(arguments.positional) == 2:
            self.put_element(owner, None, *arguments.positional, node)
            return NONE
        if name in ("get", "pop", "setdefault", "__getitem__"):
            return self._taken(owner, name, arguments)
        if name in ("items", "values", "keys"):
            return self._viewed(owner, name, contents, arguments, node)
        if name in _LOOKS or name in CONTAINER_METHODS:
            return self._any_method(owner, name, contents, arguments, node)
        if torch_table.method(name) is not None and kinds <= {"list", "tuple", "dict"}:
            # No container has it: what comes here is a tensor among what may be in it, or nothing.
            held = replace(self.within(owner), cells=frozenset(), things=frozenset(), kind=Sort.TENSOR)
            return self.tensor_method(Attribute(held, name), arguments, node)
        return self.not_known(owner, arguments, node)

    def _any_method(self, owner: Value, name: str, contents: Sequence[Cell], arguments: Arguments,
                    node: ast.AST) -> Value:
        """A method may put its arguments, or what they hold, among the elements, and give these or a copy of them."""
        given = [value for value in arguments if value.cells or value.roots or value.things or value.kind & Sort.TENSOR]
        if name in _LOOKS:
            return PLAIN
        if name == "copy" and len(contents) == 1:
            return self.make(node, contents[0])
        held = join(*given, self.one_of(given), *(self.iterate(value, node) for value in given if not value.things))
        self.keyed_by(arguments, self.state.elements(owner), node)
        if name not in FIXED_METHODS:
            self.state.mix(owner, held)
        every = picked(join(self.iterate(owner, node), self.state.elements(owner), held))
        return join(every, self.make(node, Cell(rest=every), name))

    def keyed_by(self, arguments: Arguments, element: Value, node: ast.AST) -> None:
        """The `key` of a builtin or of `list.sort` is called with elements, whatever it is."""
        key = arguments.named.get("key", PLAIN)
        if self.is_called(key) or key.kind & Sort.OTHER:
            self.handed([self.call(key, Arguments((element,)), node)], node)

    def _viewed(self, owner: Value, name: str, contents: list[Cell], arguments: Arguments, node: ast.AST) -> Value:
        """What gives the elements of a dict whenever it is iterated."""
        again = thing(Attribute(replace(owner, things=frozenset(), kind=Value().kind), name))
        keys = join(PLAIN, *(content.get(KEYS) or Value() for content in contents))
        element = keys if name == "keys" else self.state.elements(owner)
        if name == "items":
            element = self.make(node, Cell({0: keys, 1: element}, size=2, kind="tuple"), "row")
        return self.make(node, Cell(rest=element, source=again))

    def _generator_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """`send`, `throw`, `close`, `__next__`, `__enter__` and `__exit__` run a generator on."""
        if name == "throw":
            self.escape(join(*arguments), "it is raised", node)
        if name in ("__iter__", "__aiter__"):
            return owner
        sent = arguments.positional[0] if name in ("send", "asend") and arguments.positional else NONE
        return join(*(self.stepped(cell, node, sent) for cell in sorted(owner.cells, key=repr)
                      if self.is_generator(cell)))

    def updated(self, owner: Value, arguments: Arguments, node: ast.AST) -> None:
        """`owner.update(…)`, `owner.extend(…)`, and `dict(…)`, which updates an empty one."""
        self.handed(arguments.positional, node)
        for value in arguments.positional:
            self.extended(owner, value, node)
        for name, value in arguments.named.items():
            self.state.change(owner, name, value)
        for rest in (arguments.star, arguments.double_star):
            if rest is not None:
                self.state.change(owner, None, join(rest, self.iterate(rest, node)))

    def extended(self, owner: Value, value: Value, node: ast.AST) -> None:
        """`owner += value`, `owner.extend(value)`, `owner |= value` of lists, sets and dicts; `{**value}`."""
        contents = self.state.contents(value)
        plain = not value.roots and not value.kind & ~Sort.NONE and all(
            c.source == Value() and c.owner is None for c in contents)
        listed = self.state.listed(value)
        if any(content.kind == "dict" for content in self.state.contents(owner)):
            dicts = [content for content in contents if content.kind == "dict"]
            for content in dicts:
                self._taken_in(owner, content, len(contents) == 1 and plain)
            if not plain or len(dicts) < len(contents):
                self.filled(owner, replace(value, cells=frozenset(
                    cell for cell in value.cells if self.state.cell(cell) not in dicts)), node)
        elif plain and listed is not None:
            for element in listed:
                self.appended(owner, element)
        else:
            self.state.grow(owner, self.iterate(value, node))

    def _taken_in(self, owner: Value, content: Cell, sure: bool) -> None:
        """What a dict holds after an update with another, which `sure` says to be the only one that may be meant."""
        for key, item in content.fields.items():
            old = Value() if sure and content.has(key) else self.state.element(owner, key)
            self.state.change(owner, key, join(old, item))
        if content.rest != Value():
            self.state.change(owner, None, content.rest)

    def _taken(self, owner: Value, name: str, arguments: Arguments) -> Value:
        """An element that is asked for; of what `pop` leaves in a list it is not known where it stands."""
        key = arguments.positional[0].constant if arguments.positional else None
        default = arguments.get(1, "default")
        is_list = any(content.kind != "dict" for content in self.state.contents(owner))
        exact = key is not None and not (name == "pop" and is_list)
        value = self.state.element(owner, key[1]) if key is not None and exact else self.state.elements(owner)
        if name == "pop" and is_list:
            self.state.mix(owner)
            value = self.state.elements(owner)
        if name == "setdefault" and default is not None:
            self.state.change(owner, key[1] if key is not None else None, join(value, default))
        if key is not None and all(content.has(key[1]) for content in self.state.contents(owner)):
            if name == "pop" and not is_list:
                self.state.remove(owner, key[1])
            return value
        extra = default if default is not None else constant(None) if name == "get" else Value()
        return join(value, extra) if value != Value() or extra != Value() else UNSEEN

    # ------------------------------------------------------------------ named tuples and dataclasses

    def _handed_on(self, given: list[Value], node: ast.AST) -> Value:
        """What may be any of `given`, or a container of it, or a copy."""
        every = self.one_of(given)
        copied = self.make(node, Cell(rest=every, kind="given"), "given")  # an element, or a container
        return weakened(chosen(join(*given, copied, UNSEEN)))

    def _f_dataclasses_replace(self, arguments: Arguments, node: ast.AST) -> Value:
        """A new object of the class, with some fields replaced."""
        owner = arguments.positional[0] if arguments.positional else UNSEEN
        contents = self.state.contents(owner)
        if len(contents) != 1 or owner.roots:
            return self._handed_on(list(arguments), node)
        content = contents[0]
        for rest in (arguments.star, arguments.double_star):
            content = content if rest is None else content.spread(rest)
        names = self.fields(content.owner) if content.owner is not None else []
        given = dict[object, Value](arguments.named.items())
        given.update((i, arguments.named[name]) for i, name in enumerate(names) if name in arguments.named)
        made = self.make(node, replace(content, fields={**content.fields, **given}, many=False))
        self.special(made, "__post_init__", (), node)
        return made

    def _f_collections_namedtuple(self, arguments: Arguments, node: ast.AST) -> Value:
        """A class with these fields; of defaults that are written out, each."""
        listed = arguments.get(1, "field_names") or UNSEEN
        names: list[object] = [v.constant[1] for v in self.in_order(listed, node) or [] if v.constant is not None]
        if listed.constant is not None and isinstance(listed.constant[1], str):
            names = [*listed.constant[1].replace(",", " ").split()]
        if not names or not all(isinstance(name, str) for name in names) or not isinstance(node, ast.Call):
            return self.not_known(UNSEEN, arguments, node)
        return thing(ClassValue(self.here.module, _row_class(node, tuple(map(str, names)))))


@lru_cache(maxsize=1024)
def _row_class(node: ast.Call, names: tuple[str, ...]) -> ast.ClassDef:
    """The class that a call of `namedtuple` makes."""
    written = next((k.value for k in node.keywords if k.arg == "defaults"), None)
    last = written.elts if isinstance(written, (ast.Tuple, ast.List)) else []
    values: list[ast.expr | None] = [*[None] * (len(names) - len(last)), *last]
    body: list[ast.stmt] = [ast.AnnAssign(ast.Name(name, ast.Store()), ast.Name("object", ast.Load()), value, 1)
                            for name, value in zip(names, values, strict=True)]
    made = ast.ClassDef("namedtuple", [], [], body, [])
    for inner in ast.walk(made):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return made
