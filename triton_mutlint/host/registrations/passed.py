"""What a registering call is passed, and what that says of an op: its name, its schema."""

from __future__ import annotations

from dataclasses import replace

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.registrations.things import (
    InferredSchema,
    Library,
    Opaque,
    Pending,
    as_text,
    joined,
    string,
    strings,
    text_value,
)
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.texts import Text
from triton_mutlint.host.values.values import (
    Thing,
    Value,
    join,
    thing,
)


def take(arguments: Arguments, index: int | None, name: str) -> Value | None:
    """The argument called `name`, or at `index`; not what a `*` or `**` may give."""
    if name in arguments.named:
        return arguments.named[name]
    return arguments.positional[index] if index is not None and index < len(arguments.positional) else None


def is_open(arguments: Arguments) -> bool:
    """Whether there are more arguments than can be seen."""
    return arguments.star is not None or arguments.double_star is not None


def pending(callee: Thing, arguments: Arguments, parameter: str) -> Value:
    rest = join(*(v for v in (arguments.star, arguments.double_star) if v is not None)) if is_open(arguments) else None
    return thing(Pending(callee, arguments.positional, tuple(arguments.named.items()), rest, parameter))


def passed(registrar: Registrar, arguments: Arguments, parameter: str) -> Value | None:
    """What is passed for a registrar's parameter."""
    index = registrar.order.index(parameter) if parameter in registrar.order else None
    return take(arguments, index, parameter) if parameter else None


def schemas(value: Value) -> list[Value]:
    """The schemas that a value may be."""
    found = [thing(one) for one in value.things if isinstance(one, InferredSchema)]
    found.extend(text_value(text) for text in strings(value))
    return found or [value]


def may_be_library(value: Value) -> bool:
    return not strings(value) and string(value) is None and all(isinstance(t, Opaque) for t in value.things)


def is_schema(value: Value) -> bool:
    texts = strings(value)
    return any(isinstance(one, InferredSchema) for one in value.things) or (
        bool(texts) and all("->" in text.text and "(" in text.text for text in texts))


def overload(op: Value) -> Value:
    return next((text_value(Text(name)) for one in op.things if (name := op_of(one))), op)


def op_of(one: Thing) -> str:
    """The name of the op that `torch.ops.ns.name.default` is."""
    if not isinstance(one, External) or not one.name.startswith("torch.ops."):
        return ""
    parts = one.name.split(".")[2:]
    overload = f".{parts[2]}" if len(parts) > 2 and parts[2] != "default" else ""
    return "::".join(parts[:2]) + overload


def named_by(schema: Value) -> Value:
    """The name that a schema begins with."""
    for one in schema.things:
        if isinstance(one, InferredSchema):
            return text_value(one.prefix)
    texts = strings(schema)
    if not texts:
        return schema
    name = texts[0].text.partition("(")[0].strip()
    return text_value(Text(name, texts[0].known or "{" not in name), texts[0].spot)


def op_name(library: Library | None, name: Value) -> Value:
    """The full name of op `name` of a library."""
    shown = as_text(overload(name), "name")
    if "::" in shown.text:
        return text_value(shown)
    space = as_text(library.namespace, "…") if library is not None else Text("{…}", False)
    return text_value(joined([space, Text("::"), replace(shown, text=str(shown.text))]), shown.spot)
