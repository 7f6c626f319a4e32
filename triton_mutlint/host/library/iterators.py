"""Calls of itertools: what an iterator over others gives is, place by place, an element of what it is given."""

from __future__ import annotations

import ast

from triton_mutlint.host.library.builtin_calls import BuiltinsMixin
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import NONE, UNSEEN, Value, join, picked

_ACCUMULATIONS = 3  # after so many calls, what a function gives of what it gave must not have grown any more

# Those that give elements of their iterable, and those that give several at a time.
_ONE_BY_ONE = frozenset({"itertools.compress", "itertools.cycle", "itertools.islice"})
_IN_GROUPS = frozenset({"itertools.batched", "itertools.combinations", "itertools.combinations_with_replacement",
                        "itertools.pairwise", "itertools.permutations"})
# Those that call a function with each element first.
_TESTED = frozenset({"itertools.dropwhile", "itertools.filterfalse", "itertools.takewhile"})
ITERATORS = _ONE_BY_ONE | _IN_GROUPS | _TESTED


class IteratorsMixin(BuiltinsMixin):
    """Calls of itertools."""

    def iterator(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """Those of `ITERATORS`."""
        source = arguments.get(1 if name in _TESTED else 0, "data" if name == "itertools.compress" else "iterable")
        element = self._each(source, node)
        if name in _TESTED:
            self.call(arguments.get(0) or UNSEEN, Arguments((element,)), node)
        if name in _IN_GROUPS:
            element = self.make(node, Cell(rest=element, kind="tuple"), "row")
        return self._anew(name, element, arguments, node)

    def _each(self, source: Value | None, node: ast.AST) -> Value:
        return UNSEEN if source is None else self.iterate(source, node)

    def _anew(self, name: str, one: Value, arguments: Arguments, node: ast.AST) -> Value:
        """An iterator whose elements are `one`, and which is run when it is iterated."""
        made = self.make(node, Cell(rest=one))
        self.lazily(made, name, arguments)
        return made

    def _row(self, arguments: Arguments, padding: Value, node: ast.AST) -> Value:
        """A tuple with an element of each of the iterables."""
        elements = [join(self.iterate(v, node), padding) for v in arguments.positional]
        rest = Value() if arguments.star is None else join(self.iterate(arguments.star, node), padding)
        size = len(elements) if arguments.star is None else None
        row = Cell(dict(enumerate(elements)), rest, size=size, kind="tuple")
        return self.make(node, row, "row")

    def _f_itertools_zip_longest(self, arguments: Arguments, node: ast.AST) -> Value:
        row = self._row(arguments, arguments.get(-1, "fillvalue") or NONE, node)
        return self._anew("itertools.zip_longest", row, arguments, node)

    def _f_itertools_product(self, arguments: Arguments, node: ast.AST) -> Value:
        row = self._row(arguments, Value(), node)
        if arguments.get(-1, "repeat") is not None:
            row = self.make(node, Cell(rest=self.state.elements(row), kind="tuple"), "repeated")
        return self._anew("itertools.product", row, arguments, node)

    def _f_itertools_chain(self, arguments: Arguments, node: ast.AST) -> Value:
        given = [*arguments.positional, *([arguments.star] if arguments.star is not None else [])]
        every = join(Value(), *(self.iterate(v, node) for v in given))
        return self._anew("itertools.chain", every, arguments, node)

    def _f_itertools_chain_from_iterable(self, arguments: Arguments, node: ast.AST) -> Value:
        every = self.iterate(self._each(arguments.get(0, "iterable"), node), node)
        return self._anew("itertools.chain.from_iterable", every, arguments, node)

    def _f_itertools_repeat(self, arguments: Arguments, node: ast.AST) -> Value:
        one = arguments.get(0, "object") or UNSEEN
        return self.make(node, Cell(rest=one))

    def _f_itertools_tee(self, arguments: Arguments, node: ast.AST) -> Value:
        one = self.builtin("iter", Arguments((arguments.get(0, "iterable") or UNSEEN,)), node)
        return self.make(node, Cell(rest=one, kind="tuple"), "tee")

    def _f_itertools_groupby(self, arguments: Arguments, node: ast.AST) -> Value:
        element = self._each(arguments.get(0, "iterable"), node)
        function, key = arguments.get(1, "key"), element
        if function is not None:
            key = join(element, self.call(function, Arguments((element,)), node))
        group = self.make(node, Cell(rest=element), "group")
        row = self.make(node, Cell({0: key, 1: group}, size=2, kind="tuple"), "row")
        return self._anew("itertools.groupby", row, arguments, node)

    def _f_itertools_starmap(self, arguments: Arguments, node: ast.AST) -> Value:
        row = self._each(arguments.get(1, "iterable"), node)
        sizes = {content.size for content in self.state.contents(row)}
        size = sizes.pop() if len(sizes) == 1 and not row.roots and not row.kind else None
        given = Arguments((), {}, picked(self.iterate(row, node))) if size is None else Arguments(
            tuple(self.state.element(row, i) for i in range(size)))
        result = self.call(arguments.get(0, "function") or UNSEEN, given, node)
        return self._anew("itertools.starmap", result, arguments, node)

    def _f_itertools_accumulate(self, arguments: Arguments, node: ast.AST) -> Value:
        element = self._each(arguments.get(0, "iterable"), node)
        so_far = join(element, arguments.get(-1, "initial") or Value())
        function = arguments.get(1, "func")
        for _ in range(_ACCUMULATIONS if function is not None and function.things else 0):
            result = self.call(function or UNSEEN, Arguments((so_far, element)), node)
            if join(so_far, result) == so_far:
                break
            so_far = join(so_far, result)
        else:
            if function is not None and (function.things or function.cells):
                return self.not_known(UNSEEN, arguments, node)
        return self._anew("itertools.accumulate", so_far, arguments, node)
