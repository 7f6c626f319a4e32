"""The schemas of torch's own ops (`aten::add.Tensor`), for code that gives them implementations.

The table is data, `torch_schemas.json`, made by `python -m scripts.torch_effects` from an installed torch; torch is
not needed to read it. What an op writes without saying so in its schema (the statistics of `native_batch_norm`) is
taken from the table of effects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from triton_mutlint.host.torch.schema import Schema, parse_schema
from triton_mutlint.host.torch.table import function
from triton_mutlint.types import Location, Problem

DATA = Path(__file__).with_name("torch_schemas.json")
_SPACE = "aten::"
_SHOWN = 6  # overloads of an op


def torch_schema(name: str) -> Schema | None:
    """The schema of `aten::op` or `aten::op.overload`; None where torch has no such op.

    The overload `default` is the one without a name.
    """
    if not name.startswith(_SPACE):
        return None
    found = _aten().get(name.removeprefix(_SPACE).removesuffix(".default"))
    return parse_schema(name + found) if found is not None else None


def sought_in_vain(name: str, place: Location) -> tuple[Problem, ...]:
    """What is wrong with an implementation of `aten::op.overload`, if torch has the op, but no such overload of it."""
    base = name.removeprefix(_SPACE).partition(".")[0]
    others = [full for full in _aten() if full.partition(".")[0] == base]
    if not name.startswith(_SPACE) or not others or torch_schema(name) is not None:
        return ()
    listed = ", ".join(f"`{full}`" for full in others[:_SHOWN]) + (", …" if len(others) > _SHOWN else "")
    message = f"torch {_made_from()} has no `{name}`: what is registered for it is never called"
    return (Problem(message, place, f"the overloads of that op are {listed}"),)


def written_by(name: str, schema: Schema) -> tuple[str, ...]:
    """The arguments that an op of torch writes, by its schema or without having it there, in order."""
    effect = function(f"torch.ops.{name.replace('::', '.')}")
    silent = {effect.parameters[place] for place in effect.writes} if effect is not None else set()
    return tuple(a.name for a in schema.arguments if a.mutated or (a.is_tensor and a.name in silent))


def _made_from() -> str:
    return _data()["made from"]["torch"]


def _aten() -> Mapping[str, str]:
    return _data()["aten"]


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Mapping[str, str]]:
    data: Mapping[str, Mapping[str, str]] = json.loads(DATA.read_bytes())
    return data
