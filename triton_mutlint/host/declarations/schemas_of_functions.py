"""An op's schema and the functions that implement it: what torch infers from one, and whether one fits the other.

The dispatcher passes positional arguments by position and the others by name, so positional ones may
be called anything; that two of them stand in each other's place is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_mutlint.host.declarations.functions import is_plain_scalar, parameters
from triton_mutlint.host.model import Form, Implementation
from triton_mutlint.host.modules.module import HostFunction, HostModule
from triton_mutlint.host.registrations.things import OpEvent, each_in
from triton_mutlint.host.torch.schema import Schema, SchemaArgument
from triton_mutlint.host.values.values import Value
from triton_mutlint.types import Declaration, Location, Problem


def returned_by(event: OpEvent, declared: Declaration, functions: Sequence[Implementation]
              ) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The arguments that an op may return, by its tags, and those that it has to; its schema is made for it."""
    if event.tags is None or event.tags.is_constant(None):
        return None if event.open else (), ()
    listed = [each_in(content) for content in event.state.contents(event.tags)] or [[event.tags]]
    held = [value for items in listed for value in items or [Value()]]
    tags = {getattr(one, "name", "") for value in held for one in value.things or [None]}
    if "torch.Tag.inplace" in tags and functions:
        first = parameters(functions[0].node)[:1]
        return tuple(p.arg for p in first), tuple(p.arg for p in first)
    if "torch.Tag.out" in tags and functions:
        by_name = tuple(p.arg for p in functions[0].node.args.kwonlyargs)
        outs = tuple(name for name in by_name if declared.names is None or name in declared.names)
        return outs, outs if declared.names is not None else ()
    return (() if all(tag.startswith("torch.Tag.") for tag in tags) or not any(listed) else None), ()


def inferred_arguments(event: OpEvent, functions: Sequence[Implementation], positional: Sequence[Implementation]
              ) -> tuple[SchemaArgument, ...]:
    """The arguments of a schema that is made from one function, where others implement the op."""
    if event.form is not Form.DEFINE or len(functions) != 1 or (
            not event.before and all(one.node is functions[0].node for one in positional)):
        return ()
    (one,) = functions
    by_name = {p.arg for p in one.node.args.kwonlyargs}
    types = {p.arg: "Scalar" if is_plain_scalar(one.module, p) else "Tensor?" for p in parameters(one.node)}
    return (*(SchemaArgument(name, "Tensor") for name in event.before),
            *(SchemaArgument(name, kind, kwarg_only=name in by_name) for name, kind in types.items()))


def mismatches(schema: Schema, place: Location, functions: Sequence[Implementation]) -> Iterator[Problem]:
    """What is wrong with `schema`, by itself and against each of `functions`."""
    seen: set[str] = set()
    for argument in schema.arguments:
        if argument.name in seen:
            yield Problem(f"the schema names the argument `{argument.name}` twice", place, "rename one of the two")
        seen.add(argument.name)
        if argument.mutated and not argument.is_tensor:
            yield Problem(f"the schema marks `{argument.name}` as mutated, which holds no tensor (`{argument.type}`)",
                          place, "only tensors and lists of tensors can be mutated")
    for function in functions:
        yield from _against(schema, place, function.module, function.node)


def _against(schema: Schema, place: Location, module: HostModule, function: HostFunction) -> Iterator[Problem]:
    a = function.args
    shown = f"`{getattr(function, 'name', 'the lambda')}` (line {function.lineno})"
    ordered = [p.arg for p in (*a.posonlyargs, *a.args)]
    positional = [s.name for s in schema.arguments if not s.kwarg_only]
    by_name = [s.name for s in schema.arguments if s.kwarg_only]
    needed = len(ordered) - len(a.defaults)
    wanted = [name for name in ordered[:needed] if name not in by_name]
    if len(positional) > len(ordered) and a.vararg is None:
        yield Problem(f"the schema has {_counted(positional)}, {shown} takes {len(ordered)}", place,
                      f"its parameters are {', '.join(ordered) or 'none'}")
    elif len(positional) < len(wanted):
        yield Problem(f"the schema has {_counted(positional)}, {shown} needs {len(wanted)}", place,
                      f"its parameters are {', '.join(ordered)}")
    elif sorted(positional) == sorted(ordered[: len(positional)]):
        yield from _order(positional, ordered, place, shown)
    named = {p.arg for p in (*a.args, *a.kwonlyargs)}
    if a.kwarg is None:
        for name in by_name:
            if name not in named:
                yield Problem(f"the schema passes `{name}` by name, and {shown} has no parameter of that name", place,
                              f"its parameters are {', '.join(p.arg for p in parameters(function))}")
    yield from _kinds(schema, place, module, function, shown)


def _counted(positional: Sequence[str]) -> str:
    return f"{len(positional)} positional argument{'' if len(positional) == 1 else 's'}"


def _order(positional: Sequence[str], ordered: Sequence[str], place: Location, shown: str) -> Iterator[Problem]:
    for index, (said, found) in enumerate(zip(positional, ordered, strict=False)):
        if said != found:
            yield Problem(f"argument {index + 1} of the schema is `{said}`, of {shown} it is `{found}`", place,
                          "the arguments are passed by position: bring them into the same order")
            return


def _kinds(schema: Schema, place: Location, module: HostModule, function: HostFunction,
           shown: str) -> Iterator[Problem]:
    by_name = {p.arg: p for p in parameters(function)}
    for argument in schema.arguments:
        parameter = by_name.get(argument.name)
        if parameter is not None and argument.mutated and argument.is_tensor and is_plain_scalar(module, parameter):
            yield Problem(f"the schema marks `{argument.name}` as a mutated tensor; for {shown} it is none", place,
                          "correct the schema or the annotation")
