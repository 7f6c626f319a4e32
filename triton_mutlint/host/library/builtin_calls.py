"""Calls of Python's builtins."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.classes.outside import written_out
from triton_mutlint.host.expressions.loops import MOST
from triton_mutlint.host.library.containers import Containers
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.groups import Arguments, Cell, chosen, sequence
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
    picked,
    thing,
)

# What gives one of what it is given, or a container of it.
_ELEMENTS = frozenset({"list", "tuple", "set", "frozenset", "aiter"})
_EITHER = frozenset({"min", "max"})
# What can reach every name of the function that it is called in.
_SEES_ALL = frozenset({"exec", "eval", "vars", "locals", "globals", "__import__", "compile"})
_PURE = frozenset({"min", "max", "abs", "int", "float", "str", "round", "len", "sorted"})
_SHORT, _LONG = (str, int, float, bool, type(None)), 256  # constants that functions run on, and how long these are
# What gives something plain, and neither keeps nor changes what it is given.
_PLAIN = frozenset({
    "abs", "all", "any", "ascii", "bin", "breakpoint", "bytes", "callable", "chr", "complex", "dir", "divmod", "exit",
    "float", "format", "hash", "hex", "id", "input", "int", "issubclass", "oct", "open", "ord", "pow", "quit", "repr",
    "round", "slice", "str",
})  # fmt: skip


class Builtins(Containers):
    """Calls of builtins."""

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

    def _in_python(self, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
        """What a part of the library gives that is followed as code of the project is."""
        found = written_out(External(name))
        return None if isinstance(found, External) else self.call(thing(found), arguments, node)

    def builtin(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        special: Callable[..., Value] | None = getattr(self, f"_b_{name.replace('.', '_')}", None)
        if special is not None:
            return special(arguments, node)
        if name in _PURE and (made := self.on_constants(getattr(builtins, name), arguments, node)) is not None:
            return made
        followed = self._in_python(f"builtins.{name}", arguments, node)
        if followed is not None:
            return followed
        self.handed(arguments, node)
        first = arguments.get(0)
        owner, _, method = name.partition(".")
        if method and first is not None and owner in ("list", "dict", "set", "tuple", "object", "type"):
            bound = thing(Attribute(first, method))
            return self.call(bound, replace(arguments, positional=arguments.positional[1:]), node)
        if name in _ELEMENTS:
            return self._elements(name, first, arguments, node)
        if name in _EITHER and first is not None:
            return self._either(name, first, arguments, node)
        found = getattr(builtins, owner, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            given = self.make(node, Cell(dict(enumerate(arguments.positional)), kind="tuple"), "args")
            return self.make(node, Cell({"args": given}, join(*arguments), kind="object"))
        if name in _SEES_ALL:
            return self._sees_all(arguments, node)
        if name not in _PLAIN:
            return self.not_known(UNSEEN, arguments, node)
        for value in arguments:
            if value.cells:
                self.iterate(value, node)
        return replace(PLAIN, carried=NOTHING.union(*(self.within(value).carried for value in arguments)))

    def on_constants(self, function: Callable[..., object] | None, arguments: Arguments, node: ast.AST) -> Value | None:
        """What a function of Python that changes nothing gives for constants and tuples of them, if that is short."""
        given: list[object] = []
        for one in arguments:
            listed = None if one.constant is not None or one.kind or one.things else self.state.listed(one)
            told = tuple(part.constant[1] if part.constant is not None else self for part in listed or (one,))
            if any(type(part) not in _SHORT or len(str(part)) > _LONG for part in told):
                return None
            given.append(told[0] if listed is None else told)
        if function is None or len(given) > len(arguments.positional):
            return None
        try:
            made = function(*given)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return None
        if isinstance(made, (list, tuple)):
            return self.make(node, sequence(map(constant, made), type(made).__name__))
        return constant(made) if type(made) in _SHORT else None

    def _sees_all(self, arguments: Arguments, node: ast.AST) -> Value:
        names: list[Value] = []
        scope: ScopeId | None = self.here.scope
        while scope is not None:
            names.extend(self.state.names.get(scope, {}).values())
            scope = self.scopes.get(scope)
        return self.not_known(UNSEEN, Arguments((*arguments, *names)), node)

    def _elements(self, name: str, first: Value | None, arguments: Arguments, node: ast.AST) -> Value:
        kind = "tuple" if name == "tuple" else "list"
        if first is None:
            return self.make(node, Cell(kind=kind, size=0))
        contents = self.state.contents(first)
        if name in ("list", "tuple") and len(contents) == 1 and not first.roots and not first.kind:
            content = contents[0]
            if content.kind in ("list", "tuple") and content.owner is None and content.source == Value():
                return self.make(node, replace(content, kind=name))
            return self.gathered(first, node, name)
        element = self.iterate(first, node)
        self.keyed_by(arguments, element, node)
        return self.make(node, Cell(rest=element, kind=kind))

    def _either(self, name: str, first: Value, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) == 1 and arguments.star is None:
            element = self.iterate(first, node)
        else:
            element = join(*arguments.positional, arguments.star or Value())
        self.keyed_by(arguments, element, node)
        return join(chosen(element), arguments.named.get("default") or Value())

    # ------------------------------------------------------------------ one by one

    def _b_dict(self, arguments: Arguments, node: ast.AST) -> Value:
        made = self.make(node, Cell(kind="dict", size=0))
        self.updated(made, arguments, node)
        return made

    def _b_zip(self, arguments: Arguments, node: ast.AST) -> Value:
        source = Partial(thing(External("builtins.zip")), arguments.positional, (), arguments.star)
        return self.make(node, Cell(kind="generator", source=thing(source)), "zip")

    def _b_reversed(self, arguments: Arguments, node: ast.AST) -> Value:
        given = arguments.get(0) or UNSEEN
        got = self.special(given, "__reversed__", (), node)
        return got if got is not None else self._in_python("builtins.backwards", arguments, node) or UNSEEN

    def _b_len(self, arguments: Arguments, node: ast.AST) -> Value:
        self.handed(arguments, node)
        listed = self.in_order(arguments.get(0) or UNSEEN, node)
        return PLAIN if listed is None else constant(len(listed))

    def _b_hasattr(self, arguments: Arguments, node: ast.AST) -> Value:
        self._b_getattr(arguments, node)
        return PLAIN

    def _b_delattr(self, arguments: Arguments, node: ast.AST) -> Value:
        owner, name = (*arguments.positional, UNSEEN, UNSEEN)[:2]
        self.delete_attribute(owner, str((name.constant or ("", ""))[1]), node)
        return NONE

    def _b_range(self, arguments: Arguments, node: ast.AST) -> Value:
        self.handed(arguments, node)
        known = [value.constant[1] for value in arguments.positional if value.constant is not None]
        bounds = [bound for bound in known if isinstance(bound, int)]
        if arguments.star is None and len(bounds) == len(arguments.positional) and bounds and 0 not in bounds[2:]:
            numbers = range(*bounds)
            if len(numbers) <= MOST:
                return self.make(node, sequence(map(constant, numbers)))
        return self.make(node, Cell(rest=PLAIN, kind="tuple"))

    def _b_iter(self, arguments: Arguments, node: ast.AST) -> Value:
        """An iterator that `next` takes from."""
        source = arguments.get(0) or UNSEEN
        if len(arguments.positional) == 2:
            return self.make(node, Cell(rest=self.call(source, Arguments(), node)))
        iterator = self.special(source, ("__iter__", "__aiter__"), (), node)
        if iterator is not None and len(source.cells) == 1:
            return iterator
        if source.cells and all(self.is_generator(cell) for cell in source.cells):
            return source
        return self._in_python("builtins.elements", arguments, node) or UNSEEN

    def _b_next(self, arguments: Arguments, node: ast.AST) -> Value:
        source, *default = arguments.positional or (UNSEEN,)
        generators = [cell for cell in sorted(source.cells, key=repr) if self.is_generator(cell)]
        got = [self.stepped(cell, node) for cell in generators]
        rest = replace(source, cells=source.cells - frozenset(generators))
        stepped = self.special(rest, ("__next__", "__anext__"), (), node)
        if stepped is not None:
            return join(*got, stepped, *default)
        return join(*got, picked(self.iterate(rest, node)), *default) if rest.cells or not got else join(*got, *default)

    _b_anext = _b_next

    def _b_vars(self, arguments: Arguments, node: ast.AST) -> Value:
        owner = arguments.get(0)
        return self._sees_all(arguments, node) if owner is None else self.attribute(owner, "__dict__", node)

    def _b_globals(self, arguments: Arguments, node: ast.AST) -> Value:
        return thing(Attribute(thing(self.here.module), "__dict__"))

    def _b_type(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) != 1:
            return self.not_known(UNSEEN, arguments, node)
        value = arguments.positional[0]
        found = [self.attribute(value, "__class__", node)] if value.cells or value.roots else []
        found.extend(thing(t) for t in value.things if isinstance(t, ClassValue))
        return join(*found) if found else PLAIN if is_plain(value) else UNSEEN

    def _b_bool(self, arguments: Arguments, node: ast.AST) -> Value:
        certain = self.tested(arguments.get(0) or NONE, node)
        return PLAIN if certain is None else constant(certain)

    def _b_isinstance(self, arguments: Arguments, node: ast.AST) -> Value:
        value, classes = (*arguments.positional, UNSEEN, UNSEEN)[:2]
        self.handed([classes], node, beside=[value])
        if value.some and value.kind == Sort.TENSOR and not value.cells and not value.things:
            names = self.listed_classes(classes)
            if names is not None and all(name.startswith("builtins.") for name in names):
                return constant(False)
            if classes.things == {External("torch.Tensor")} and not classes.cells:
                return constant(True)
        return constant(False) if self.never(value, classes) else PLAIN

    def _b_object(self, arguments: Arguments, node: ast.AST) -> Value:
        return self.make(node, Cell(kind="object"))

    def _b_getattr(self, arguments: Arguments, node: ast.AST) -> Value:
        owner, name, *default = (*arguments.positional, UNSEEN, UNSEEN)[: max(2, len(arguments.positional))]
        if name.constant is not None and isinstance(name.constant[1], str):
            return join(self.attribute(owner, name.constant[1], node), *default)
        same, maybe = self.state.reach([owner])
        return join(replace(UNSEEN, unsure=same | maybe), picked(self.state.elements(owner)), *default)

    def _b_setattr(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) != 3:
            return self.not_known(UNSEEN, arguments, node)
        owner, name, value = arguments.positional
        if name.constant is not None and isinstance(name.constant[1], str):
            self.put_attribute(owner, name.constant[1], value, node)
            return NONE
        self.special(owner, "__setattr__", (name, value), node)
        self.state.change(owner, None, value)
        if owner.roots or not owner.cells:  # the name may be "data"
            self.not_known(owner, Arguments((value,)), node)
        return NONE
