"""What a name or expression of a kernel's source may be: addresses of parameters, functions, a constant."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from triton_mutlint.kernel_source.dtypes import short_name
from triton_mutlint.kernel_source.objects import UNKNOWN, plain
from triton_mutlint.kernel_source.slots import NO_TRACE, Trace, blended, merged
from triton_mutlint.types import unwrap_constexpr

_PLAIN = (int, float, str, type(None))


@dataclass(frozen=True)
class MayBe:
    """`roots` are parameters whose address the value may be, or be made of: `#p` where it may be a number by now.

    `items` are the elements of a tuple: all of them, or the first ones of one that has `roots` of its own, too.
    `functions` are what the value may be as an object, by identity, where `is_open` says that it may also be another.
    `kinds` are the classes that it may be an instance of, with SOME if it may be one of another, or of none; it is
    empty for what is no instance. `said` is a compile-time constant, with its type, and `value` the constant alone.
    `is_present` says that it is certainly not None, `is_launched` that it is no number or text which is known before a
    launch; `start` is where a range of numbers begins. `trace` says of what
    it is made, where facts about parameters are gathered. `of` names the parameters whose constants decide which
    constant it is, or whether it is one. `partial` is a text of which parts are not known: HOLE stands for each.
    """

    roots: frozenset[str] = frozenset()
    items: tuple[MayBe, ...] | None = None
    functions: tuple[Object, ...] = ()
    is_open: bool = False
    kinds: tuple[Object, ...] = ()
    said: tuple[type, Any] | None = None
    is_present: bool = False
    is_launched: bool = False
    start: int | None = None
    trace: Trace = NO_TRACE
    of: frozenset[str] = frozenset()
    partial: str = ""

    @property
    def made(self) -> Trace:
        """Of what it is made: a constant or a dtype shows that itself."""
        if self.trace is not NO_TRACE:
            return self.trace
        if self.said is not None and self.said[0] in _WEAK:
            return _WEAK[self.said[0]]
        if len(self.functions) == 1 and not self.is_open:
            dtype = _dtype_of(self.functions[0].it)
            return Trace(dtype=dtype, is_dtype=True) if dtype else NO_TRACE
        return NO_TRACE

    @property
    def value(self) -> Any:
        """The constant that it is; UNKNOWN if it is none."""
        return UNKNOWN if self.said is None else self.said[1]

    @property
    def is_known(self) -> bool:
        """Whether it is a constant."""
        return self.said is not None

    def everything(self) -> frozenset[str]:
        """The roots of the value and of all its elements."""
        if not self.items:
            return self.roots
        return self.roots.union(*(item.everything() for item in self.items or ()))

    def converted(self) -> MayBe:
        """The value after a call, which may have made a number of an address: as such it keeps its root."""
        if not self.roots and self.items is None:
            return self
        items = None if self.items is None else tuple(item.converted() for item in self.items)
        roots = self.roots | {_number(root) for root in self.roots}
        return self if roots == self.roots and items is None else replace(self, roots=roots, items=items)

    def number(self) -> MayBe:
        """The value where Triton takes numbers only: it is no address of a parameter then."""
        if not self.roots or self.items is not None or self.has_objects():
            return self
        roots = frozenset(root for root in self.roots if root.startswith((_NUMBER, MEMORY)))
        return self if len(roots) == len(self.roots) else replace(self, roots=roots)

    @property
    def is_value(self) -> bool:
        """Whether it can only be a tensor, or a tuple of them, and no object with functions of its own."""
        return not (self.kinds or self.functions or (self.is_open and not self.everything()))

    @property
    def has_length(self) -> bool:
        """Whether it is a tuple whose elements are all known."""
        return self.items is not None and not self.roots

    def has_objects(self) -> bool:
        """Whether it, or an element, is an instance or a function."""
        if self.kinds:
            return True
        if self.functions and any(type(f.it).__name__ != "dtype" for f in self.functions):
            return True
        return bool(self.items) and any(item.has_objects() for item in self.items or ())

    def element(self, index: MayBe) -> MayBe:
        """`self[index]`."""
        at = index.value
        items = self.items or ()
        if isinstance(at, int) and (0 if self.roots else -len(items)) <= at < len(items):
            return items[at]
        return self.any_element(at)

    def any_element(self, at: object = UNKNOWN) -> MayBe:
        """Any element: what iterating over the value gives, or an index that is not known."""
        if self.items:
            return either(*((MayBe(self.roots),) if self.roots else ()), *self.items)
        return MayBe(self.roots, is_open=self.is_open, kinds=(SOME,) if self.kinds else (),
                     trace=self.trace.child(at if isinstance(at, int) else "*"))

    def __add__(self, other: MayBe) -> MayBe:
        if self.items is not None and other.items is not None and not self.roots:
            return MayBe(other.roots, (*self.items, *other.items))
        return mixed((self, other))


@dataclass(frozen=True)
class Object:
    """A Python object, compared by identity."""

    it: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self.it is other.it

    def __hash__(self) -> int:
        return id(self.it)


_WEAK = {int: Trace(dtype="int"), float: Trace(dtype="float")}


def _dtype_of(found: Any) -> str:
    """The short name of a dtype; of a type of pointers, with a star."""
    if type(found).__name__ == "pointer_type":
        return "*" + short_name(getattr(found, "element_ty", None))
    return short_name(found)


def _number(root: str) -> str:
    return root if root.startswith((_NUMBER, MEMORY)) else _NUMBER + root


def parameter(root: str) -> str:
    """The parameter that a root is the address of."""
    return root.removeprefix(_NUMBER)


_NUMBER = "#"
_NO_ROOTS = frozenset[str]()
NOTHING = MayBe()
NOWHERE = ""  # stands for what is no parameter: an address of none, say
NO_ROOTS = frozenset((NOWHERE,))
MEMORY = "*"  # begins what was in memory: `*p` was reached through p, or is one of the addresses that were put there
SOME = Object(None)  # a class that is not known


def loaded_from(address: frozenset[str]) -> frozenset[str]:
    """What is in memory at an address with these roots."""
    found = (root if root.startswith(MEMORY) else MEMORY + parameter(root) for root in address)
    return frozenset(found) or frozenset((MEMORY,))


def either(*values: MayBe) -> MayBe:
    """The join: a value that may be any one of `values`."""
    first = values[0]
    if len(values) == 1 or all(value is first or value == first for value in values):
        return first
    lengths = {None if value.items is None else len(value.items) for value in values}
    roots = frozenset[str]().union(*(v.roots if len(lengths) == 1 else v.everything() for v in values))
    items = None
    if len(lengths) == 1 and first.items is not None:
        items = tuple(either(*row) for row in zip(*(v.items or () for v in values), strict=True))
    functions = tuple(dict.fromkeys(f for v in values for f in v.functions))
    kinds = dict.fromkeys(k for v in values for k in v.kinds)
    if any(v.kinds != first.kinds for v in values):
        kinds[SOME] = None
    return MayBe(roots, items, functions, any(v.is_open for v in values), tuple(kinds),
                 trace=merged(value.made for value in values), of=decided_by(values))


def decided_by(values: Iterable[MayBe]) -> frozenset[str]:
    """The parameters that decide whether the constants among `values` make another one, if all are constants."""
    found = _NO_ROOTS
    for value in values:
        if not (value.is_known or value.of):
            return _NO_ROOTS
        found = found | value.of
    return found


def mixed(values: Iterable[MayBe]) -> MayBe:
    """What may be made of all of `values`."""
    roots, has_objects, traces = _NO_ROOTS, False, list[Trace]()
    for value in values:
        if value is NOTHING:
            continue
        if value.roots or value.items:
            roots = roots | value.everything()
        has_objects = has_objects or value.has_objects()
        if value.items is not None:
            traces.extend(made(value.items))
        elif (trace := value.made) is not NO_TRACE:
            traces.append(trace)
    trace = blended(traces) if traces else NO_TRACE
    if not roots and not has_objects and trace is NO_TRACE:
        return NOTHING
    return _mixture(roots, has_objects, trace) if trace.is_bare else _mixture.__wrapped__(roots, has_objects, trace)


@functools.lru_cache(1 << 12)
def _mixture(roots: frozenset[str], has_objects: bool, trace: Trace) -> MayBe:
    return MayBe(roots, kinds=(SOME,) if has_objects else (), trace=trace)


def made(values: Iterable[MayBe]) -> Iterator[Trace]:
    """What the values, and the elements of those that are tuples, are made of."""
    for value in values:
        if value.items is None:
            yield value.made
        else:
            yield from made(value.items)


def constant(value: Any) -> MayBe:
    """A constant, where it is one that tests and indices are made of."""
    return MayBe(said=(type(value), value)) if isinstance(value, _PLAIN) else NOTHING


TRUE, FALSE = constant(True), constant(False)
Env = dict[str, MayBe]  # what the names of a function hold


def of_global(found: Any) -> MayBe:
    """What a name outside of the function holds."""
    found = unwrap_constexpr(found)
    value = plain(found)
    if isinstance(value, tuple):
        kinds = (Object(type(value)),) if type(value) is not tuple else ()
        return MayBe(items=tuple(of_global(v) for v in value), kinds=kinds)
    if value is not UNKNOWN and type(value).__name__ != "dtype":
        return constant(value)
    return MayBe(is_open=True) if found is UNKNOWN else MayBe(functions=(Object(found),))
