"""What a function's names hold when it is called, and what names outside of it do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from triton_mutlint.kernel_source.evaluate import UNKNOWN, plain
from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.kernel_source.operations import (
    ANY,
)
from triton_mutlint.kernel_source.values import (
    NOTHING,
    MayBe,
    Object,
    constant,
    mixed,
)

Env = dict[str, MayBe]


def bound_arguments(helper: Helper, args: list[MayBe], named: Mapping[str, MayBe]) -> Env:
    """What the parameters of a helper hold in a call."""
    formal = helper.node.args
    positional = (*formal.posonlyargs, *formal.args)
    rest = replace(mixed(named.values()) if ANY in named else NOTHING, is_open=True)
    told = {} if ANY in named else helper.defaults
    env = {a.arg: of_global(told[a.arg]) if a.arg in told else rest for a in (*positional, *formal.kwonlyargs)}
    env.update(zip((a.arg for a in positional), args, strict=False))
    env.update((name, value) for name, value in named.items() if name in env)
    if formal.vararg is not None:
        left = args[len(positional):]
        env[formal.vararg.arg] = mixed((rest, *left)) if ANY in named else MayBe(items=tuple(left))
    if formal.kwarg is not None:
        env[formal.kwarg.arg] = replace(mixed(named.values()), is_open=True)
    return env


def of_global(found: Any) -> MayBe:
    """What a name outside of the function holds."""
    if type(found).__name__ == "constexpr":
        found = getattr(found, "value", found)
    value = plain(found)
    if isinstance(value, tuple):
        kinds = (Object(type(value)),) if type(value) is not tuple else ()
        return MayBe(items=tuple(of_global(v) for v in value), kinds=kinds)
    if value is not UNKNOWN and type(value).__name__ != "dtype":
        return constant(value)
    return MayBe(is_open=True) if found is UNKNOWN else MayBe(functions=(Object(found),))
