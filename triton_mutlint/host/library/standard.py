"""Calls of Python's standard library: it writes to no tensor, but hands on what it is given, and calls it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.library.iterators import ITERATORS, IteratorsMixin
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import (
    NONE,
    PLAIN,
    UNSEEN,
    ClassValue,
    Partial,
    Value,
    join,
    thing,
    weakened,
)

_IN_PLACE = re.compile(
    r"operator\.(?:setitem|delitem|i(?:add|and|concat|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|xor))"
)
_PICKLED = ("__reduce_ex__", "__reduce__", "__getstate__")
_NOT_UNDERSTOOD = ("ctypes.", "_ctypes.", "mmap.", "multiprocessing.", "pickle.", "gc.", "sys.", "builtins.")
# Modules whose functions give numbers, strings and the like, and keep nothing.
_PLAIN_MODULES = ("math.", "os.", "warnings.", "time.", "logging.", "re.", "string.", "json.", "pprint.")
# Those that neither call nor change what they are given.
_LOOKS = ("inspect.", "typing.", "types.", "abc.", "dataclasses.", "copy.", "enum.", "weakref.", "contextlib.",
          "numbers.")
# Decorators that leave a function what it is.
_SAME = frozenset({
    "functools.lru_cache", "functools.cache", "contextlib.contextmanager", "contextlib.asynccontextmanager",
    "abc.abstractmethod", "typing.final", "typing.no_type_check", "dataclasses.dataclass", "functools.total_ordering",
})  # fmt: skip


class StandardMixin(IteratorsMixin):
    """Calls of the standard library."""

    def standard(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        special: Callable[..., Value] | None = getattr(self, f"_f_{name.replace('.', '_')}", None)
        if special is not None:
            return special(arguments, node)
        first = arguments.positional[0] if arguments.positional else None
        if name in _SAME:
            return first if first is not None and first.things else thing(External("functools.update_wrapper"))
        if first is not None and _IN_PLACE.fullmatch(name):
            return self._in_place(name, arguments, node)
        given = [v for v in arguments if v.roots or v.cells or v.things]
        if name in ("pickle.dump", "pickle.dumps") and first is not None:
            self.special(self.within(first), _PICKLED, (UNSEEN,), node)
            return UNSEEN
        if name.startswith(_NOT_UNDERSTOOD):
            return self.not_known(UNSEEN, arguments, node)
        if not given or name.startswith(_PLAIN_MODULES):
            return PLAIN if name.startswith(_PLAIN_MODULES) else UNSEEN
        if name in ITERATORS:
            return self.iterator(name, arguments, node)
        if name.startswith(_LOOKS):
            return self._handed_on(given, node)
        return self._may_call(arguments, given, node)

    def _may_call(self, arguments: Arguments, given: list[Value], node: ast.AST) -> Value:
        """A function of which nothing is known but that it does nothing to tensors itself."""
        callables = [v for v in given if v.things]
        others = [v for v in given if not v.things]
        every = [self.within(v) for v in others]
        results = [self.call(v, Arguments((), {}, join(UNSEEN, *every)), node) for v in callables]
        for value in others:  # `heapq.heappush(heap, x)`, `random.shuffle(items)`
            if value.cells:
                self.state.mix(value)
                self.state.grow(value, join(*(v for v in (*others, *results) if v is not value), Value()))
        return join(self._handed_on(given, node), *results)

    def _handed_on(self, given: list[Value], node: ast.AST) -> Value:
        """What may be any of `given`, or a container of it, or a copy."""
        every = join(*(self.within(v) for v in given))
        copied = self.make(node, Cell(rest=every, kind="given"), "given")  # an element, or a container
        return weakened(join(*given, copied, UNSEEN))

    def _in_place(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        first, *others = arguments.positional
        self.effects.write(first, self.effect(f"`{name}`", node))
        if first.cells and name in ("operator.setitem", "operator.delitem") and len(others) > 1:
            self.put_element(first, None, others[0], others[1], node)
        elif first.cells:
            self.state.mix(first)
            self.extended(first, join(*others), node)
        return first

    # ------------------------------------------------------------------ single functions

    def _f_functools_partial(self, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional or arguments.star is not None or arguments.double_star is not None:
            function = arguments.positional[0] if arguments.positional else UNSEEN
            rest = join(*(v for v in arguments if v is not function), UNSEEN)
            return join(thing(Partial(function, tuple([rest] * len(arguments.positional[1:])), ())), rest)
        first, *others = arguments.positional
        return thing(Partial(first, tuple(others), tuple(sorted(arguments.named.items()))))

    def _f_functools_wraps(self, arguments: Arguments, node: ast.AST) -> Value:
        return thing(External("functools.update_wrapper"))

    def _f_functools_update_wrapper(self, arguments: Arguments, node: ast.AST) -> Value:
        return arguments.positional[0] if arguments.positional else UNSEEN

    def _f_functools_singledispatch(self, arguments: Arguments, node: ast.AST) -> Value:
        return join(UNSEEN, *arguments)

    def _f_functools_reduce(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) < 2:
            return self._may_call(arguments, list(arguments), node)
        function, items, *initial = arguments.positional
        contents = self.state.contents(items)
        listed = contents[0].listed() if len(contents) == 1 and not items.roots else None
        if listed is not None and 0 < len(listed) < 12:
            so_far, *others = [*initial, *listed]
            for element in others:
                so_far = self.call(function, Arguments((so_far, element)), node)
            return so_far
        element = self.iterate(items, node)
        so_far = join(element, *initial)
        for _ in range(3):
            result = self.call(function, Arguments((so_far, element)), node)
            if join(so_far, result) == so_far:
                break
            so_far = join(so_far, result)
        else:
            return self.not_known(UNSEEN, arguments, node)
        return so_far

    def _f_types_SimpleNamespace(self, arguments: Arguments, node: ast.AST,  # noqa: N802 - its name
                                 ) -> Value:
        content = Cell(dict(arguments.named), kind="object")
        for rest in (*arguments.positional, arguments.double_star):
            if rest is not None:
                content = content.spread(join(rest, self.state.elements(rest)))
        return self.make(node, content)

    def _f_types_MethodType(self, arguments: Arguments, node: ast.AST,  # noqa: N802 - its name
                            ) -> Value:
        return thing(Partial(arguments.positional[0], arguments.positional[1:], ())) if arguments.positional else UNSEEN

    def _f_collections_deque(self, arguments: Arguments, node: ast.AST) -> Value:
        if len(arguments.positional) == 1 and not arguments.named:
            return self.builtin("list", arguments, node)
        elements = [self.iterate(value, node) for value in arguments.positional[:1]]
        return self.make(node, Cell(rest=join(Value(), *elements)))

    def _f_collections_OrderedDict(self, arguments: Arguments, node: ast.AST,  # noqa: N802 - its name
                                   ) -> Value:
        return self.builtin("dict", arguments, node)

    def _f_collections_defaultdict(self, arguments: Arguments, node: ast.AST) -> Value:
        factory, *others = arguments.positional or (NONE,)
        made = self.builtin("dict", replace(arguments, positional=tuple(others)), node)
        if factory.things:
            self.state.change(made, None, self.call(factory, Arguments(), node))
        return made

    def _f_copy_copy(self, arguments: Arguments, node: ast.AST) -> Value:
        every = join(*arguments)
        contents = self.state.contents(every)
        if len(contents) != 1 or every.roots or every.things:
            return self._handed_on(list(arguments), node)
        return self.make(node, contents[0])

    def _f_copy_deepcopy(self, arguments: Arguments, node: ast.AST) -> Value:
        every = join(*(self.within(v) for v in arguments))
        fresh = replace(every, same=frozenset(), maybe=frozenset(), cells=frozenset(), constant=None)
        if not any(v.cells for v in arguments):
            return fresh
        return join(fresh, self.make(node, Cell(rest=fresh, owner=self._one_class(arguments))))

    def _one_class(self, arguments: Arguments) -> ClassValue | None:
        owners = {content.owner for value in arguments for content in self.state.contents(value)}
        return owners.pop() if len(owners) == 1 else None

    def _f_dataclasses_replace(self, arguments: Arguments, node: ast.AST) -> Value:
        """A new object of the class, with some fields replaced."""
        owner = arguments.positional[0] if arguments.positional else UNSEEN
        contents = self.state.contents(owner)
        if len(contents) != 1 or owner.roots:
            return self._may_call(arguments, list(arguments), node)
        content = contents[0]
        for rest in (arguments.star, arguments.double_star):
            content = content if rest is None else content.spread(rest)
        made = self.make(node, replace(content, fields={**content.fields, **arguments.named}, many=False))
        self.state.change(made, 0, self.state.elements(made))
        self.special(made, "__post_init__", (), node)
        return made

    def _f_operator_getitem(self, arguments: Arguments, node: ast.AST) -> Value:
        return join(*(self.iterate(v, node) for v in arguments.positional[:1]),
                    self.state.elements(join(*arguments.positional[:1])))

    def _f_operator_call(self, arguments: Arguments, node: ast.AST) -> Value:
        first, *others = arguments.positional or (UNSEEN,)
        return self.call(first, replace(arguments, positional=tuple(others)), node)

    def _f_dataclasses_field(self, arguments: Arguments, node: ast.AST) -> Value:
        factory, default = arguments.named.get("default_factory"), arguments.named.get("default")
        made = self.call(factory, Arguments(), node) if factory is not None else Value()
        return join(UNSEEN, made, default or Value())

    def _f_atexit_register(self, arguments: Arguments, node: ast.AST) -> Value:
        return NONE
