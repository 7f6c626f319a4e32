"""What host code knows at one point: the values of names, and the contents of containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from triton_mutlint.host.values import Cell, CellId, Names, ScopeId, Value, join, merged


@dataclass
class State:
    """Names by scope and containers by where they were made; changed in place.

    `base` are the containers that module-level code made, which all states of a run begin with.
    """

    names: dict[ScopeId, dict[str, Value]] = field(default_factory=dict)  # inner ones are never changed in place
    heap: dict[CellId, Cell] = field(default_factory=dict)
    base: dict[CellId, Cell] = field(default_factory=dict)
    kept: bool = False  # whether something was put into one of those, or given to a global name

    def copy(self) -> State:
        return State(dict(self.names), dict(self.heap), self.base, self.kept)

    def join(self, other: State | None) -> None:
        """Take in what another path to the same point gives."""
        if other is None or other is self:
            return
        self.kept |= other.kept
        for scope, theirs in other.names.items():
            mine = self.names.get(scope)
            if mine is None:
                self.names[scope] = theirs
            elif mine is not theirs:
                both = {name: join(value, mine[name]) if name in mine else value for name, value in theirs.items()}
                self.names[scope] = {**mine, **both}
        for cell, content in other.heap.items():
            own = self.cell(cell)
            if own is not content:
                self.heap[cell] = content if own is None else merged(own, content)

    def become(self, other: State) -> None:
        self.names, self.heap, self.kept = other.names, other.heap, other.kept

    def get(self, scope: ScopeId, name: str) -> Value | None:
        return self.names[scope].get(name) if scope in self.names else None

    def put(self, scope: ScopeId, name: str, value: Value) -> None:
        self.names[scope] = {**self.names.get(scope, {}), name: value}
        self.kept |= scope[0] == "module"

    def restore(self, scope: ScopeId, saved: Mapping[str, Value | None]) -> None:
        """Give names the values that they had, or none."""
        names = {name: value for name, value in self.names.get(scope, {}).items() if name not in saved}
        self.names[scope] = {**names, **{name: value for name, value in saved.items() if value is not None}}

    # ------------------------------------------------------------------ containers

    def cell(self, cell: CellId) -> Cell | None:
        return self.heap.get(cell) or self.base.get(cell)

    def make(self, cell: CellId, content: Cell) -> Value:
        """A container made at the place `cell`; made there again, it stands for both."""
        old = self.cell(cell)
        self.heap[cell] = content if old is None else replace(merged(old, content), many=True)
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
            if key is None:
                self.heap[cell] = content.add(new)
            else:
                old = content.get(key)
                self.heap[cell] = content.put(key, new if certain or old is None else join(old, new))

    def element(self, value: Value, key: object) -> Value:
        """What `value[key]` may be, for containers with that key."""
        found = []
        for content in self.contents(value):
            field_ = content.get(key)
            if field_ is None and isinstance(key, int) and key < 0 and content.size is not None:
                field_ = content.get(content.size + key)
            found.append(content.rest if field_ is None else field_)
            if field_ is not None and content.many:
                found.append(content.rest)
        return join(*found) if found else Value()

    def elements(self, value: Value) -> Value:
        """Any element of the containers that `value` may be."""
        contents = self.contents(value)
        return join(*(content.every() for content in contents)) if contents else Value()

    def reach(self, values: Iterable[Value]) -> tuple[Names, Names]:
        """The op arguments that code given `values` can reach: by their own storage, or a possible copy of it."""
        same: set[str] = set()
        maybe: set[str] = set()
        seen: set[CellId] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            same |= value.same | value.carried
            maybe |= value.maybe | value.unsure
            pending.extend(_captured(value))
            for cell in value.cells - seen:
                seen.add(cell)
                content = self.cell(cell)
                if content is not None:
                    pending.extend((content.rest, *content.fields.values()))
        return frozenset(same), frozenset(maybe - same)


def _captured(value: Value) -> Iterable[Value]:
    """Values that the callables among `value` hold."""
    for thing in value.things:
        owner = getattr(thing, "owner", None)
        if isinstance(owner, Value):
            yield owner
        for held in getattr(thing, "positional", ()):
            yield held
        for _, held in getattr(thing, "keywords", ()):
            yield held
