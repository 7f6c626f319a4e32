"""What torch infers for an op from a function's signature, the tags aside: its arguments, and which it may return."""

from __future__ import annotations

from collections.abc import Sequence

from triton_mutlint.host.declarations.functions import is_plain_scalar, parameters
from triton_mutlint.host.model import Form, Implementation
from triton_mutlint.host.registrations.things import OpEvent, each_in
from triton_mutlint.host.torch.schema import SchemaArgument
from triton_mutlint.host.values.values import Value
from triton_mutlint.types import Declaration


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
