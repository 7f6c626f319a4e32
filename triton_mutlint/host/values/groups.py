"""Values in groups: containers and objects by key, and the arguments of a call."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from triton_mutlint.host.values.values import NO_VALUE, NOTHING, ClassValue, Sort, Value, constant, join, picked
from triton_mutlint.types import EMPTY

KEYS = "<keys>"  # a dict's field for keys that are no constants: they may be arguments
KEPT = "<kept>"  # an object's field for what a base that is not of the project was given
_FIXED = (tuple, frozenset, MappingProxyType)
FIXED_METHODS = frozenset[str]().union(*map(dir, _FIXED))  # a method that these have changes nothing
CONTAINER_METHODS = frozenset({"_replace", "_asdict"}).union(
    FIXED_METHODS, *map(dir, (list, dict, set, deque))) - frozenset(dir(object))


@dataclass(frozen=True)
class Cell:
    """The contents of a container or an object.

    `fields` are the elements whose key is known (a position, a dict's constant key, an attribute's
    name); `rest` is the join of all others. `size` is the number of elements where it is fixed. `many`
    says that the cell stands for several objects, so that nothing in it is ever replaced. `owner` is an
    object's class. Calling `source` gives anew what a lazy iterator gives: generators, `map`, `zip`, `d.values()`.
    """

    fields: Mapping[Any, Value] = field(default=EMPTY)
    rest: Value = NO_VALUE
    size: int | None = None
    many: bool = False
    owner: ClassValue | None = None
    kind: str = "list"  # or a set; "tuple", "dict", "object", "context", "generator", "given" (by what is not known)
    source: Value = NO_VALUE

    def get(self, key: object) -> Value | None:
        """The element under a known key, None where there may be none."""
        return self.fields.get(key)

    def has(self, key: object) -> bool:
        """Whether there is an element under a key for certain."""
        return key in self.fields and (self.kind != "dict" or self.size == len(self.fields))

    def held(self) -> tuple[Value, ...]:
        """All that is in it: elements, and keys that are no constants."""
        return (self.rest, *self.fields.values())

    def every(self) -> Value:
        """Any element."""
        return join(self.rest, *(value for key, value in self.fields.items() if key != KEYS))

    def put(self, key: object, value: Value) -> Cell:
        old = self.fields.get(key)
        new = join(old, value) if self.many and old is not None else value
        grown = self.kind == "dict" and self.size is not None and old is None
        return replace(self, fields={**self.fields, key: new}, size=(self.size or 0) + 1 if grown else self.size)

    def add(self, value: Value) -> Cell:
        """With an element under a key that no field has."""
        return replace(self, rest=join(self.rest, value), size=None)

    def spread(self, value: Value) -> Cell:
        """With an element under a key that is not known, which any field may have."""
        fresh = self.kind == "list" and bool(value.kind & Sort.TENSOR) and not value.roots
        # What was there is gone, perhaps, where a new tensor takes its place.
        fields = {key: join(doubted(old) if fresh else old, value) for key, old in self.fields.items()}
        return replace(self, fields=fields, rest=join(doubted(self.rest) if fresh else self.rest, value),
                       size=None if self.kind == "dict" else self.size)

    def mixed(self, value: Value = NO_VALUE) -> Cell:
        """With the same elements and `value`, of whose positions nothing is known."""
        if not self.fields and value == NO_VALUE:
            return replace(self, size=None)
        if self.kind == "dict" and value == NO_VALUE:
            return replace(self, size=None)
        return replace(self, fields={}, rest=chosen(join(self.every(), value)), size=None)

    def listed(self) -> list[Value] | None:
        """The elements in order, where they are known."""
        numbered = [key for key in self.fields if isinstance(key, int)]
        if self.owner is not None and numbered and self.rest == NO_VALUE:  # a named tuple
            return [self.fields[i] for i in range(len(numbered)) if i in self.fields]
        if self.size is None or self.kind not in ("list", "tuple"):
            return None
        return [self.fields.get(i, self.rest) for i in range(self.size)]

    def in_order(self) -> list[Value] | None:
        """What a loop over it gives, where that is known: the elements, or a dict's keys."""
        if self.kind == "dict" and self.size == len(self.fields) and not self.many and KEYS not in self.fields:
            return [constant(key) for key in self.fields]
        return self.listed()

    def place(self, key: object) -> object | None:
        """The key that an element is stored under; None where a negative position means one that is not known."""
        if isinstance(key, int) and key < 0 and self.kind not in ("dict", "object"):
            return None if self.size is None or self.size + key < 0 else self.size + key
        return key


def chosen(value: Value) -> Value:
    """`picked` where code chooses that is not followed: of several containers and objects, it is one as well."""
    return replace(picked(value), chosen=value.chosen or len(value.cells) > 1)


def taken(owner: Value, value: Value) -> Value:
    """What was taken out of `owner`."""
    return replace(picked(value), chosen=True) if owner.chosen else value


def doubted(value: Value) -> Value:
    """The value where it is something else, perhaps."""
    return replace(value, same=NOTHING, maybe=NOTHING, unsure=value.unsure | value.same | value.maybe)


def merged(one: Cell, other: Cell) -> Cell:
    """A cell that may be either; keys that only one has are in `fields` still, as they may be absent."""
    if one == other:
        return one
    fields = {key: value if (theirs := other.fields.get(key, other.rest)) is value else join(value, theirs)
              for key, value in one.fields.items()}
    for key, value in other.fields.items():
        if key not in fields:
            fields[key] = join(value, one.rest)
    return Cell(
        fields, join(one.rest, other.rest), one.size if one.size == other.size else None,
        one.many or other.many, one.owner if one.owner == other.owner else None,
        one.kind if one.kind == other.kind else "object", join(one.source, other.source),
    )  # fmt: skip


def sequence(values: Iterable[Value], kind: str = "tuple") -> Cell:
    fields: dict[Any, Value] = dict(enumerate(values))
    return Cell(fields, size=len(fields), kind=kind)


@dataclass(frozen=True)
class Arguments:
    """The values given: by position, by name, and by `*` and `**` of what has no known length or keys."""

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    star: Value | None = None
    double_star: Value | None = None
    optional: frozenset[str] = frozenset()  # names of which it is not certain that they are given

    def __iter__(self) -> Iterator[Value]:
        yield from self.positional
        yield from self.named.values()
        yield from (v for v in (self.star, self.double_star) if v is not None)

    def before(self, *values: Value) -> Arguments:
        """With `values` as the first ones by position."""
        return replace(self, positional=(*values, *self.positional))

    def get(self, index: int, name: str = "") -> Value | None:
        """The argument at a position or under a name; what a `*` may give counts."""
        if name in self.named:
            return self.named[name]
        if 0 <= index < len(self.positional):
            return self.positional[index]
        rest = [v for v in (self.star if index >= 0 else None, self.double_star if name else None) if v is not None]
        return join(*rest) if rest else None


@dataclass(frozen=True)
class Bound:
    """Values by parameter; `spare` are positional ones for `*args`, `extra` named ones for `**kwargs`."""

    values: Mapping[str, Value]
    spare: tuple[Value, ...]
    spare_rest: Value | None
    extra: Mapping[str, Value]
    extra_rest: Value | None


def bind(names: Sequence[str], keyword_only: Sequence[str], arguments: Arguments) -> Bound:
    """Which parameter gets what; parameters that get nothing are left out."""
    values: dict[str, Value] = dict(zip(names, arguments.positional, strict=False))
    spare = arguments.positional[len(names) :]
    star = None if arguments.star is None else picked(arguments.star)
    if star is not None:
        for name in names[len(arguments.positional) :]:
            values[name] = star
    extra: dict[str, Value] = {}
    for name, value in arguments.named.items():
        if name in names or name in keyword_only:
            values[name] = value if name not in values else join(values[name], value)
        else:
            extra[name] = value
    double_star = None if arguments.double_star is None else picked(arguments.double_star)
    if double_star is not None:
        for name in (*names, *keyword_only):
            values[name] = values.get(name, double_star)
    return Bound(values, spare, star, extra, double_star)


def parameters(node: ast.arguments) -> tuple[list[str], list[str]]:
    """The names that take positional arguments, and those by name only."""
    return [a.arg for a in (*node.posonlyargs, *node.args)], [a.arg for a in node.kwonlyargs]


def annotations_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """What a `def` evaluates as the types of its parameters and its result."""
    takes = node.args
    named = filter(None, (*takes.posonlyargs, *takes.args, *takes.kwonlyargs, takes.vararg, takes.kwarg))
    yield from filter(None, (*(one.annotation for one in named), node.returns))


def defaults(node: ast.arguments) -> dict[str, ast.expr]:
    """The expressions of default values, by parameter."""
    names = [a.arg for a in (*node.posonlyargs, *node.args)]
    found = dict(zip(names[len(names) - len(node.defaults) :], node.defaults, strict=True))
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if default is not None:
            found[argument.arg] = default
    return found


def told_number(value: Value) -> int | None:
    """A number that is known."""
    known = value.constant[1] if value.constant is not None else None
    return known if isinstance(known, int) else None


def told_apart(ours: Mapping[str, Value], theirs: Mapping[str, Value],
               asked: Iterable[tuple[str, str, bool]]) -> dict[tuple[str, str, str], tuple[Value, Value]]:
    """What names hold by the answers to questions about others, where two paths meet that left them apart.

    `asked` says which answer led to the first path; a name that is True after one and False after the other tells, too.
    """
    apart = {name: (ours[name], theirs[name]) for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]}
    flags = [(name, "", mine.is_constant(True)) for name, (mine, other) in apart.items()
             if {mine.constant, other.constant} == {(bool, True), (bool, False)}]
    return {(flag, about, name): held if yes else held[::-1]
            for flag, about, yes in (*asked, *flags) for name, held in apart.items() if name != flag}
