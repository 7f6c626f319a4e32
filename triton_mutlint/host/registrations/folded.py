"""The values that code which registers ops computes with, as far as they can be told without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triton_mutlint.host.modules.module import HostFunction, HostModule
from triton_mutlint.types import Location

if TYPE_CHECKING:
    from triton_mutlint.host.registrations.events import OpEvent


@dataclass(frozen=True, eq=False)
class Spot:
    """Where a value was written; `depth` counts the calls around it, from the code that is read.

    `literal` is false once the value went through a name that others may use as well.
    """

    module: HostModule
    node: ast.AST
    depth: int = 0
    literal: bool = True

    @property
    def location(self) -> Location:
        return location_of(self.module, self.node)


def location_of(module: HostModule, node: ast.AST) -> Location:
    return Location(module.display, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


@dataclass(frozen=True, eq=False)
class Value:
    """Anything; `spot` is where it was written, if that is known."""

    spot: Spot | None = field(default=None, kw_only=True)

    def parts(self) -> tuple[Value, ...]:
        """The values that this one is made of."""
        return ()

    def given(self) -> bool:
        """Whether it depends on what a caller of the code that is read passes."""
        return any(part.given() for part in self.parts())


@dataclass(frozen=True, eq=False)
class Unknown(Value):
    reason: str = ""
    is_given: bool = False

    def given(self) -> bool:
        return self.is_given


@dataclass(frozen=True, eq=False)
class Const(Value):
    """None, a truth value or a number."""

    value: object = None


@dataclass(frozen=True, eq=False)
class Text(Value):
    """A string; what is not known of it stands in braces, and `known` is false."""

    text: str = ""
    known: bool = True
    is_given: bool = False

    def given(self) -> bool:
        return self.is_given


@dataclass(frozen=True, eq=False)
class Items(Value):
    """A list, tuple or set; those not `whole` hold more than `items`."""

    items: tuple[Value, ...] = ()
    whole: bool = True

    def parts(self) -> tuple[Value, ...]:
        return self.items


@dataclass(frozen=True, eq=False)
class Some(Value):
    """A list or tuple that holds some of `items`, in that order; which of them is decided at run time."""

    items: tuple[Value, ...] = ()

    def parts(self) -> tuple[Value, ...]:
        return self.items


@dataclass(frozen=True, eq=False)
class Table(Value):
    """A dict."""

    entries: tuple[tuple[Value, Value], ...] = ()

    def parts(self) -> tuple[Value, ...]:
        return tuple(part for entry in self.entries for part in entry)

    def get(self, key: str) -> Value | None:
        for name, value in reversed(self.entries):
            if isinstance(name, Text) and name.known and name.text == key:
                return value
        return None


class Scope:
    """The names of one function's run, inside those of what defines it."""

    def __init__(self, module: HostModule, outer: Scope | None = None, names: dict[str, Value] | None = None) -> None:
        self.module, self.outer, self.names = module, outer, {} if names is None else names

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def holder(self, name: str) -> Scope | None:
        """The scope that holds `name`: this one, or one around it."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope


@dataclass(frozen=True, eq=False)
class Func(Value):
    """A function of a first-party file; `owner` is what its first parameter is bound to."""

    module: HostModule = field(kw_only=True)
    node: HostFunction = field(kw_only=True)
    scope: Scope = field(kw_only=True)
    owner: Value | None = None
    nested: bool = False  # defined in a function, or a method: what it registers depends on those around it

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(frozen=True, eq=False)
class Class(Value):
    module: HostModule = field(kw_only=True)
    node: ast.ClassDef = field(kw_only=True)
    scope: Scope = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Instance(Value):
    """An object; a `row` is a named tuple."""

    cls: Class = field(kw_only=True)
    fields: dict[str, Value] = field(default_factory=dict)

    @property
    def is_row(self) -> bool:
        return any(getattr(base, "attr", getattr(base, "id", "")) == "NamedTuple" for base in self.cls.node.bases)


@dataclass(frozen=True, eq=False)
class Package(Value):
    """A first-party module."""

    module: HostModule = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Ext(Value):
    """Something outside the first-party files, by its dotted name."""

    name: str = ""


@dataclass(frozen=True, eq=False)
class Late(Value):
    """What an import inside a function binds `name` to; looked up when it is used."""

    module: HostModule = field(kw_only=True)
    node: ast.Import | ast.ImportFrom = field(kw_only=True)
    name: str = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Method(Value):
    """An attribute of a value whose meaning depends on how it is called."""

    owner: Value = field(kw_only=True)
    name: str = field(kw_only=True)

    def parts(self) -> tuple[Value, ...]:
        return (self.owner,)


@dataclass(frozen=True, eq=False)
class Args:
    """The arguments of a call; `open` says that there are more."""

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    open: bool = False

    def take(self, index: int | None, name: str) -> Value | None:
        """The argument called `name`, or at `index`."""
        if name in self.keywords:
            return self.keywords[name]
        return self.positional[index] if index is not None and index < len(self.positional) else None

    def with_first(self, value: Value) -> Args:
        return replace(self, positional=(value, *self.positional))


@dataclass(frozen=True, eq=False)
class Partial(Value):
    """A callable with some of its arguments; `pending` takes the function to register as the next."""

    callee: Value = field(kw_only=True)
    args: Args = field(kw_only=True)
    pending: str = ""  # the name of the parameter that the next call gives

    def parts(self) -> tuple[Value, ...]:
        return (self.callee, *self.args.positional, *self.args.keywords.values())


@dataclass(frozen=True, eq=False)
class Lib(Value):
    """A `torch.library.Library`."""

    namespace: Value = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Inferred(Value):
    """A schema inferred from a function, after the text `prefix`."""

    function: Value = field(kw_only=True)
    mutates: Value | None = None
    prefix: Text = field(default_factory=Text)

    def parts(self) -> tuple[Value, ...]:
        return (self.function, self.prefix) if self.mutates is None else (self.function, self.prefix, self.mutates)


@dataclass(frozen=True, eq=False)
class Op(Value):
    """What registering an op gave."""

    event: OpEvent = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Either(Value):
    """One of several values, depending on what is decided at run time."""

    options: tuple[Value, ...] = ()

    def parts(self) -> tuple[Value, ...]:
        return self.options


def either(values: list[Value]) -> Value:
    """One value of several; itself where there is but one. What is not known counts once."""
    found: dict[int, Value] = {}
    unknown: Value | None = None
    for value in (v for several in values for v in options(several)):
        if isinstance(value, Unknown):
            unknown = value if unknown is None or (value.given() and not unknown.given()) else unknown
        else:
            found[id(value)] = value
    if unknown is not None:
        found[id(unknown)] = unknown
    if len(found) > MAX_OPTIONS:
        return Unknown("it may be too many things", any(v.given() for v in found.values()))
    if len(found) == 1:
        return next(iter(found.values()))
    return Either(tuple(found.values())) if found else Unknown()


MAX_OPTIONS = 32  # more are not told apart


def options(value: Value) -> Iterator[Value]:
    """What `value` may be."""
    if isinstance(value, Either):
        yield from value.options
    else:
        yield value
