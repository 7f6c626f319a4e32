"""The arguments that a kernel is lowered with, in Triton's notation, and which of them were guessed."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Union

from triton_mutlint.basics import EMPTY


@dataclass(frozen=True)
class PointerType:
    """A pointer argument, Triton notation `*fp32`, `*fp32:16`, `*kfp32` (const)."""

    element: str
    const: bool = False
    divisibility: int = 1

    def __str__(self) -> str:
        suffix = f":{self.divisibility}" if self.divisibility != 1 else ""
        return f"*{'k' if self.const else ''}{self.element}{suffix}"


@dataclass(frozen=True)
class ScalarType:
    """A scalar argument, `i32`, `u64`, `fp32`, `i1`; `i32:16` means divisible by 16."""

    name: str
    divisibility: int = 1

    def __str__(self) -> str:
        return f"{self.name}:{self.divisibility}" if self.divisibility != 1 else self.name


@dataclass(frozen=True)
class DescriptorType:
    """A host tensor descriptor, `tensordesc<fp16[64, 64]>`; `block_shape` in elements.

    `layout` is that of a Gluon descriptor, as Python writes it; "" stands for the default.
    """

    element: str
    block_shape: tuple[int, ...]
    layout: str = ""

    def __str__(self) -> str:
        layout = f", {self.layout}" if self.layout else ""
        return f"tensordesc<{self.element}[{', '.join(map(str, self.block_shape))}]{layout}>"


@dataclass(frozen=True)
class ConstexprValue:
    """A compile-time value; `None` stands for an absent optional argument too.

    `text` is how the value is shown in reports (`relu`, `tl.float16`, `128`).
    """

    value: Any
    text: str = ""

    def __str__(self) -> str:
        return self.text or repr(self.value)


@dataclass(frozen=True)
class TupleType:
    """A tuple argument; `cls` is the namedtuple class when its fields have names."""

    elements: tuple[ArgType, ...]
    fields: tuple[str, ...] = ()
    cls: type | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """What each element is called after the tuple's name: `name.field`, `name.0`."""
        return self.fields or tuple(map(str, range(len(self.elements))))

    def holding(self, parts: Sequence[Any]) -> Any:
        """A tuple of its kind that holds these."""
        return (self.cls or namedtuple("Arguments", self.fields))(*parts) if self.fields else tuple(parts)

    def __str__(self) -> str:
        if self.fields:
            name = self.cls.__name__ if self.cls else ""
            inner = ", ".join(f"{f}={e}" for f, e in zip(self.fields, self.elements, strict=True))
            return f"{name}({inner})"
        return f"({', '.join(map(str, self.elements))}{',' if len(self.elements) == 1 else ''})"


# Union, not `|`: evaluated at run time, where a forward reference is a string.
def unwrap_constexpr(value: Any) -> Any:
    """The value inside a `tl.constexpr`; anything else as it is."""
    return value.value if type(value).__name__ == "constexpr" and hasattr(value, "value") else value


ArgType = Union[PointerType, ScalarType, DescriptorType, ConstexprValue, TupleType]  # noqa: UP007


Choices = tuple[tuple[str, str], ...]  # the arguments in which a variant differs from others, as printed


@dataclass(frozen=True)
class Variant:
    """One concrete set of arguments under which a kernel is lowered.

    `args` names every parameter, in order. `choices` are the values that tell this variant from
    its siblings, as printed (`("BLOCK", "128")`); `options` are compile options (`num_warps`, ...).
    """

    args: Mapping[str, ArgType]
    choices: Choices = ()
    options: Mapping[str, Any] = EMPTY


class Origin(str, Enum):
    """Where a kernel's signature came from."""

    SPEC = "spec"
    INFERRED = "inferred"
    MIXED = "mixed"
    COMPILED = "compiled"  # by Triton, in an earlier run


@dataclass(frozen=True)
class Doubts:
    """Where guessed arguments may hide a write; parameters are by their reported names.

    `stores` holds the parameters that the body, as written, may store through, each with the line;
    `open` says that guesses decide which of those stores are compiled. `addresses` holds the scalars
    that may be addresses for all that is known, each with the line where they are used as such (0: nowhere).
    `narrow` holds those that are guessed too narrow to carry an address to where one is made of a number, and
    `kept` those that are put into memory as wide integers, each with the line. `casts` says that the source makes
    pointers of numbers.
    `numbers` holds those that cannot be addresses, by what is done with them.
    `values` names the parameters whose compile-time values are guesses.
    `loads` holds the parameters that the body, as written, may read from. `behind` holds those through whose memory,
    which holds addresses, it may store, each with the line. `unsettled` are those of the plan.
    """

    stores: Mapping[str, int] = EMPTY
    addresses: Mapping[str, int] = EMPTY
    open: bool = True
    narrow: frozenset[str] = frozenset()
    kept: Mapping[str, int] = EMPTY
    casts: bool = False
    numbers: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()
    loads: frozenset[str] = frozenset()
    behind: Mapping[str, int] = EMPTY
    unsettled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Site:
    """A place in a kernel's source at which something is done, and what: "store", "load", "keep" and the like.

    `path` has the places of the calls that lead there, from the kernel's own body on; `line` is a line of that body.
    """

    kind: str
    path: tuple[tuple[int, ...], ...]

    @property
    def line(self) -> int:
        return self.path[0][0]


@dataclass(frozen=True)
class Footprint:
    """What the source of a kernel may touch, under what is given of its compile-time values.

    `sites` are the places at which something may be done to the memory of a parameter: `ptrs.1` is an element of a
    tuple, `*ptrs` an address in its memory, `*` one in memory that is not known, and "" stands for what is no
    parameter. What is kept is an address that may be put into memory.
    """

    sites: Mapping[str, frozenset[Site]]

    def lines(self, kind: str) -> dict[str, int]:
        """The parameters to which something of a kind may be done, each with the first line of the kernel's body."""
        found = {name: [s.line for s in sites if s.kind == kind] for name, sites in self.sites.items()}
        return {name: min(lines) for name, lines in found.items() if lines}

    def asks(self, kind: str) -> bool:
        """Whether the source asks for the "type" or the "size" of a value."""
        return any(site.kind == kind for site in self.sites.get("", ()))

    @cached_property
    def stores(self) -> frozenset[str]:
        """The parameters that may be stored through, also by way of memory."""
        found = {*self.lines("store"), *(self.lines("keep") if self.indirect else ())}
        return frozenset(name for name in found if not name.startswith("*"))

    @cached_property
    def indirect(self) -> Mapping[str, int]:
        """The addresses in memory that may be stored through, each with the first line; also those put elsewhere."""
        found = {name: line for name, line in self.lines("store").items() if name.startswith("*")}
        kept = (name for name in self.lines("keep") if name.startswith("*"))
        return {**dict.fromkeys(kept, min(found.values())), **found} if found else found

    def at(self, parameter: str) -> frozenset[Site]:
        """What is done to a parameter of the kernel, or to an element of it."""
        names = [n for n in self.sites if n.partition(".")[0] == parameter or (n.startswith("*") and not parameter)]
        return frozenset[Site]().union(*(self.sites[name] for name in names))


@dataclass(frozen=True)
class Plan:
    """The variants to analyse for one kernel, and where the types came from.

    `total` counts the variants that exist; `variants` may be fewer when a cap bites.
    `inferred` holds the parameters that the spec did not give; `reasons` says, per parameter, why. `assumed` holds
    those of which nobody said that the value is meant: the default of the source, where no spec entry gives the rest
    of a launch, and what a heuristic gave for arguments that are not known. `partial` holds those of `inferred` that
    the source takes other values of, too. `footprints` has that of each variant, where there are several. `unsettled`
    names what the kernel reads outside of functions and another launch may find to be something else.
    """

    variants: tuple[Variant, ...]
    total: int
    origin: Origin
    inferred: frozenset[str] = frozenset()
    assumed: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = EMPTY
    notes: tuple[str, ...] = ()
    doubts: Doubts | None = None
    footprints: tuple[Footprint, ...] = ()  # as `variants`
    unsettled: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LaunchArgument:
    """What a launch in host code passes for one parameter, as far as that is known.

    `constant` is (type, value); `items` are the elements of a tuple of known length; `function` is a jit function by
    the file, the name and the line of its `def`. `is_tensor` says that it is a tensor, or None unless it `is_present`,
    `is_number` that it is a number, a text or the like, and carries no address.
    """

    constant: tuple[type, object] | None = None
    items: tuple[LaunchArgument, ...] | None = None
    function: tuple[str, str, int] | None = None
    is_tensor: bool = False
    is_present: bool = False
    is_number: bool = False


@dataclass(frozen=True)
class OtherLaunch:
    """What a launch may do that no analysed variant does: its values are those of none of them.

    `stores` are the parameters that the source may store through then (`ptrs.2` is an element of a tuple), `behind`
    says that it may through addresses in memory. `values` names the values that no variant has; `like_variant` says
    that it is the launch of one after all.
    """

    stores: frozenset[str] = frozenset()
    behind: bool = False
    values: str = ""
    like_variant: bool = False

    def of(self, parameters: Set[str]) -> frozenset[str]:
        """What it may store through of some parameters; an element of a tuple counts as any of its."""
        owners = {name.partition(".")[0] for name in parameters}
        return frozenset(name for name in self.stores if name.partition(".")[0] in owners)
