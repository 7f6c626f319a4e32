"""Abstract values of host code: which op arguments a Python value may be, and by what right.

docs/host-analysis.md defines them. All types are frozen; joining is set union.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from enum import IntFlag
from typing import Union

from triton_mutlint.host.modules.module import External, HostFunction, HostModule
from triton_mutlint.host.values.written import Written, hashed_once

Names = frozenset[str]
NOTHING: Names = frozenset()
ScopeId = tuple[object, ...]
CellId = tuple[object, ...]
ON_GRID = "[grid]"  # which no method is called
MAX_CHAIN = 2
MAX_TEXTS = 32  # more strings that a value may be are not told apart


class Sort(IntFlag):
    """What a value may be, as far as its methods go."""

    TENSOR = 1
    PLAIN = 2  # a number, string, shape, dtype, device, or what has no methods that matter
    OTHER = 4  # an object of which nothing is known
    NONE = 8  # None itself, where the code says so


@hashed_once
@dataclass(frozen=True)
class Value:
    """What one expression may evaluate to.

    `same` are the op arguments whose own storage it may be (the argument, or a view of it), `maybe`
    those whose storage it is unless something on the way copied. `unsure` are those that code which is
    not understood was given, and may have given back. `carried` are arguments whose
    addresses it holds (`x.data_ptr()`, a tensor of such). `cells` are the containers and objects it
    may be, `things` what can be called. `constant` is (type, value) where only one value is possible.
    `wide` says that, as an index, it copies: a mask, or a tensor with dimensions. `some` says that it is not None.
    `mixed` says that on other paths it is something else than the arguments that it names.
    `chosen` says that it is one of several containers or objects, or was taken out of it, and it is not known which.
    `texts` are strings that it may be, kept if `Written`; if a test said so, it equals one of `among`.
    """

    same: Names = NOTHING
    maybe: Names = NOTHING
    unsure: Names = NOTHING
    carried: Names = NOTHING
    cells: frozenset[CellId] = frozenset()
    things: frozenset[Thing] = frozenset()
    constant: tuple[type, object] | None = None
    kind: Sort = Sort(0)  # noqa: RUF009 - it is frozen
    wide: bool = False
    some: bool = False
    texts: frozenset[Written] = frozenset()
    mixed: bool = False
    among: frozenset[object] = frozenset()
    chosen: bool = False

    @property
    def roots(self) -> Names:
        """The arguments that may be reached from the value itself, its containers aside."""
        return self.same | self.maybe | self.unsure | self.carried

    def is_constant(self, value: object) -> bool:
        return self.constant is not None and self.constant == (type(value), value)


def join(*values: Value) -> Value:
    """What may be any of `values`."""
    distinct = [value for value in dict.fromkeys(values) if value != NO_VALUE]
    if len(distinct) < 2:
        return distinct[0] if distinct else NO_VALUE
    kind = Sort(0)
    for value in distinct:
        kind |= value.kind
    return Value(
        frozenset().union(*(v.same for v in distinct)),
        frozenset().union(*(v.maybe for v in distinct)),
        frozenset().union(*(v.unsure for v in distinct)),
        frozenset().union(*(v.carried for v in distinct)),
        frozenset().union(*(v.cells for v in distinct)),
        frozenset().union(*(v.things for v in distinct)),
        None,
        kind,
        all(v.wide for v in distinct),
        all(v.some for v in distinct),
        _texts(distinct),
        any(v.mixed for v in distinct) or len({bool(v.roots) for v in distinct if v.kind != Sort.NONE}) > 1,
        frozenset().union(*(v.among for v in distinct)) if all(v.among for v in distinct) else frozenset(),
        any(v.chosen for v in distinct),
    )


def _texts(values: list[Value]) -> frozenset[Written]:
    if any(v.kind & Sort.PLAIN and v.constant is None and not v.texts for v in values):
        return frozenset()  # one of them may be any string
    found: frozenset[Written] = frozenset().union(*map(told, values))
    return found if len(found) <= MAX_TEXTS else frozenset()


def told(value: Value) -> frozenset[Written]:
    """The strings that it may be, where code wrote them."""
    if value.constant is not None and isinstance(value.constant[1], Written):
        return frozenset([value.constant[1]])
    return value.texts


def weakened(value: Value) -> Value:
    """The value, or a copy of it."""
    return replace(value, same=NOTHING, maybe=value.same | value.maybe)


def picked(value: Value) -> Value:
    """One of what `value` joins, and not known which: of several arguments, none for certain."""
    several = value.same | value.maybe
    return replace(value, same=NOTHING, maybe=NOTHING, unsure=value.unsure | several) if len(several) > 1 else value


def constant(value: object) -> Value:
    return Value(constant=(type(value), value), kind=Sort.PLAIN if value is not None else Sort.NONE)


NO_VALUE = Value()
PLAIN = Value(kind=Sort.PLAIN)
TENSOR = Value(kind=Sort.TENSOR)
UNSEEN = Value(kind=Sort.OTHER)
NONE = constant(None)


def is_plain(value: Value) -> bool:
    """Whether the value is a number, a string, None or the like, and nothing else."""
    return bool(value.kind) and not value.kind & ~(Sort.PLAIN | Sort.NONE)


def present(value: Value) -> Value:
    """The value where it is not None: code that takes an attribute or an element of None goes no further."""
    if value.some or value.constant is not None or value == NO_VALUE:
        return value
    return replace(value, kind=value.kind & ~Sort.NONE, some=True)


def truth(value: Value) -> bool | None:
    """Whether the value is true, where that is certain."""
    if value.constant is not None:
        return bool(value.constant[1])
    return True if is_callable(value) else None


def is_callable(value: Value) -> bool:
    """Whether the value is a function, a class or the like for certain; names outside may stand for anything."""
    sure = all(not isinstance(thing, (Attribute, External, Super)) for thing in value.things)
    return bool(value.things) and sure and not value.cells and not value.kind and not value.roots


@hashed_once
@dataclass(frozen=True)
class FunctionValue:
    """A first-party function or lambda; `scope` is the scope it was defined in (None: the module's).

    `defaults` are those of a function defined in another, evaluated where it was.
    """

    module: HostModule
    node: HostFunction
    scope: ScopeId | None = None
    owner: ClassValue | None = None  # the class that it is a method of
    defaults: tuple[tuple[str, Value], ...] = ()


@hashed_once
@dataclass(frozen=True)
class Tuner:
    """What `triton.autotune(...)` or `triton.heuristics(...)` puts around a kernel.

    `values` are the parameters that it gives values to, with these, or None where they are not known. `hooks` are
    called with the kernel's arguments, and so are those of configs; those in `zeroed` are set to zero.
    """

    overrides: bool  # what a launch passes: as heuristics do
    values: tuple[tuple[str, tuple[Value, ...] | None], ...] = ()
    hooks: Value = NO_VALUE
    config_hooks: Value = NO_VALUE
    zeroed: frozenset[str] = NOTHING


@hashed_once
@dataclass(frozen=True)
class KernelValue:
    """A jit function; `wrapped` by `wrap_triton`.

    One `def` may make several, which do not do the same: a factory's products. `names` are those that
    nothing but this one is bound to at the top level of `module`, where it is known. `tuners` are what was put
    around it by calls, from the inside out; of its decorators, `.fn` took the first `taken` off.
    """

    module: HostModule
    node: ast.FunctionDef
    wrapped: bool = False
    names: frozenset[str] = frozenset()
    tuners: tuple[Tuner, ...] = ()
    taken: int = 0

    @property
    def below(self) -> KernelValue:
        """What `.fn` gives."""
        return replace(self, tuners=self.tuners[:-1]) if self.tuners else replace(self, taken=self.taken + 1)


@hashed_once
@dataclass(frozen=True)
class ClassValue:
    module: HostModule
    node: ast.ClassDef
    scope: ScopeId | None = None


@hashed_once
@dataclass(frozen=True)
class Super:
    """`super()` in a method of the class `of`, on `owner`."""

    owner: Value
    of: ClassValue


@hashed_once
@dataclass(frozen=True)
class Attribute:
    """A method of a tensor, a container, a kernel or something unknown, by name; that of `kernel[grid]` is `ON_GRID`.

    Of attributes of attributes, `MAX_CHAIN` are told apart: a loop over `x.parent`, or several functions that each
    ask for two or three of them, would make ever more.
    """

    owner: Value
    name: str

    @property
    def chain(self) -> int:
        return 1 + max((t.chain for t in self.owner.things if isinstance(t, Attribute)), default=0)


def attribute_of(owner: Thing, name: str) -> Attribute:
    """`owner.name`, where nothing is known of it: of an attribute that ends a long chain, it is one of its owner."""
    if isinstance(owner, Attribute) and owner.chain >= MAX_CHAIN:
        return Attribute(owner.owner, name)
    return Attribute(Value(things=frozenset([owner])), name)


@hashed_once
@dataclass(frozen=True)
class Partial:
    """`functools.partial(function, ...)`; `star` are arguments by position whose number is not known.

    `next` is the parameter that takes the first argument of the next call, where that is not what its position says.
    """

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    star: Value | None = None
    next: str = ""


@hashed_once
@dataclass(frozen=True)
class Resumed:
    """A generator: its function, what that was given, and where it was made. What takes from it runs the function."""

    function: FunctionValue
    given: tuple[tuple[str, Value], ...]
    made: CellId = ()


class Observed:
    """What only a reader of registrations tells apart: a library, an op, a schema, ..."""


# Union, not `|`: evaluated at run time.
Thing = Union[  # noqa: UP007
    FunctionValue, KernelValue, Tuner, ClassValue, Super, Attribute, Partial, Resumed, External,
    HostModule, Observed
]


def thing(value: Thing) -> Value:
    return Value(things=frozenset([value]))


def with_first(function: Value, first: Value) -> Value:
    """A function with its first argument: a method."""
    return thing(Partial(function, (first,), ()))
