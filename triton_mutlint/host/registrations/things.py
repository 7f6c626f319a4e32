"""What code that registers ops handles, beside the values of all other code: libraries, events, strings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triton_mutlint.host.model import Form
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import KEYS, Arguments, Cell
from triton_mutlint.host.values.values import (
    NO_VALUE,
    ClassValue,
    FunctionValue,
    Observed,
    Partial,
    ScopeId,
    Sort,
    Thing,
    Value,
    constant,
    join,
    thing,
    told,
)
from triton_mutlint.host.values.written import Spot, Written, hashed_once

AT_RUN_TIME = "it is computed at run time"
PASSED = "it is what a caller passes"
LONG = 1 << 16  # of strings and lists that are made, in characters and items
_OPS = "torch.ops."
_OPEN, _CLOSE = "\x02", "\x03"  # around what stands for a part of a string that is not known


@dataclass(frozen=True, eq=False)
class Step:
    """Where something is registered: at `site`, by way of the calls `path`, the innermost last.

    `depth` is the site's place in the path: not 0 where a function of the file, called once, names the op.
    """

    site: Spot
    path: tuple[ast.AST, ...]
    depth: int = 0


@dataclass(frozen=True, eq=False)
class _Event:
    """`state` is what containers held then."""

    name: Value
    step: Step
    state: State


@dataclass(frozen=True, eq=False)
class OpEvent(_Event):
    """An op is defined.

    `mutates` is what was passed (None: left out, so that `default` holds), `schema` a schema string,
    with the name or without. `api` is the function called, `required` that it insists on the list;
    `open` that arguments were passed which cannot be seen. `before` are arguments that a schema has before those
    that are inferred from the function.
    """

    form: Form
    api: str
    function: Value | None = None
    mutates: Value | None = None
    schema: Value | None = None
    default: tuple[str, ...] | None = ()
    required: bool = False
    open: bool = False
    before: tuple[str, ...] = ()
    tags: Value | None = None


@dataclass(frozen=True, eq=False)
class ImplEvent(_Event):
    """An op gets an implementation; `keys` are the dispatch keys or device types it is for."""

    function: Value
    keys: Value | None = None
    keyset: bool = False  # the function takes the dispatch keys before the op's arguments
    sure: bool = True  # the object it is registered with is known to register


Event = OpEvent | ImplEvent


@hashed_once
@dataclass(frozen=True)
class Library(Observed):
    """A `torch.library.Library`."""

    namespace: Value


@dataclass(frozen=True)
class Opaque(Observed):
    """Something not known, and why."""

    reason: str


def opaque(reason: str) -> Value:
    return Value(things=frozenset([Opaque(reason)]), kind=Sort.OTHER)


def is_unknown(value: Value) -> bool:
    """Whether nothing is known of it."""
    return not value.cells and value.constant is None and not value.texts and all(
        isinstance(one, Opaque) for one in value.things)


def is_none(value: Value | None) -> bool:
    """Whether it is None, or left out."""
    return value is None or value.is_constant(None)


def take(arguments: Arguments, index: int | None, name: str) -> Value | None:
    """The argument called `name`, or at `index`; not what a `*` or `**` may give."""
    if name in arguments.named:
        return arguments.named[name]
    return arguments.positional[index] if index is not None and index < len(arguments.positional) else None


def is_open(arguments: Arguments) -> bool:
    """Whether there are more arguments than can be seen."""
    return arguments.star is not None or arguments.double_star is not None


def pending(callee: Thing, arguments: Arguments, parameter: str) -> Value:
    """A registering function with some of its arguments; the next call gives `parameter`."""
    rest = join(*(v for v in (arguments.star, arguments.double_star) if v is not None)) if is_open(arguments) else None
    return thing(Partial(thing(callee), arguments.positional, tuple(arguments.named.items()), rest, parameter))


# --------------------------------------------------------------------------- lists


def each_in(content: Cell) -> list[Value] | None:
    """What a loop over a container is given, one after the other; None where there may be more."""
    if content.rest.kind & Sort.OTHER or content.source != NO_VALUE:
        return None
    if content.kind == "dict":
        keys = [written(key) for key in content.fields if key != KEYS]
        return keys if content.rest == NO_VALUE else None
    if content.kind in ("list", "tuple"):
        held = [content.fields[key] for key in sorted(k for k in content.fields if isinstance(k, int))]
        return [*held, *(_split(content.rest) if content.rest != NO_VALUE else ())]
    return None


def is_whole(content: Cell) -> bool:
    """Whether just that is in it."""
    return content.size is not None or content.kind in ("dict", "object")


def _split(value: Value) -> list[Value]:
    """Its possibilities, one by one."""
    found = [Value(cells=frozenset([cell])) for cell in sorted(value.cells, key=repr)]
    found.extend(thing(one) for one in value.things)
    found.extend(map(written, strings(value)))
    return found if found and not is_unknown(value) else [value]


# --------------------------------------------------------------------------- strings


def hole(name: str) -> str:
    """What stands in a string for a part that is not known."""
    return f"{_OPEN}{name}{_CLOSE}"


def has_hole(text: object) -> bool:
    return isinstance(text, str) and _OPEN in text


def shown(text: str) -> str:
    """A string for people: what is not known stands in braces."""
    return text.replace(_OPEN, "{").replace(_CLOSE, "}")


def string(value: Value | None) -> str | None:
    """The string that a value is, if it is one and known."""
    known = value.constant[1] if value is not None and value.constant is not None else None
    return known if isinstance(known, str) and not has_hole(known) else None


def strings(value: Value) -> list[Written]:
    """The strings that a value may be, in some order."""
    return sorted(told(value))


def as_text(value: Value | None, name: str) -> str:
    """A value as a string: a hole of that name where it is not known."""
    return str(value.constant[1]) if value is not None and value.constant is not None else hole(name)


def written(value: object, spot: Spot | None = None) -> Value:
    """The value that is a constant; a string was written at `spot`, unless it says where itself."""
    if not isinstance(value, str):
        return constant(value)
    return Value(constant=(str, Written.at(value, value.spot if isinstance(value, Written) else spot)), kind=Sort.PLAIN)


def is_schema(value: Value) -> bool:
    texts = strings(value)
    return bool(texts) and all(has_hole(text) or ("->" in text and "(" in text) for text in texts)


def op_of(one: Thing) -> str:
    """The name of the op that `torch.ops.ns.name.default` is."""
    name = one.name if isinstance(one, External) else ""
    return name[len(_OPS):].removesuffix(".default").replace(".", "::", 1) if name.startswith(_OPS) else ""


def op_itself(name: str) -> Value:
    """What stands for an op of that name, as registering it gives it."""
    return thing(External(_OPS + name.replace("::", ".", 1)))


def op_named(op: Value) -> Value:
    """The name of an op that is given itself, or by its name."""
    return next((written(name) for one in op.things if (name := op_of(one))), op)


def op_name(library: Library | None, name: Value) -> Value:
    """The full name of op `name` of a library."""
    named = op_named(name)
    texts = strings(named)
    local = texts[0] if len(texts) == 1 and not named.things else Written(hole("name"))
    space = "" if "::" in local else as_text(library.namespace if library is not None else None, "…") + "::"
    return written(space + local, local.spot)


def snapshot(values: Iterable[Value | None], state: State, shared: State) -> State:
    """What the containers in some values, and the closures of functions among them, hold now."""
    found = State(scopes=state.scopes)
    pending = [value for value in values if value is not None]
    while pending:
        value = pending.pop()
        for cell in value.cells - found.heap.keys():
            content = found.heap[cell] = state.cell(cell) or Cell()
            pending.extend((content.rest, *content.fields.values()))
        for one in value.things:
            if isinstance(one, Partial):
                pending.extend((one.function, *one.positional, *(given for _, given in one.keywords)))
            elif isinstance(one, (FunctionValue, ClassValue)):
                pending.extend(_around(one.scope, found, state, shared))
    return found


def _around(scope: ScopeId | None, found: State, state: State, shared: State) -> Iterator[Value]:
    """Take over the names of a scope and of those around it; gives what they hold."""
    while scope is not None and scope not in found.names:
        names = found.names[scope] = {**shared.names.get(scope, {}), **state.names.get(scope, {})}
        yield from names.values()
        scope = state.scopes.get(scope)


def is_told(event: Event) -> bool:
    """Whether it is known which function an op has, or what its schema is."""
    if event.function is None:
        return isinstance(event, OpEvent) and event.schema is not None and bool(strings(event.schema)) and all(
            not has_hole(text.partition("(")[2]) for text in strings(event.schema))
    things = event.function.things
    return Opaque(PASSED) not in things and any(isinstance(one, (FunctionValue, Partial)) for one in things)
