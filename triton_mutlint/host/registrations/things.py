"""What code that registers ops handles, beside the values of all other code: libraries, schemas, what is to come."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.registrations.events import OpEvent
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.cells import KEYS, Cell
from triton_mutlint.host.values.hashing import hashed_once
from triton_mutlint.host.values.texts import Spot, Text, Written
from triton_mutlint.host.values.values import (
    NO_VALUE,
    CellId,
    ClassValue,
    Observed,
    Partial,
    Sort,
    Thing,
    Value,
    constant,
    thing,
    told,
)

AT_RUN_TIME = "it is computed at run time"
PASSED = "it is what a caller passes"
LONG = 1 << 16  # of strings and lists that are made, in characters and items


@hashed_once
@dataclass(frozen=True)
class Library(Observed):
    """A `torch.library.Library`."""

    namespace: Value


@dataclass(frozen=True)
class Registered(Observed):
    """What registering an op gave."""

    event: OpEvent


@hashed_once
@dataclass(frozen=True)
class InferredSchema(Observed):
    """A schema inferred from a function, after the text `prefix`."""

    function: Value
    mutates: Value | None = None
    prefix: Text = field(default_factory=lambda: Text(""))


@hashed_once
@dataclass(frozen=True)
class Pending(Observed):
    """A registering function with some of its arguments; the next call gives `parameter`."""

    callee: Thing
    positional: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]
    rest: Value | None
    parameter: str


@dataclass(frozen=True)
class Opaque(Observed):
    """Something not known, and why."""

    reason: str


@dataclass(frozen=True, eq=False)
class Imported(Observed):
    """What an import inside code binds a name to; looked up when it is used."""

    module: HostModule
    node: ast.Import | ast.ImportFrom
    name: str


def opaque(reason: str) -> Value:
    return Value(things=frozenset([Opaque(reason)]), kind=Sort.OTHER)


def is_unknown(value: Value) -> bool:
    """Whether nothing is known of it."""
    return not value.cells and value.constant is None and not value.texts and all(
        isinstance(one, Opaque) for one in value.things)


def is_none(value: Value | None) -> bool:
    """Whether it is None, or left out."""
    return value is None or value.is_constant(None)


def snapshot(values: Iterable[Value | None], state: State) -> State:
    """What the containers in some values hold now."""
    held: dict[CellId, Cell] = {}
    pending = [value for value in values if value is not None]
    while pending:
        value = pending.pop()
        for cell in value.cells - held.keys():
            content = held[cell] = state.cell(cell) or Cell()
            pending.extend((content.rest, *content.fields.values()))
        for one in value.things:
            if isinstance(one, Partial):
                pending.extend((one.function, *one.positional, *(given for _, given in one.keywords)))
            elif isinstance(one, InferredSchema):
                pending.extend((one.function, one.mutates or NO_VALUE))
    return State(heap=held)


# --------------------------------------------------------------------------- lists


def each_in(content: Cell) -> list[Value] | None:
    """What a loop over a container is given, one after the other; None where there may be more."""
    if content.rest.kind & Sort.OTHER or content.source != NO_VALUE:
        return None
    if content.kind == "dict":
        keys = [written(key, None) for key in content.fields if key != KEYS]
        return keys if content.rest == NO_VALUE else None
    if content.kind in ("list", "tuple") or (content.owner is not None and is_row(content.owner)):
        held = [content.fields[key] for key in sorted(k for k in content.fields if isinstance(k, int))]
        return [*held, *(_split(content.rest) if content.rest != NO_VALUE else ())]
    return None


def is_whole(content: Cell) -> bool:
    """Whether just that is in it."""
    return content.size is not None or content.kind in ("dict", "object")


def is_row(owner: ClassValue) -> bool:
    """Whether a class is a named tuple."""
    return any(getattr(base, "attr", getattr(base, "id", "")) == "NamedTuple" for base in owner.node.bases)


def _split(value: Value) -> list[Value]:
    """Its possibilities, one by one."""
    found = [Value(cells=frozenset([cell])) for cell in sorted(value.cells, key=repr)]
    found.extend(thing(one) for one in value.things)
    found.extend(text_value(text) for text in strings(value))
    return found if found and not is_unknown(value) else [value]


# --------------------------------------------------------------------------- strings


def string(value: Value | None) -> str | None:
    """The string that a value is, if it is one and known."""
    if value is None or value.constant is None or not isinstance(value.constant[1], str):
        return None
    return value.constant[1]


def strings(value: Value) -> list[Text]:
    """The strings that a value may be, in some order."""
    return sorted(told(value), key=lambda text: text.text)


def as_text(value: Value, shown: str) -> Text:
    """A value as a string: `{shown}` where it is not known."""
    if value.constant is not None:
        return Text(value.constant[1]) if isinstance(value.constant[1], str) else Text(str(value.constant[1]))
    if len(value.texts) == 1 and value.kind == Sort.PLAIN and not value.cells and not value.things:
        return next(iter(value.texts))
    return Text(f"{{{shown}}}", False)


def joined(parts: Iterable[Text]) -> Text:
    """The strings one after the other."""
    several = list(parts)
    if sum(len(part.text) for part in several) > LONG:
        return Text("{…}", False)
    return Text("".join(part.text for part in several), all(part.known for part in several))


def text_value(text: Text, spot: Spot | None = None) -> Value:
    """The value that is a string, written at `spot` unless it says where itself."""
    whole = Written.at(text.text, text.spot or spot)
    if text.known:
        return Value(constant=(str, whole), kind=Sort.PLAIN)
    return Value(kind=Sort.PLAIN, texts=frozenset([Text(whole, False)]))


def written(value: object, spot: Spot | None) -> Value:
    """What a constant in code gives."""
    return text_value(Text(value), spot) if isinstance(value, str) else constant(value)
