"""Loops: what takes the elements of a value one after the other, and the code that gives them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeGuard

from triton_mutlint.host.classes.outside import STRANGE
from triton_mutlint.host.classes.special import Special
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.state.core import Take, TooLargeError
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import KEYS, Arguments, Cell, sequence, taken
from triton_mutlint.host.values.values import (
    PLAIN,
    UNSEEN,
    Attribute,
    CellId,
    Partial,
    Resumed,
    Sort,
    Value,
    join,
    picked,
    thing,
)

_ITERATES = ("__iter__", "__aiter__", "__next__", "__anext__", "__getitem__")
MOST = 16  # elements that are followed one by one
NESTED = 3  # loops in loops, of those
_ROUNDS = 12  # of one loop: what names may hold grows by what few arguments there are, and stops


class Loops(Special):
    """Runs loops."""

    most, nested = MOST, NESTED

    def loop_over(self, value: Value, node: ast.AST, take: Take) -> bool:
        """Run `take` on what a loop over `value` gives, in order; whether the loop may come to its end.

        Code that gives the elements, such as a generator, runs up to each of them, then `take`, then its rest.
        """
        state, ended = self.state, list[State]()
        parts = self._alternatives(value)
        for part in parts:
            self.state = state.copy()
            if self._loop_over_one(part, node, take):
                ended.append(self.state)
        self.state = state
        for other in ended[1:]:
            ended[0].join(other)
        if ended:
            state.become(ended[0])
        return bool(ended)

    def _alternatives(self, value: Value) -> list[Value]:
        """The containers that it may be one by one, where one of them runs code when it is looped over."""
        if len(value.cells) == 1 and not value.roots and not value.kind & ~Sort.NONE:
            return [replace(value, kind=Value().kind, things=frozenset())]
        if not self.runs_code(value):
            return [value]
        rest = replace(value, cells=frozenset())
        others = [rest] if rest.kind & ~Sort.NONE or rest.roots or rest.things else []
        return [*(Value(cells=frozenset([cell])) for cell in sorted(value.cells, key=repr)), *others]

    def runs_code(self, value: Value) -> bool:
        """Whether looping over it runs code of the project, or makes something."""
        return any(content.source != Value() or (content.owner is not None and any(
            self.class_member(content.owner, name) is not None for name in _ITERATES))
            for content in self.state.contents(value))

    def _loop_over_one(self, value: Value, node: ast.AST, take: Take) -> bool:
        items = self.in_order(value, node)
        if items is not None:
            return self._one_by_one(items, take)
        contents = self.state.contents(value)
        if len(value.cells) == 1 and contents and self.runs_code(value):
            (cell,) = value.cells
            if cell in self.resuming and not self.is_generator(cell):
                return self.repeated(lambda: take(contents[0].every()))
            self.resuming.add(cell)
            try:
                return self._run_for(value, cell, contents[0], node, take)
            finally:
                self.resuming.discard(cell)
        element = self._any_element(value)
        return self.repeated(lambda: take(element))

    def in_order(self, value: Value, node: ast.AST) -> list[Value] | None:
        """What a loop over `value` gives, where that is known element by element and runs no code of the project."""
        contents = self.state.contents(value)
        if len(value.cells) != 1 or len(contents) != 1 or value.roots or value.kind & ~Sort.NONE:
            return None
        content = contents[0]
        if content.source == Value():
            found = content.in_order()
        else:
            found = self._rows(content.source, self._maker(value, node))
        most = self.most if len(self.rounds) < self.nested else 1
        return found if found is not None and len(found) <= most else None

    def _rows(self, source: Value, node: ast.AST) -> list[Value] | None:
        """The elements of `zip(...)` and `d.items()`, where those of what they are made of are known."""
        (one, *more) = source.things
        if not more and isinstance(one, Attribute):
            owner = self.state.contents(one.owner)
            keys = owner[0].in_order() if len(owner) == 1 and owner[0].kind == "dict" else None
            if keys is None:
                return None
            values = [owner[0].fields[key.constant[1]] for key in keys if key.constant is not None]
            rows = {"keys": [keys], "values": [values]}.get(one.name, [keys, values])
        elif not more and is_zip(one) and one.star is None:
            found = [self.in_order(value, node) for value in one.positional]
            rows = [held for held in found if held is not None]
            if len(rows) != len(found) or not rows:
                return None
        else:
            return None
        if len(rows) == 1 and isinstance(one, Attribute):
            return rows[0]
        return [self.make(node, sequence(row), f"row {i}") for i, row in enumerate(zip(*rows, strict=False))]

    @staticmethod
    def _maker(value: Value, node: ast.AST) -> ast.AST:
        """Rows are made where their iterator was: an iterator over another one makes its own rows there."""
        again = copy.copy(node)
        (again.maker,) = value.cells  # type: ignore[attr-defined]  # read by `Core.cell`
        return again

    def _one_by_one(self, items: list[Value], take: Take) -> bool:
        outer = self.rounds
        try:
            for i, item in enumerate(items):
                self.rounds = (*outer, i)
                if not take(item):
                    return False
            return True
        finally:
            self.rounds = outer

    def repeated(self, work: Callable[[], bool]) -> bool:
        """Do `work` any number of times, until nothing changes any more; it says whether there may be another time."""
        entry = self.state
        for _ in range(_ROUNDS):
            self.state = entry.copy()
            after = entry.copy()
            if work():
                after.join(self.state)
            if after == entry:
                self.state = entry
                return True
            entry = after
        raise TooLargeError

    def _run_for(self, value: Value, cell: CellId, content: Cell, node: ast.AST, take: Take) -> bool:
        """Loop over what runs code for its elements."""
        if content.source != Value():
            return self._run_source(value, content, node, take)
        iterator = self.special(value, ("__iter__", "__aiter__"), (), node)
        if iterator is not None and cell not in iterator.cells:
            return self.loop_over(iterator, node, take)
        method = ("__next__", "__anext__") if iterator is not None else ("__getitem__", "__next__")
        given = () if iterator is not None else (PLAIN,)

        def step() -> bool:
            got = self.special(value, method, given, node)
            return take(join(got if got is not None else UNSEEN, content.every()))

        return self.repeated(step)

    def _run_source(self, value: Value, content: Cell, node: ast.AST, take: Take) -> bool:
        sources = list(content.source.things)
        if len(sources) == 1 and isinstance(sources[0], Resumed):
            return self.resume(sources[0], node, take) is not None
        if len(sources) == 1 and is_zip(sources[0]):
            return self._run_zip(sources[0], self._maker(value, node), take)
        again = self._maker(value, node)

        def step() -> bool:
            if any(isinstance(source, Resumed) for source in sources):
                found = [content.every()]
                for source in sources:
                    if isinstance(source, Resumed):
                        self.resume(source, node, partial(_noted, found))
                return take(join(*found))
            return take(join(content.every(), self.state.elements(self.call(content.source, Arguments(), again))))

        return self.repeated(step)

    def _run_zip(self, zipped: Partial, node: ast.AST, take: Take) -> bool:
        """The first of several iterables that runs code sets the pace; of the others, it may be any element."""
        given = [*zipped.positional, *([zipped.star] if zipped.star is not None else [])]
        if zipped.star is not None:
            given[-1] = self.iterate(zipped.star, node)
        pace = next((i for i, value in enumerate(given) if self.runs_code(value)), None)
        size = len(given) if zipped.star is None else None

        def step(paced: Value) -> bool:
            row = [paced if i == pace else self.iterate(value, node) for i, value in enumerate(given)]
            row = [picked(one) if self.runs_code(value) and i != pace else one
                   for i, (one, value) in enumerate(zip(row, given, strict=True))]
            rest = Value() if size is not None else row[-1]
            return take(self.make(node, Cell(dict(enumerate(row)), rest, size, kind="tuple"), "row"))

        return self.repeated(lambda: step(Value())) if pace is None else self.loop_over(given[pace], node, step)

    def iterate(self, value: Value, node: ast.AST) -> Value:
        """Any of what a loop over `value` gives."""
        if not self.runs_code(value):
            return self._any_element(value)
        found: list[Value] = []
        self.loop_over(value, node, partial(_noted, found))
        return join(*found)

    def _any_element(self, value: Value) -> Value:
        """Any element of what runs no code."""
        found: list[Value] = []
        for content in self.state.contents(value):
            keys = content.kind == "dict" and content.owner is None
            found.append(join(PLAIN, content.get(KEYS) or Value()) if keys else content.every())
        if value.roots or value.kind & Sort.TENSOR:
            found.append(Value(value.same, value.maybe, value.unsure, value.carried, kind=value.kind, some=value.some,
                               mixed=value.mixed))
        elif value.kind & Sort.OTHER:
            found.append(UNSEEN)
        elif value.kind & ~Sort.NONE or (value.kind and not found):
            found.append(PLAIN)
        if self.strange(value) != Value():
            found.append(thing(STRANGE))
        return taken(value, join(*found)) if found else UNSEEN

    def gathered(self, value: Value, node: ast.AST, kind: str = "list") -> Value:
        """A list, or a tuple, of what a loop over `value` gives."""
        items = self.in_order(value, node)
        if items is not None:
            return self.make(node, sequence(items, kind), "gathered")
        made = self.make(node, sequence((), kind), "gathered")

        def take(one: Value) -> bool:
            self.appended(made, one)
            return True

        self.loop_over(value, node, take)
        return made

    def spread(self, value: Value, node: ast.AST) -> tuple[list[Value] | None, Value]:
        """What `*value` gives: the values in order, where they are known, and any of them."""
        value = self.gathered(value, node) if self.runs_code(value) else value
        listed = self.state.listed(value)
        return listed, self.iterate(value, node) if listed is None else join(*listed)

    def appended(self, owner: Value, value: Value) -> None:
        contents = self.state.contents(owner)
        if len(contents) == 1 and contents[0].size is not None and not contents[0].many:
            content = contents[0]
            (cell,) = owner.cells
            self.state.kept |= cell in self.state.base
            self.state.store(cell, replace(content.put(content.size, value), size=(content.size or 0) + 1))
        else:
            self.state.grow(owner, value)


def _noted(found: list[Value], one: Value) -> bool:
    found.append(one)
    return True


def is_zip(source: object) -> TypeGuard[Partial]:
    return isinstance(source, Partial) and source.function == thing(External("builtins.zip"))
