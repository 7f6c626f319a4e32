"""Calls of Python's standard library: it writes to no tensor, but hands on what it is given, and calls it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.library.builtin_calls import BuiltinsMixin
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import NONE, PLAIN, UNSEEN, Partial, Value, join, picked, thing, weakened

_NOT_UNDERSTOOD = ("ctypes.", "_ctypes.", "mmap.", "multiprocessing.", "pickle.", "gc.", "sys.", "builtins.")
# Modules whose functions give numbers, strings and the like, and keep nothing.
_PLAIN_MODULES = ("math.", "os.", "warnings.", "time.", "logging.", "re.", "string.", "json.", "pprint.")
# Those that neither call nor change what they are given, and those that call it and make something new.
_LOOKS = ("inspect.", "typing.", "types.", "abc.", "dataclasses.", "copy.", "enum.", "weakref.", "contextlib.",
          "numbers.")
_MAKES = ("itertools.", "functools.")
# Decorators that leave a function what it is.
_SAME = frozenset({
    "functools.lru_cache", "functools.cache", "functools.wraps", "functools.update_wrapper",
    "functools.total_ordering", "contextlib.contextmanager", "contextlib.asynccontextmanager",
    "abc.abstractmethod", "typing.final", "typing.no_type_check", "dataclasses.dataclass",
})  # fmt: skip


class StandardMixin(BuiltinsMixin):
    """Calls of the standard library."""

    def standard(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        special: Callable[..., Value] | None = getattr(self, f"_f_{name.replace('.', '_')}", None)
        if special is not None:
            return special(arguments, node)
        module, _, last = name.rpartition(".")
        first = arguments.positional[0] if arguments.positional else None
        if name in _SAME:
            is_given = first is not None and first.things and last != "wraps"
            return first if first is not None and is_given else thing(External("functools.update_wrapper"))
        if module == "operator" and first is not None and hasattr(operator, f"__{last}__"):
            method = self.attribute(first, f"__{last}__", node)
            return self.call(method, replace(arguments, positional=arguments.positional[1:]), node)
        given = [v for v in arguments if v.roots or v.cells or v.things]
        if name.startswith(_NOT_UNDERSTOOD):
            return self.not_known(UNSEEN, arguments, node)
        if name.startswith(_PLAIN_MODULES):
            return PLAIN
        if not given:
            return UNSEEN
        return self._handed_on(given, node) if name.startswith(_LOOKS) else self._may_call(name, arguments, given, node)

    def _may_call(self, name: str, arguments: Arguments, given: list[Value], node: ast.AST) -> Value:
        """A function of which nothing is known but that it does nothing to tensors itself."""
        others = [v for v in given if not v.things]
        every = self._one_of([*others, *(self.iterate(v, node) for v in others)])
        results = [self.call(v, Arguments((), {}, every), node) for v in given if v.things]
        if name.startswith(_MAKES):
            made = self.make(node, Cell(rest=picked(join(every, *results)), kind="given"), "given")
            self.lazily(made, name, arguments)
            return join(made, *results)
        for value in others:  # `heapq.heappush(heap, x)`, `random.shuffle(items)`
            self.state.mix(value, join(*(v for v in (*others, *results) if v is not value), Value()))
        return join(self._handed_on(given, node), *results)

    def _handed_on(self, given: list[Value], node: ast.AST) -> Value:
        """What may be any of `given`, or a container of it, or a copy."""
        every = self._one_of(given)
        copied = self.make(node, Cell(rest=every, kind="given"), "given")  # an element, or a container
        return weakened(picked(join(*given, copied, UNSEEN)))

    def _one_of(self, values: list[Value]) -> Value:
        """Anything that `values` are or hold, and it is not known which."""
        every = join(UNSEEN, *map(self.within, values))
        objects = frozenset(c for c in every.cells if (content := self.state.cell(c)) is not None and content.owner)
        return picked(replace(every, cells=objects))

    # ------------------------------------------------------------------ single functions

    def _f_functools_partial(self, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional or arguments.star is not None or arguments.double_star is not None:
            function = arguments.positional[0] if arguments.positional else UNSEEN
            rest = join(*(v for v in arguments if v is not function), UNSEEN)
            return join(thing(Partial(function, tuple([rest] * len(arguments.positional[1:])), ())), rest)
        first, *others = arguments.positional
        return thing(Partial(first, tuple(others), tuple(sorted(arguments.named.items()))))

    def _f_functools_singledispatch(self, arguments: Arguments, node: ast.AST) -> Value:
        return join(UNSEEN, *arguments)

    def _f_types_SimpleNamespace(self, arguments: Arguments, node: ast.AST) -> Value:  # noqa: N802 - its name
        content = Cell(dict(arguments.named), kind="object")
        for rest in (*arguments.positional, arguments.double_star):
            if rest is not None:
                content = content.spread(join(rest, self.state.elements(rest)))
        return self.make(node, content)

    def _f_types_MethodType(self, arguments: Arguments, node: ast.AST) -> Value:  # noqa: N802 - its name
        return thing(Partial(arguments.positional[0], arguments.positional[1:], ())) if arguments.positional else UNSEEN

    def _f_collections_deque(self, arguments: Arguments, node: ast.AST) -> Value:
        return self.builtin("list", arguments, node)

    def _f_collections_OrderedDict(self, arguments: Arguments, node: ast.AST) -> Value:  # noqa: N802 - its name
        return self.builtin("dict", arguments, node)

    def _f_collections_defaultdict(self, arguments: Arguments, node: ast.AST) -> Value:
        factory, *others = arguments.positional or (NONE,)
        made = self.builtin("dict", replace(arguments, positional=tuple(others)), node)
        if factory.things:
            self.state.change(made, None, self.call(factory, Arguments(), node))
        return made

    def _f_copy_copy(self, arguments: Arguments, node: ast.AST) -> Value:
        contents = self.state.contents(join(*arguments))
        return self.make(node, contents[0]) if len(contents) == 1 else self._handed_on(list(arguments), node)

    def _f_copy_deepcopy(self, arguments: Arguments, node: ast.AST) -> Value:
        every = join(*(self.within(v) for v in arguments))
        fresh = replace(every, same=frozenset(), maybe=frozenset(), cells=frozenset(), constant=None)
        return join(fresh, self.make(node, Cell(rest=fresh, kind="given")))

    def _f_dataclasses_replace(self, arguments: Arguments, node: ast.AST) -> Value:
        """A new object of the class, with some fields replaced."""
        owner = arguments.positional[0] if arguments.positional else UNSEEN
        contents = self.state.contents(owner)
        if len(contents) != 1 or owner.roots:
            return self._handed_on(list(arguments), node)
        content = contents[0]
        for rest in (arguments.star, arguments.double_star):
            content = content if rest is None else content.spread(rest)
        made = self.make(node, replace(content, fields={**content.fields, **arguments.named}, many=False))
        self.state.change(made, 0, self.state.elements(made))
        self.special(made, "__post_init__", (), node)
        return made

    def _f_dataclasses_field(self, arguments: Arguments, node: ast.AST) -> Value:
        factory, default = arguments.named.get("default_factory"), arguments.named.get("default")
        made = self.call(factory, Arguments(), node) if factory is not None else Value()
        return join(UNSEEN, made, default or Value())
