"""Calls of Python's builtins."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.library.containers import ContainersMixin
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell, sequence
from triton_mutlint.host.values.values import (
    NONE,
    NOTHING,
    PLAIN,
    UNSEEN,
    Attribute,
    ClassValue,
    Partial,
    ScopeId,
    Sort,
    Value,
    constant,
    is_plain,
    join,
    thing,
)

# What gives one of what it is given, or a container of it.
_ELEMENTS = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "aiter"})
_EITHER = frozenset({"min", "max", "next", "anext"})
# What is made when it is iterated, not when it is called.
_LAZY = frozenset({"map", "filter", "zip", "enumerate", "reversed", "iter"})
# What gives something plain, and neither keeps nor changes what it is given.
_PLAIN = frozenset({
    "print", "len", "isinstance", "issubclass", "id", "hash", "repr", "str", "int", "float", "bool", "complex", "range",
    "abs", "round", "divmod", "pow", "any", "all", "ord", "chr", "hex", "oct", "bin", "callable", "hasattr", "ascii",
    "format", "bytes", "input", "open", "slice", "delattr", "dir", "breakpoint",
})  # fmt: skip
# The methods of an object that a builtin calls.
_CALLS = {
    "len": "__len__", "str": "__str__", "repr": "__repr__", "hash": "__hash__", "int": "__int__", "float": "__float__",
    "bool": "__bool__", "abs": "__abs__", "round": "__round__", "format": "__format__", "print": "__str__",
    "reversed": "__reversed__", "dir": "__dir__", "bytes": "__bytes__", "divmod": "__divmod__", "pow": "__pow__",
    "isinstance": "__instancecheck__", "complex": "__complex__", "range": "__index__", "sum": "__add__",
}  # fmt: skip
_ALSO = {"__str__": ("__str__", "__repr__"), "__bool__": ("__bool__", "__len__")}


class BuiltinsMixin(ContainersMixin):
    """Calls of builtins."""

    def builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        made = self._builtin(name, arguments, node)
        if name in _LAZY and made.cells:
            self.lazily(made, f"builtins.{name}", arguments)
        return made

    def lazily(self, made: Value, name: str, arguments: Arguments) -> None:
        """What iterates `made` calls the function again: what it was given may have changed."""
        if not any(v.cells or v.things for v in arguments):
            return
        named = tuple(arguments.named.items())
        source = thing(Partial(thing(External(name)), arguments.positional, named, arguments.star))
        for cell in made.cells:
            content = self.state.cell(cell)
            if content is not None:
                self.state.store(cell, replace(content, source=join(content.source, source)))

    def _builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        special: Callable[..., Value] | None = getattr(self, f"_b_{name.replace('.', '_')}", None)
        if special is not None:
            return special(arguments, node)
        self._special_methods(name, arguments, node)
        first = arguments.positional[0] if arguments.positional else arguments.star
        if name in _ELEMENTS and first is not None:
            return self._elements(name, first, arguments, node)
        if name in ("list", "tuple", "set", "frozenset") and not tuple(arguments):
            return self.make(node, Cell(kind="tuple" if name == "tuple" else "list", size=0))
        if name in _EITHER and first is not None:
            return self._either(name, first, arguments, node)
        owner, _, method = name.partition(".")
        if method and first is not None and owner in ("list", "dict", "set", "tuple", "object", "type"):
            bound = thing(Attribute(first, method))
            return self.call(bound, replace(arguments, positional=arguments.positional[1:]), node)
        if _is_exception(name):
            given = self.make(node, Cell(dict(enumerate(arguments.positional)), kind="tuple"), "args")
            return self.make(node, Cell({"args": given}, join(*arguments), kind="object"))
        if name in _PLAIN or (method and owner in ("str", "int", "float", "bytes")):
            for value in arguments:
                if value.cells:
                    self.iterate(value, node)
            carried = (self.within(value).carried for value in arguments)
            return replace(PLAIN, carried=NOTHING.union(*carried))
        if name in ("exec", "eval", "vars", "locals", "globals", "__import__", "compile"):
            return self._sees_all(arguments, node)
        return self.not_known(UNSEEN, arguments, node)

    def _sees_all(self, arguments: Arguments, node: ast.AST) -> Value:
        """Code that can reach every name of the function that it is called in, and of those around it."""
        names: list[Value] = []
        scope: ScopeId | None = self.here.scope
        while scope is not None:
            names.extend(self.state.names.get(scope, {}).values())
            scope = self.scopes.get(scope)
        return self.not_known(UNSEEN, Arguments((*arguments, *names)), node)

    def _special_methods(self, name: str, arguments: Arguments, node: ast.AST) -> None:
        method = _CALLS.get(name)
        if method is not None:
            for value in arguments:
                held = join(value, self.state.elements(value)) if value.cells and name in ("print", "str",
                                                                                           "sum") else value
                if held.cells:
                    self.special(held, _ALSO.get(method, (method,)), (UNSEEN,), node)

    def _elements(self, name: str, first: Value, arguments: Arguments, node: ast.AST) -> Value:
        contents = self.state.contents(first)
        key = arguments.named.get("key")
        if name in ("list", "tuple") and len(contents) == 1 and not first.roots and not first.kind:
            content = contents[0]
            if content.kind in ("list", "tuple") and content.owner is None and content.source == Value():
                return self.make(node, replace(content, kind=name))
        if name == "iter" and len(arguments.positional) == 2:
            element = self.call(first, Arguments(), node)
        else:
            element = self.iterate(first, node)
        if key is not None and key.things:
            self.call(key, Arguments((element,)), node)
        kind = "tuple" if name == "tuple" else "list"
        return self.make(node, Cell(rest=element, kind=kind))

    def _either(self, name: str, first: Value, arguments: Arguments, node: ast.AST) -> Value:
        several = len(arguments.positional) > 1 or arguments.star is not None
        if name in ("next", "anext") or not several:
            found = [self.iterate(first, node), *arguments.positional[1:]]
        else:
            found = [*arguments.positional, arguments.star or Value()]
        element = join(*found)
        key = arguments.named.get("key")
        if key is not None and key.things:
            self.call(key, Arguments((element,)), node)
        return join(element, arguments.named.get("default") or Value())

    # ------------------------------------------------------------------ one by one

    def _b_dict(self, arguments: Arguments, node: ast.AST) -> Value:
        content = Cell(kind="dict")
        for value in arguments.positional:
            for other in self.state.contents(value):
                fields = other.fields if other.kind == "dict" else {}
                rest = other.rest if other.kind == "dict" else self.iterate(other.every(), node)
                content = replace(content, fields={**content.fields, **fields}, rest=join(content.rest, rest))
            if value.roots or value.kind:
                content = content.spread(self.iterate(value, node))
        content = replace(content, fields={**content.fields, **arguments.named})
        if arguments.double_star is not None:
            content = content.spread(arguments.double_star)
        return self.make(node, content)

    def _b_zip(self, arguments: Arguments, node: ast.AST) -> Value:
        parts = [self.iterate(value, node) for value in arguments.positional]
        content = Cell(dict(enumerate(parts)), arguments.star or Value(), kind="tuple")
        if arguments.star is not None:
            content = replace(content, rest=self.iterate(arguments.star, node))
        content = replace(content, size=len(parts) if arguments.star is None else None)
        return self.make(node, Cell(rest=self.make(node, content, "row")))

    def _b_enumerate(self, arguments: Arguments, node: ast.AST) -> Value:
        source = arguments.get(0, "iterable")
        element = self.iterate(source, node) if source is not None else UNSEEN
        row = self.make(node, Cell({0: PLAIN, 1: element}, size=2, kind="tuple"), "row")
        return self.make(node, Cell(rest=row))

    def _b_map(self, arguments: Arguments, node: ast.AST) -> Value:
        function, *sources = arguments.positional or (UNSEEN,)
        contents = [content for source in sources for content in self.state.contents(source)]
        rows = [content.listed() for content in contents if content.source == Value()]
        if len(rows) == len(sources) > 1 and all(row is not None for row in rows) and not any(s.roots for s in sources):
            found = [self.call(function, Arguments(row), node) for row in zip(*rows, strict=False)]
            return self.make(node, sequence(found, "list"), "map")
        given = tuple(self.iterate(source, node) for source in sources)
        star = self.iterate(arguments.star, node) if arguments.star is not None else None
        result = self.call(function, Arguments(given, {}, star), node)
        return self.make(node, Cell(rest=result), "map")

    def _b_filter(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) != 2:
            return self.not_known(UNSEEN, arguments, node)
        function, source = arguments.positional
        element = self.iterate(source, node)
        if function.things or function.cells:
            self.call(function, Arguments((element,)), node)
        return self.make(node, Cell(rest=element))

    def _b_sum(self, arguments: Arguments, node: ast.AST) -> Value:
        self._special_methods("sum", arguments, node)
        first, *start = arguments.positional or (UNSEEN,)
        start = [*start, *(v for k, v in arguments.named.items() if k == "start")]
        element = self.iterate(first, node)
        if element.cells or any(v.cells for v in start):  # of lists: their elements in one
            held = [self.iterate(v, node) for v in (element, *start) if v.cells]
            return self.make(node, Cell(rest=join(*held)))
        tensor = bool(element.roots or element.kind & Sort.TENSOR)
        return replace(PLAIN, carried=element.carried, kind=Sort.PLAIN | (Sort.TENSOR if tensor else Sort.PLAIN))

    def _b_type(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) != 1:
            return self.not_known(UNSEEN, arguments, node)
        found: list[Value] = []
        value = arguments.positional[0]
        for content in self.state.contents(value):
            found.append(thing(content.owner) if content.owner is not None else UNSEEN)
        if value.roots or value.kind & Sort.TENSOR:
            found.append(thing(External("torch.Tensor")))
        found.extend(thing(t) for t in value.things if isinstance(t, ClassValue))
        return join(*found) if found else PLAIN if is_plain(value) else UNSEEN

    def _b_isinstance(self, arguments: Arguments, node: ast.AST) -> Value:
        self._special_methods("isinstance", arguments, node)
        if len(arguments.positional) != 2:
            return PLAIN
        value, classes = arguments.positional
        if self.is_given(value) and classes.things == {External("torch.Tensor")}:
            return constant(True)
        return constant(False) if self.never(value, classes) else PLAIN

    def _b_object(self, arguments: Arguments, node: ast.AST) -> Value:
        return self.make(node, Cell(kind="object"))

    def _b_dict_fromkeys(self, arguments: Arguments, node: ast.AST) -> Value:
        keys, *values = arguments.positional or (UNSEEN,)
        made = self.make(node, Cell(rest=join(NONE, *values), kind="dict"))
        self.key(made, self.iterate(keys, node))
        return made

    def _b_locals(self, arguments: Arguments, node: ast.AST) -> Value:
        return self.make(node, Cell(dict(self.state.names.get(self.here.scope, {})), kind="dict"))

    def _b_vars(self, arguments: Arguments, node: ast.AST) -> Value:
        if arguments.positional and arguments.positional[0].cells:
            return thing(Attribute(arguments.positional[0], "__dict__"))
        return self._sees_all(arguments, node)

    def _b_getattr(self, arguments: Arguments, node: ast.AST) -> Value:
        owner, name, *default = (*arguments.positional, UNSEEN, UNSEEN)[: max(2, len(arguments.positional))]
        if name.constant is not None and isinstance(name.constant[1], str):
            return join(self.attribute(owner, name.constant[1], node), *default)
        held = self.state.elements(owner) if owner.cells else Value()
        same, maybe = self.state.reach([owner])
        return join(replace(UNSEEN, unsure=same | maybe), held, *default)

    def _b_setattr(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) != 3:
            return self.not_known(UNSEEN, arguments, node)
        owner, name, value = arguments.positional
        if name.constant is not None and isinstance(name.constant[1], str):
            self.put_attribute(owner, name.constant[1], value, node)
            return NONE
        self.special(owner, "__setattr__", (name, value), node)
        if owner.cells:
            self.state.change(owner, None, value)
        if owner.roots or not owner.cells:  # the name may be "data"
            self.not_known(owner, Arguments((value,)), node)
        return NONE

    def _b_property(self, arguments: Arguments, node: ast.AST) -> Value:
        named = tuple(sorted(arguments.named.items()))
        return thing(Partial(thing(External("builtins.property")), arguments.positional, named))

    def _b_staticmethod(self, arguments: Arguments, node: ast.AST) -> Value:
        return thing(Partial(thing(External("builtins.staticmethod")), arguments.positional, ()))

    def _b_classmethod(self, arguments: Arguments, node: ast.AST) -> Value:
        return thing(Partial(thing(External("builtins.classmethod")), arguments.positional, ()))

    def _b_object___new__(self, arguments: Arguments, node: ast.AST) -> Value:
        owners = [t for v in arguments.positional[:1] for t in v.things if isinstance(t, ClassValue)]
        if not owners:
            return UNSEEN
        return self.make(node, Cell(owner=owners[0] if len(owners) == 1 else None, kind="object"), "new")

    def _b_object___setattr__(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) == 3 and arguments.positional[0].cells:
            owner, name, value = arguments.positional
            self.state.change(owner, name.constant[1] if name.constant is not None else None, value)
            return NONE
        return self.not_known(UNSEEN, arguments, node)


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)
