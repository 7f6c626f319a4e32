"""What a spec gives for a parameter, as argument types: texts become types or values by the parameter."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from triton_mutlint.basics import did_you_mean, nearest, plural
from triton_mutlint.source.slicing.stubs import Missing
from triton_mutlint.spec.model import ArgSpec, KernelSpec, SpecValue
from triton_mutlint.spec.nodes import Node, show_path
from triton_mutlint.spec.notation import (
    DOTTED,
    Resolve,
    TypeTextError,
    parse_literal,
    parse_type,
    resolve_name,
    split_top,
)
from triton_mutlint.spec.values import type_of_value
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    Failure,
    Kernel,
    Parameter,
    Stage,
    StageError,
    TupleType,
    UsageError,
)

_WORD = re.compile(r"[\w .+-]*")


class UnknownNameError(LookupError):
    """A name that a kernel's module does not have; `suggestion` is the nearest that it has.

    `reason` says why a name that the module does bind has no value: what it comes from is missing.
    """

    def __init__(self, name: str, suggestion: str | None = None, reason: str = "") -> None:
        super().__init__(name)
        self.suggestion = suggestion
        self.reason = reason


def module_resolver(namespace: Mapping[str, Any]) -> Resolve:
    """Finds dotted names in a kernel's module; `tl` and `triton` are known even if not imported there."""

    def resolve(name: str) -> object:
        first, *rest = name.split(".")
        if first in namespace:
            found: Any = namespace[first]
        elif first in ("tl", "triton"):
            # A loaded kernel has imported Triton; this package itself never does.
            found = sys.modules.get("triton.language" if first == "tl" else "triton")
        else:
            raise UnknownNameError(name, nearest(first, (n for n in namespace if not n.startswith("__"))))
        for index, part in enumerate(rest, start=1):
            if not isinstance(found, Missing) and not hasattr(found, part):
                names = vars(found) if isinstance(found, ModuleType) else dir(found)
                near = nearest(part, (n for n in names if not n.startswith("_")))
                raise UnknownNameError(name, ".".join([first, *rest[: index - 1], near]) if near else None)
            found = found if isinstance(found, Missing) else getattr(found, part)
        if isinstance(found, Missing):
            raise UnknownNameError(name, reason=found.mutlint_reason)
        return found

    return resolve


def value_parameters(kernel: Kernel) -> frozenset[str]:
    """The parameters whose argument is a value, not a type: constexpr, autotuned or heuristic ones."""
    names = {parameter.name for parameter in kernel.parameters if parameter.is_constexpr}
    for config in kernel.configs:
        names |= set(config.kwargs)
    return frozenset((names | set(kernel.heuristics)) & set(kernel.parameter_names))


def tuned_parameters(kernel: Kernel) -> frozenset[str]:
    """The parameters that autotune's configs give."""
    given = (name for c in kernel.configs for name in {**c.options, **c.kwargs})
    return frozenset(given) & frozenset(kernel.parameter_names)


def bind_entry(kernel: Kernel, entry: KernelSpec) -> dict[str, tuple[ArgType, ...]]:
    """The argument types that `entry` gives, by parameter; names the kernel lacks are left out.

    Raises `StageError` with the place in the spec for a text that is no type, an object that the
    kernel's module lacks, or a compact signature with too many parts, or without all types.
    """
    if entry.compact is not None:
        return _bind_compact(kernel, entry.compact)
    by_name = {parameter.name: parameter for parameter in kernel.parameters}
    return {
        arg.parameter: bind_arg(kernel, by_name[arg.parameter], arg)
        for arg in entry.args
        if arg.parameter in by_name
    }


def bind_arg(kernel: Kernel, parameter: Parameter, arg: ArgSpec) -> tuple[ArgType, ...]:
    """The variants that `arg` gives for `parameter`; raises `StageError`."""
    resolve = module_resolver(kernel.namespace)
    is_value = parameter.name in value_parameters(kernel)
    return tuple(_bind(value, is_value, resolve, parameter) for value in arg.values)


def _bind(value: SpecValue, is_value: bool, resolve: Resolve, parameter: Parameter) -> ArgType:
    if not isinstance(value, Node):
        return value
    try:
        return _as_value(value, resolve) if is_value else _as_type(value, resolve)
    except TypeTextError as error:
        hint = ""
        if not is_value and isinstance(value.scalar, str) and _WORD.fullmatch(value.scalar):
            hint = f"{parameter.name!r} is not annotated tl.constexpr, so its argument is a type"
        raise _failure(value, str(error), hint) from None


def _failure(node: Node, message: str, hint: str = "") -> StageError:
    path = show_path(node.path)
    return StageError(Failure(Stage.SIGNATURE, f"{path}: {message}", node.location, hint))


def _as_value(node: Node, resolve: Resolve) -> ConstexprValue:
    if node.kind == "mapping":
        return _reference(node, resolve)
    if node.kind == "list":
        values = [_as_value(item, resolve) for item in node.items]
        shown = ", ".join(map(str, values))
        return ConstexprValue(tuple(value.value for value in values), f"({shown})")
    return ConstexprValue(node.scalar)


def _as_type(node: Node, resolve: Resolve) -> ArgType:
    value = node.scalar
    if node.kind == "mapping":
        return _reference(node, resolve)
    if node.kind == "list":
        return TupleType(tuple(_as_type(item, resolve) for item in node.items))
    if type(value) is int and value == 1:  # Triton specialises an integer argument of one to a constexpr
        return ConstexprValue(1)
    return type_of_value(value, resolve=resolve)


def _reference(node: Node, resolve: Resolve) -> ConstexprValue:
    name = str(node.plain()["ref"])
    return ConstexprValue(resolve_name(name, resolve), name)


def entry_of_values(kernel: Kernel, values: Mapping[str, Any]) -> KernelSpec:
    """The entry that gives `values` to `kernel`: per parameter a type string, tensor or plain value.

    A list gives variants, as in YAML. Raises `UsageError` for a name that is no parameter and for a
    value that has no type, with the nearest valid name.
    """
    resolve = module_resolver(kernel.namespace)
    constexprs = value_parameters(kernel)
    args: list[ArgSpec] = []
    for name, value in values.items():
        if name not in kernel.parameter_names:
            hint = did_you_mean(name, kernel.parameter_names)
            raise UsageError(f"{kernel.name} has no parameter {name!r}{hint}")
        variants = value if isinstance(value, list) else [value]
        if not variants:
            raise UsageError(f"{kernel.name}: an empty list gives {name!r} no value")
        try:
            types = [type_of_value(v, is_constexpr=name in constexprs, resolve=resolve) for v in variants]
        except TypeTextError as error:
            raise UsageError(f"{kernel.name}: {name}: {error}") from None
        args.append(ArgSpec(name, tuple(types)))
    return KernelSpec(kernel.name, args=tuple(args))


def _bind_compact(kernel: Kernel, node: Node) -> dict[str, tuple[ArgType, ...]]:
    resolve = module_resolver(kernel.namespace)
    values = value_parameters(kernel)
    try:
        parts = split_top(str(node.scalar))
    except TypeTextError as error:
        raise _failure(node, str(error)) from None
    without = [p.name for p in kernel.parameters[len(parts):] if p.name not in values and not p.has_default]
    if len(parts) > len(kernel.parameters) or without:
        message = f"{plural(len(parts), 'type')} for the {plural(len(kernel.parameters), 'parameter')} of {kernel.name}"
        hint = f"its parameters: {', '.join(kernel.parameter_names)}"
        raise _failure(node, message, f"{hint}; give some of them by name (`{without[0]}: ...`)" if without else hint)
    bound: dict[str, tuple[ArgType, ...]] = {}
    for parameter, part in zip(kernel.parameters, parts, strict=False):  # values are inferred
        try:
            is_value = parameter.name in values
            bound[parameter.name] = (
                _compact_value(part, resolve) if is_value else parse_type(part, resolve=resolve),
            )
        except TypeTextError as error:
            raise _failure(node, f"{parameter.name}: {error}") from None
    return bound


def _compact_value(part: str, resolve: Resolve) -> ConstexprValue:
    """A constexpr in a compact signature: a literal, else the name of an object."""
    literal = parse_literal(part)
    if literal is not None:
        return literal
    if not DOTTED.fullmatch(part):
        raise TypeTextError(f"{part!r} is not a value; put a text in quotes")
    return ConstexprValue(resolve_name(part, resolve), part)
