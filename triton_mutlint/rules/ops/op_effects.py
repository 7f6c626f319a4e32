"""What the rules on torch ops have in common: the path from an op's argument to the store, in words."""

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.types import HostEffect, Location, OpArgument, OpReport, Related

_SHOWN = 4  # places of one argument


def related(op: OpReport, argument: OpArgument) -> Iterator[Related]:
    """The declaration, then each place where the argument is written, with the calls that lead there."""
    if op.declaration.place != op.location:
        yield Related("declared here", op.declaration.place)
    for effect in argument.effects[:_SHOWN]:
        yield from steps(effect)


def steps(effect: HostEffect) -> Iterator[Related]:
    """From the op's function to the store."""
    for frame in effect.path:
        yield Related(f"called in `{frame.function}`", Location(frame.file, frame.line))
    yield Related(effect.text, effect.location)
    if effect.access is not None:
        yield Related(f"the {effect.access.op} in `{effect.kernel}`", effect.access.location)


def unfixed(op: OpReport) -> str:
    """Why no fix edits the op's declaration; empty where one does."""
    return {"define": "schemas are not edited", "jax": "aliases are not edited"}.get(op.form, "")


def declares(op: OpReport) -> str:
    """Where the names are written, as the user calls it."""
    if op.declaration.of_torch:
        return "torch's schema"
    return {"define": "the schema", "jax": "`input_output_aliases`"}.get(op.form, "`mutates_args`")
