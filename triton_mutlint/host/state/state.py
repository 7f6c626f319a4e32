"""What host code knows at one point: the values of names, and the contents of containers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.state.marks import Mark
from triton_mutlint.host.values.groups import Cell, doubted, merged, taken
from triton_mutlint.host.values.values import (
    NO_VALUE,
    NOTHING,
    Attribute,
    CellId,
    ClassValue,
    FunctionValue,
    Names,
    Partial,
    Resumed,
    ScopeId,
    Super,
    Thing,
    Value,
    join,
)
from triton_mutlint.source.walking import walk


def outlives_call(scope: ScopeId) -> bool:
    """Whether a scope's names keep what a call gives them: a module's, and those of calls at the top level of one."""
    called = len(scope) == 4 and isinstance(scope[3], tuple) and scope[3][:1] == ("module",)
    return called or scope[0] in ("module", "class")


def state_scope(item: HostModule | ClassValue) -> ScopeId:
    """Where what code gives the attributes of a module or a class is kept."""
    if isinstance(item, HostModule):
        return ("module", item.display)
    return ("class", item.module.display, item.node.lineno, item.node.col_offset)


def body_scope(item: ClassValue) -> ScopeId:
    """Where what the body of a class in a function bound is kept."""
    return (*state_scope(item), "body")


@dataclass
class State:
    """Names by scope and containers by where they were made; changed in place.

    `base` are the containers that module-level code made, which all states of a run begin with. Joining
    is what most of the time goes into: `mark` tells how `heap` came about, and all that the heaps with the
    marks in `covers` held is in this one.
    `parts` are what a name holds where a question about another (is it true, is it None) has the answer yes, and no.
    """

    names: dict[ScopeId, dict[str, Value]] = field(default_factory=dict)  # inner ones are never changed in place
    heap: dict[CellId, Cell] = field(default_factory=dict)
    base: dict[CellId, Cell] = field(default_factory=dict)
    kept: bool = False  # whether something was put into one of those, or given to a global name
    scopes: Mapping[ScopeId, ScopeId | None] = field(default_factory=dict, compare=False)
    importing: bool = field(default=False, compare=False)  # whether module-level code runs
    bound: list[tuple[ScopeId, str, Value]] | None = field(default=None, compare=False)  # to top-level names
    mark: Mark = field(default_factory=Mark, compare=False)
    covers: frozenset[Mark] = field(default=frozenset(), compare=False)
    parts: dict[ScopeId, Mapping[tuple[str, str, str], tuple[Value, Value]]] = field(default_factory=dict)

    def copy(self) -> State:
        return State(dict(self.names), dict(self.heap), self.base, self.kept, self.scopes, self.importing,
                     self.bound, self.mark, self.covers, dict(self.parts))

    def store(self, cell: CellId, content: Cell) -> None:
        """Replace what a container holds."""
        self.update({cell: content})

    def update(self, heap: Mapping[CellId, Cell]) -> None:
        """Replace what several containers hold."""
        self.heap.update(heap)
        self.mark, self.covers = Mark(self.mark, tuple(heap)), frozenset()

    def join(self, other: State | None) -> None:
        """Take in what another path to the same point gives."""
        if other is None or other is self:
            return
        self.kept |= other.kept
        for scope, theirs in other.names.items():
            mine = self.names.setdefault(scope, theirs)
            if mine is not theirs:
                more, held = {}, mine.get
                for name, value in [item for item in theirs.items() if held(item[0]) is not item[1]]:
                    old = held(name)
                    both = value if old is None else join(value, old)
                    if both != old:
                        more[name] = both
                if more:
                    self.names[scope] = {**mine, **more}
        for scope, parts in self.parts.items():
            others = other.parts.get(scope, {})
            if parts is not others:
                self.parts[scope] = {key: held for key, held in parts.items() if others.get(key) == held}
        if other.mark is not self.mark and other.mark not in self.covers:
            self._join_heap(other)

    def _join_heap(self, other: State) -> None:
        heap, base, held, theirs = self.heap, self.base, self.heap.get, other.heap
        cells = self.mark.changed(other.mark, self.covers)
        new: list[CellId] = []
        for cell in [c for c in (theirs if cells is None else cells) if c in theirs and held(c) is not theirs[c]]:
            own, content = heap.get(cell) or base.get(cell), theirs[cell]
            both = content if own is None else merged(own, content)
            if own is None or (both is not own and both != own):
                heap[cell] = both
                new.append(cell)
        self.covers |= {other.mark, self.mark}
        if new:
            self.mark = Mark(self.mark, tuple(new))

    def become(self, other: State) -> None:
        if self.heap is self.base:  # other states read the containers of module-level code from it
            self.heap.update(other.heap)
        else:
            self.heap = other.heap
        self.names, self.kept = other.names, other.kept
        self.mark, self.covers, self.parts = other.mark, other.covers, other.parts

    def get(self, scope: ScopeId, name: str) -> Value | None:
        return self.names[scope].get(name) if scope in self.names else None

    def put(self, scope: ScopeId, name: str, value: Value) -> None:
        self.names[scope] = {**self.names.get(scope, {}), name: value}
        gone = [key for key in self.parts.get(scope, ()) if name in (key[0], key[2])]
        if gone:
            self.parts[scope] = {key: held for key, held in self.parts[scope].items() if key not in gone}
        self.kept |= scope[0] in ("module", "class") or (outlives_call(scope) and not self.importing)
        if self.bound is not None and scope[0] in ("module", "class"):
            self.bound.append((scope, name, value))

    # ------------------------------------------------------------------ containers

    def cell(self, cell: CellId) -> Cell | None:
        return self.heap.get(cell) or self.base.get(cell)

    def make(self, cell: CellId, content: Cell) -> Value:
        """A container made at the place `cell`; made there again, it stands for both."""
        old = self.cell(cell)
        self.store(cell, content if old is None else replace(merged(old, content), many=True))
        return Value(cells=frozenset([cell]))

    def contents(self, value: Value) -> list[Cell]:
        found = (self.cell(cell) for cell in (value.cells if len(value.cells) < 2 else sorted(value.cells, key=repr)))
        return [content for content in found if content is not None]

    def change(self, value: Value, key: object | None, new: Value) -> None:
        """Put `new` into every container that `value` may be, under `key` (None: not known)."""
        certain = len(value.cells) == 1
        for cell in value.cells:
            content = self.cell(cell) or Cell()
            self.kept |= cell in self.base
            place = None if key is None else content.place(key)
            if place is None:
                self.store(cell, content.spread(new))
            else:
                old = content.fields.get(place, content.rest)
                held = content.put(place, new if certain else join(old, new))
                self.store(cell, held if certain or held.kind != "dict" else replace(held, size=None))

    def grow(self, value: Value, new: Value) -> None:
        """Add an element to every container that `value` may be, after those that are there."""
        for cell in value.cells:
            self.kept |= cell in self.base
            self.store(cell, (self.cell(cell) or Cell()).add(new))

    def mix(self, value: Value, new: Value = NO_VALUE) -> None:
        """Forget the positions in every container that `value` may be, which takes `new` in; a dict has none."""
        for cell in value.cells:
            content = self.cell(cell)
            if content is not None:
                self.kept |= cell in self.base
                self.store(cell, content.mixed(new))

    def remove(self, value: Value, key: object) -> None:
        """Take an element out: of a list, it is not known any more where the others stand."""
        contents = self.contents(value)
        if len(contents) == 1 and contents[0].kind == "dict" and contents[0].has(key) and not contents[0].many:
            (cell,) = value.cells
            self.kept |= cell in self.base
            fields = {name: held for name, held in contents[0].fields.items() if name != key}
            self.store(cell, replace(contents[0], fields=fields, size=len(fields)))
        else:
            self.mix(value)

    def element(self, value: Value, key: object) -> Value:
        """What `value[key]` may be, for containers with that key."""
        found = []
        for content in self.contents(value):
            place, rest = content.place(key), content.rest
            placed = content.kind in ("list", "tuple") and content.owner is None
            if place is None:
                every = content.every()
                found.append(doubted(every) if placed and every.mixed else every)
                continue
            field_ = content.get(place)
            if placed and (rest.mixed or field_ is not None or len(rest.same | rest.maybe) > 1):  # one of them, or none
                rest = doubted(rest)
            found.append(rest if field_ is None else field_)
            if field_ is not None and (content.many or (content.size is None and content.kind in ("list", "tuple"))):
                found.append(rest)
        return taken(value, join(*found))

    def listed(self, value: Value) -> list[Value] | None:
        """The elements in order, where the value is one list or tuple of known length."""
        contents = self.contents(value)
        return contents[0].listed() if len(contents) == 1 and not value.roots else None

    def elements(self, value: Value) -> Value:
        """Any element of the containers that `value` may be."""
        return taken(value, join(*(content.every() for content in self.contents(value))))

    def reach(self, values: Iterable[Value]) -> tuple[Names, Names]:
        """The op arguments that code given `values` can reach: by their own storage, or a possible copy of it."""
        held = list(self.all_held(values))
        same = NOTHING.union(*(value.same | value.carried for value in held))
        return same, NOTHING.union(*(value.maybe | value.unsure for value in held)) - same

    def held_in(self, values: Iterable[Value], into: Callable[[Cell], Iterable[Value]] = Cell.held) -> Iterator[Value]:
        """The values, and those that `into` gives of the containers and objects among them, at any depth."""
        seen, pending = set[CellId](), list(values)
        while pending:
            value = pending.pop()
            yield value
            pending.extend(held for cell in value.cells - seen if (content := self.cell(cell)) is not None
                           for held in into(content))
            seen |= value.cells

    def all_held(self, values: Iterable[Value]) -> Iterator[Value]:
        """The values, and whatever their containers, objects and functions hold."""
        seen: set[CellId] = set()
        things: set[Thing] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            yield value
            for thing in value.things - things:
                things.add(thing)
                pending.extend(self._captured(thing))
            for cell in value.cells - seen:
                seen.add(cell)
                content = self.cell(cell)
                if content is not None:
                    pending.extend((content.source, *content.held()))
                    if content.owner is not None and content.owner.scope is not None:
                        pending.append(Value(things=frozenset([content.owner])))

    def _captured(self, thing: Thing) -> Iterator[Value]:
        """Values that something callable holds, and those of the names that a function in a function reads."""
        if isinstance(thing, (Super, Attribute)):
            yield thing.owner
        if isinstance(thing, Partial):
            yield from (thing.function, *thing.positional, *(held for _, held in thing.keywords), thing.star or Value())
        if isinstance(thing, Resumed):
            yield from (held for _, held in thing.given)
        function = thing.function if isinstance(thing, Resumed) else thing
        if isinstance(function, FunctionValue):
            yield from (held for _, held in function.defaults)
            if self.kept:
                yield from self._kept()
        if isinstance(function, (FunctionValue, ClassValue)) and function.scope is not None:
            for name in {node.id for node in walk(function.node) if isinstance(node, ast.Name)}:
                yield from self._around(function.scope, name)

    def holds(self, value: Value) -> set[CellId]:
        """The containers that a value is, or that something callable in it holds."""
        found, seen, pending = set(value.cells), set[Thing](), list(value.things)
        while pending:
            thing = pending.pop()
            if thing not in seen:
                seen.add(thing)
                for inner in self._captured(thing):
                    found |= inner.cells
                    pending.extend(inner.things)
        return found

    def _around(self, scope: ScopeId | None, name: str) -> Iterator[Value]:
        while scope is not None:
            value = self.get(scope, name)
            if value is not None:
                yield value
            scope = self.scopes.get(scope)

    def _kept(self) -> Iterator[Value]:
        """What this op's code left in module-level names and containers."""
        for scope, names in self.names.items():
            if scope[0] in ("module", "class"):
                yield from names.values()
        yield Value(cells=frozenset(cell for cell in self.heap if cell in self.base))
