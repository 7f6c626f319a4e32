"""What a kernel's body tells about one parameter, and of which parameters a value is made.

A `Slot` stands for a parameter, or for an element or field of one. The walk over the body notes facts on slots as it
meets them (`learning`); nothing is decided here. A `Trace` says which slots a value is (as the base of an address, or
as they stand), which took part in it, and from whose memory it was loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Union

from triton_mutlint.kernel_source.dtypes import FLOATING, promoted

Dtype = Union[str, "Slot", None]
"""A dtype name (`*fp32` for a pointer), `int`/`float` for a Python literal, or "as the elements of that slot"."""


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
    modelled: dict[tuple[Trace, bool], int] = field(default_factory=dict)  # what is cast to its type, whether by bits
    kept: int = 0  # took part in what is stored in memory
    integer: int = 0
    floating: int = 0
    arithmetic: int = 0  # an operand, so not None
    number: int = 0  # multiplied and the like as it stands, so not a pointer
    fraction: int = 0  # computed with beside a floating-point number
    scalar: int = 0  # compared or cast as a number, so not a pointer there
    truth: int = 0  # a mask, or an operand of `not`, `and` or `or`, so a boolean
    exponent: int = 0  # a number of bits
    divides: int = 0  # a compile-time size is divided by it
    unit: int = 0  # the last stride of a tensor descriptor, which must be the constant 1
    descriptor: int = 0
    ranks: tuple[tuple[frozenset[str], ...], ...] = ()  # per access: parameters scaling each offset
    branch: int = 0  # used as a condition
    none_test: int = 0
    matters: int = 0  # decides whether something is written, or through which pointer
    dtype: int = 0
    shape: int = 0  # a dimension of a tensor: a power of two
    unroll: int = 0  # bound of static_range
    called: int = 0  # line of `F(...)`
    arity: int = -1
    literals: tuple[Any, ...] = ()  # compared with ==, !=, in
    bounds: tuple[Any, ...] = ()  # compared with <, >=, ...
    keyword: str = ""  # the option of a tl function it is passed as (`cache_modifier`)
    # how the elements of its memory are used
    loaded: int = 0
    stored: int = 0
    elem_int: int = 0
    elem_address: int = 0
    table: int = 0  # its elements are addresses, with nothing added
    elem_dtype: str = ""
    elem_bits: int = 0
    gathered: int = 0  # rows gathered or scattered: a descriptor block of one row
    movers: set[Slot] = field(default_factory=set)  # what decides whether a name holds this or another
    kin: list[Slot] = field(default_factory=list)  # a name holds this slot or one of those
    handed: int = 0  # given to a function that is itself a parameter
    summed: dict[Slot, bool] = field(default_factory=dict)  # with what it is added up; true: as a wide integer
    children: dict[int | str, Slot] = field(default_factory=dict)

    def child(self, key: int | str) -> Slot:
        found = self.children.get(key)
        if found is None:
            found = self.children[key] = Slot(self.name, (*self.path, key), self.constexpr)
        return found

    def give_dtype(self, dtype: str) -> None:
        if dtype not in ("int", "float"):
            self.elem_dtype = self.elem_dtype or dtype

    @property
    def measured(self) -> bool:
        """Whether it is an address used as a number: what is added to it may make the distance to another one."""
        here = bool(self.to_int and (self.pointer or self.descriptor))
        return here or any(child.measured for child in self.children.values())

    @property
    def holds_addresses(self) -> bool:
        """Whether something in its memory is made an address."""
        return bool(self.table or self.elem_address) or any(c.holds_addresses for c in self.children.values())

    @property
    def distant(self) -> bool:
        """Whether it is added up with an address used as a number."""
        return any(wide and other.measured for other, wide in self.summed.items())

    def __repr__(self) -> str:
        return "<" + ".".join(map(str, (self.name, *self.path))) + ">"


Slots = frozenset[Slot]
NONE: Slots = frozenset()


@dataclass(frozen=True)
class Trace:
    """`base` are alternatives: the value is one of these, perhaps plus offsets. `mixed` are scalars that took part in
    it, `memory` those from whose memory elements were loaded that it is made of. `dtype` is the type of the value, or
    the one that it stands for if it `is_dtype`. `factors` are the parameters it was multiplied by, and `tests` the
    slots that decided which compile-time value it is.
    """

    base: Slots = NONE
    mixed: Slots = NONE
    memory: Slots = NONE
    dtype: Dtype = None
    is_dtype: bool = False
    factors: frozenset[str] = frozenset()
    tests: Slots = NONE
    is_product: bool = False  # of two matrices, as they were loaded
    is_block: bool = False  # a block pointer, or a descriptor made in the kernel

    @property
    def bare(self) -> Slots:
        """The slots this value may be, unchanged."""
        return NONE if self.mixed or self.memory else self.base

    @property
    def is_bare(self) -> bool:
        """Whether no parameter took part in it."""
        return not (self.base or self.mixed or self.memory or self.tests)

    @property
    def takes_part(self) -> Slots:
        return self.base | self.mixed

    @property
    def decided(self) -> Slots:
        """The slots that a compile-time test on the value looks at."""
        return self.tests | self.base | self.mixed

    @property
    def points(self) -> bool:
        """Whether it was cast to a pointer type."""
        return isinstance(self.dtype, str) and self.dtype.startswith("*")

    @property
    def is_floating(self) -> bool:
        return isinstance(self.dtype, str) and self.dtype in FLOATING

    @property
    def is_integer(self) -> bool:
        return isinstance(self.dtype, str) and self.dtype not in FLOATING

    @property
    def is_whole(self) -> bool:
        """Whether it is an integer as Python's are passed."""
        return self.dtype in ("i32", "i64")

    @property
    def is_wide(self) -> bool:
        """Whether it is an integer that may hold an address."""
        return self.dtype in ("i64", "u64")

    @property
    def scales(self) -> frozenset[str]:
        """The compile-time parameters that it is, or was multiplied by."""
        return self.factors | {s.name for s in self.base if s.constexpr}

    def child(self, key: int | str) -> Trace:
        """An element or field of a parameter that it is; what is made of others is like its elements."""
        is_parameter = self.bare and self.dtype is None and not self.is_dtype
        return Trace(frozenset(slot.child(key) for slot in self.bare)) if is_parameter else self


NO_TRACE = Trace()
INT = Trace(dtype="i32")


def merged(traces: Iterable[Trace]) -> Trace:
    """One of several values."""
    found = NO_TRACE
    for trace in traces:
        if trace is NO_TRACE or trace is found:
            continue
        if found is NO_TRACE:
            found = trace
            continue
        dtype = found.dtype
        if dtype is None or dtype == "int" or (dtype == "float" and trace.dtype != "int"):
            dtype = trace.dtype if trace.dtype is not None else dtype
        found = Trace(found.base | trace.base, found.mixed | trace.mixed, found.memory | trace.memory, dtype,
                      found.is_dtype or trace.is_dtype, found.factors | trace.factors, found.tests | trace.tests,
                      found.is_block or trace.is_block)
    return found


def blended(traces: Iterable[Trace], dtype: Dtype = None) -> Trace:
    """A value computed elementwise from several."""
    mixed = memory = tests = NONE
    found: Dtype = None
    for trace in traces:
        if trace is not NO_TRACE:
            mixed, memory, tests = mixed | trace.takes_part, memory | trace.memory, tests | trace.tests
            found = promoted(found, trace.dtype)
    dtype = dtype if dtype is not None else found
    return Trace(NONE, mixed, memory, dtype, tests=tests) if mixed or memory or tests or dtype else NO_TRACE


def extended(seen: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    """`seen`, and what is new in `more`."""
    return seen + tuple(v for v in more if not any(v is s or (type(v) is type(s) and v == s) for s in seen))


def dtype_of(own: Trace, name: str) -> Trace:
    if own.is_dtype:
        return Trace(dtype=own.dtype, is_dtype=True) if own.base else own
    if not own.base:
        return Trace(dtype=own.dtype, is_dtype=own.dtype is not None)
    dtype = (own.dtype[1:] or None) if isinstance(own.dtype, str) and own.points else next(iter(own.base))
    itself = own.bare if name in ("dtype", "type") and not own.is_block else NONE
    return Trace(itself, dtype=dtype, is_dtype=True)
