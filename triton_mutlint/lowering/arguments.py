"""One variant's arguments in the form Triton's ASTSource takes, and who owns each TTIR argument."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from triton_mutlint.lowering import triton_api
from triton_mutlint.types import (
    ArgOwner,
    ArgRole,
    ArgType,
    ConstexprValue,
    DescriptorType,
    PointerType,
    TupleType,
)


@dataclass
class SourceArguments:
    """`signature`, `constants` and `attributes` as ASTSource names them; `owners` in TTIR order."""

    signature: dict[str, Any] = field(default_factory=dict)
    constants: dict[tuple[int, ...], Any] = field(default_factory=dict)
    attributes: dict[tuple[int, ...], Any] = field(default_factory=dict)
    owners: list[ArgOwner] = field(default_factory=list)


def build(args: Mapping[str, ArgType]) -> SourceArguments:
    """Arguments in signature order; `args` must name every parameter in order."""
    out = SourceArguments()
    for index, (name, arg) in enumerate(args.items()):
        out.signature[name] = _entry(arg, (index,), name, out)
    return out


def flat_args(args: Mapping[str, ArgType]) -> dict[str, ArgType]:
    """What each argument of a variant is, by its flattened name."""
    return {name: kind for owner, arg in args.items() for name, kind in flat_names(owner, arg)}


def flat_names(name: str, arg: ArgType) -> Iterator[tuple[str, ArgType]]:
    """The reported parameters of one argument: itself, or a tuple's elements as `name.i`."""
    if not isinstance(arg, TupleType):
        yield name, arg
        return
    for label, element in zip(arg.labels, arg.elements, strict=True):
        yield from flat_names(f"{name}.{label}", element)


def _entry(arg: ArgType, path: tuple[int, ...], name: str, out: SourceArguments) -> Any:
    if isinstance(arg, TupleType):
        parts = [_entry(element, (*path, i), f"{name}.{label}", out)
                 for i, (label, element) in enumerate(zip(arg.labels, arg.elements, strict=True))]
        if not arg.fields:
            return tuple(parts)
        made = arg.cls or namedtuple("Arguments", arg.fields)
        return made(*parts)
    if isinstance(arg, ConstexprValue):
        out.constants[path] = arg.value
        return "constexpr"
    if isinstance(arg, DescriptorType):
        if not triton_api.has_descriptor_types():  # an address, which the kernel makes a descriptor of
            out.owners.append(ArgOwner(name, ArgRole.ADDRESS))
            return "nvTmaDesc"
        rank = len(arg.block_shape)
        out.owners.append(ArgOwner(name, ArgRole.ADDRESS))
        out.owners.extend([ArgOwner(name, ArgRole.META)] * (2 * rank))  # shape (i32), strides (i64)
        return f"tensordesc<{arg.element}{list(arg.block_shape)}{',' if arg.layout else ''}{arg.layout}>"
    role = ArgRole.ADDRESS if isinstance(arg, PointerType) else ArgRole.SCALAR
    out.owners.append(ArgOwner(name, role))
    if arg.divisibility != 1:
        out.attributes[path] = [["tt.divisibility", arg.divisibility]]
    if isinstance(arg, PointerType):
        return f"*{'k' if arg.const else ''}{arg.element}"
    return arg.name
