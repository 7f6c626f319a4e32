"""Named tuples and dataclasses: what makes their classes, and objects of them with other fields."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache

from triton_mutlint.host.library.builtin_calls import Builtins
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import UNSEEN, ClassValue, Value, join, picked, thing, weakened


class Rows(Builtins):
    """Makes classes with fields, and copies of their objects."""

    def _handed_on(self, given: list[Value], node: ast.AST) -> Value:
        """What may be any of `given`, or a container of it, or a copy."""
        every = self.one_of(given)
        copied = self.make(node, Cell(rest=every, kind="given"), "given")  # an element, or a container
        return weakened(picked(join(*given, copied, UNSEEN)))

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

    def _f_dataclasses_field(self, arguments: Arguments, node: ast.AST) -> Value:
        factory, default = arguments.named.get("default_factory"), arguments.named.get("default")
        made = self.call(factory, Arguments(), node) if factory is not None else Value()
        return join(UNSEEN, made, default or Value())


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
