"""What a kernel's body tells about one parameter, and the abstract values that carry it.

A `Slot` stands for a parameter, or for an element or field of one. The walk over the body writes
facts on slots; nothing is decided here. A `Value` is what an expression may be: which slots it is
(as the base of an address or as they stand), which slots were mixed into it, and the slots from
whose memory it was loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Union

Dtype = Union[str, "Slot", None]
"""A Triton dtype name, `int`/`float` for a Python literal, or "as the elements of that slot"."""

NO_CONST: Any = object()


@dataclass(eq=False)
class Slot:
    """A parameter (or an element of one) and the evidence for its type; lines are 1-based, 0 = none."""

    name: str
    path: tuple[int | str, ...] = ()
    constexpr: bool = False
    # how the value itself is used
    pointer: int = 0
    direct: int = 0  # computed with as it stands, not only through a cast
    to_int: int = 0  # `.to(tl.int64)`: an address, if it is cast back
    address_int: int = 0  # an integer cast to a pointer type
    addressed: int = 0  # took part in what is cast to a pointer type, or given to inline asm
    models: int = 0  # something is cast to its type
    models_loaded: int = 0  # something that was in memory
    kept: int = 0  # took part in what is stored in memory
    integer: int = 0
    weak_int: int = 0
    floating: int = 0
    weak_float: int = 0
    boolean: int = 0
    arithmetic: int = 0  # an operand, so not None
    number: int = 0  # multiplied and the like as it stands, so not a pointer
    scalar: int = 0  # compared or cast as a number, so not a pointer there
    exponent: int = 0  # a number of bits
    unit: int = 0  # the last stride of a tensor descriptor, which must be the constant 1
    descriptor: int = 0
    ranks: tuple[tuple[frozenset[str], ...], ...] = ()  # per access: parameters scaling each offset
    branch: int = 0  # used as a condition
    none_test: int = 0
    matters: int = 0  # decides whether something is written, or through which pointer
    dtype: int = 0
    shape: int = 0  # a dimension of a tensor: a power of two
    dot: int = 0
    unroll: int = 0  # bound of static_range
    text: int = 0
    called: int = 0  # line of `F(...)`
    arity: int = -1
    literals: tuple[Any, ...] = ()  # compared with ==, !=, in
    bounds: tuple[Any, ...] = ()  # compared with <, >=, ...
    keyword: str = ""  # the option of a tl function it is passed as (`cache_modifier`)
    # how the elements of its memory are used
    loaded: int = 0
    stored: int = 0
    elem_int: int = 0
    elem_weak_int: int = 0
    elem_float: int = 0
    elem_bool: int = 0
    elem_dot: int = 0
    elem_address: int = 0
    elem_dtype: str = ""
    elem_bits: int = 0
    gathered: int = 0  # rows gathered or scattered: a descriptor block of one row
    movers: set[Slot] = field(default_factory=set)  # what decides whether a name holds this or another
    kin: list[Slot] = field(default_factory=list)  # a name holds this slot or one of those
    handed: dict[tuple[Slot, int | str], int] = field(default_factory=dict)  # to which functions, as which argument
    summed: dict[Slot, bool] = field(default_factory=dict)  # with what it is added up; true: as a wide integer
    same_elem: Slot | None = None  # union-find parent: elements must have one type
    united: list[Slot] = field(default_factory=list)  # at the parent: the others
    children: dict[int | str, Slot] = field(default_factory=dict)
    parent: Slot | None = None
    length: int = 0  # of a tuple, where an unpacking says so

    def child(self, key: int | str) -> Slot:
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = Slot(self.name, (*self.path, key), self.constexpr, parent=self)
        return found

    def root(self) -> Slot:
        slot = self
        while slot.same_elem is not None:
            slot = slot.same_elem
        return slot

    def unite(self, other: Slot) -> None:
        """The elements of both have one type."""
        one, two = self.root(), other.root()
        if one is two:
            return
        two.same_elem = one
        one.united += [two, *two.united]
        two.united = []
        one.elem_dtype = one.elem_dtype or two.elem_dtype

    @property
    def measured(self) -> bool:
        """Whether it is an address used as a number: what is added to it may make the distance to another one."""
        here = bool(self.to_int and (self.pointer or self.descriptor))
        return here or any(child.measured for child in self.children.values())

    @property
    def distant(self) -> bool:
        """Whether it is added up with an address used as a number."""
        return any(wide and other.measured for other, wide in self.summed.items())

    def __repr__(self) -> str:
        return "<" + ".".join(map(str, (self.name, *self.path))) + ">"


Slots = frozenset[Slot]
NONE: Slots = frozenset()


class Value:
    """An abstract value; never changed after it was made."""

    __slots__ = ("base", "const", "dtype", "factors", "is_dtype", "items", "memory", "mixed", "ref", "tests")

    def __init__(
        self,
        base: Slots = NONE,
        mixed: Slots = NONE,
        memory: Slots = NONE,
        dtype: Dtype = None,
        const: Any = NO_CONST,
        items: dict[int | str, Value] | None = None,
        factors: frozenset[str] = frozenset(),
        is_dtype: bool = False,
        ref: Any = None,
        tests: Slots = NONE,
    ) -> None:
        self.base = base  # alternatives: the value is one of these, perhaps plus offsets
        self.mixed = mixed  # scalars that took part in it
        self.memory = memory  # it was made from elements loaded from these
        self.dtype = dtype
        self.const = const
        self.items = items  # elements of a tuple, fields of an aggregate
        self.factors = factors  # names of the parameters it was multiplied by
        self.is_dtype = is_dtype  # the value is a dtype: `dtype` says which
        self.tests = tests  # slots that decided which compile-time value it is
        self.ref = ref  # a Python object (function, class) that a name stands for

    @property
    def bare(self) -> Slots:
        """The slots this value may be, unchanged."""
        return NONE if self.mixed or self.memory else self.base

    def same(self, other: Value) -> bool:
        return (
            self.base == other.base
            and self.mixed == other.mixed
            and self.memory == other.memory
            and self.dtype == other.dtype
            and self._same_items(other)
        )

    def _same_items(self, other: Value) -> bool:
        if self.items is None or other.items is None:
            return self.items is other.items
        return self.items.keys() == other.items.keys() and all(v.same(other.items[k]) for k, v in self.items.items())


@dataclass(frozen=True)
class Either:
    """Several objects (functions) that a name may stand for: the `ref` of a value."""

    refs: tuple[Any, ...]


def refs_of(value: Value) -> tuple[Any, ...]:
    """The objects that a value may stand for."""
    return value.ref.refs if isinstance(value.ref, Either) else () if value.ref is None else (value.ref,)


def either(refs: Iterable[Any]) -> Any:
    """A `ref` for all of `refs`."""
    found = tuple({id(ref): ref for ref in refs}.values())
    return Either(found) if len(found) > 1 else next(iter(found), None)


NOTHING = Value()
INT = Value(dtype="i32")


def union(a: Slots, b: Slots) -> Slots:
    if not b or a is b:
        return a
    return a | b if a else b


def every(values: Iterable[Value]) -> Iterator[Value]:
    """The values and the elements of those that are tuples."""
    for value in values:
        if value.items is None:
            yield value
        else:
            yield from every(value.items.values())
