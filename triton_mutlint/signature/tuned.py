"""Autotune configs as alternatives, with what the spec says of autotuned parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from triton_mutlint.signature.variants import key
from triton_mutlint.spec.values import text_of, unwrap_constexpr, value_key
from triton_mutlint.types import ArgType, ConstexprValue, Kernel


@dataclass(frozen=True)
class Tuned:
    """The arguments and compile options that one autotune config (or the lack of any) gives."""

    args: Mapping[str, ArgType] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def configs(kernel: Kernel, given: Mapping[str, Sequence[ArgType]]) -> tuple[Tuned, ...]:
    """The configs of `kernel` that agree with the `given` values, at least one, in file order.

    A given value keeps the configs that have it; if none has, it replaces theirs (at a launch
    Triton takes only one of the two). Configs that differ in compile options alone count once.
    """
    found = [_config(kernel, config) for config in (kernel.autotune.configs if kernel.autotune else ())]
    tuned = {name for config in found for name in config.args}
    for name in (name for name in kernel.parameter_names if name in tuned and name in given):
        chosen: list[Tuned] = []
        for value in given[name]:
            having = [c for c in found if name in c.args and value_key(c.args[name]) == value_key(value)]
            chosen += having or [replace(c, args={**c.args, name: value}) for c in found]
        found = chosen
    unique: dict[object, Tuned] = {}
    for config in found:
        unique.setdefault(_args(config), config)
    return _new_values_first(list(unique.values())) or (Tuned(),)


def differ_in_options(kernel: Kernel) -> bool:
    """Whether configs that count once differ in what a kernel can ask for: its warps, say."""
    found = [_config(kernel, config) for config in (kernel.autotune.configs if kernel.autotune else ())]
    return len({_args(c) for c in found}) < len({(_args(c), repr(sorted(c.options.items()))) for c in found})


def _args(config: Tuned) -> object:
    """Tells the arguments of configs apart, in whichever order they stand."""
    return key(dict(sorted(config.args.items())))


def _config(kernel: Kernel, config: Any) -> Tuned:
    """Splits a config into the kernel's own parameters and compile options.

    A kernel may take `num_warps` itself; Triton then hands it the config's.
    """
    names = set(kernel.parameter_names)
    values = {**config.options, **config.kwargs}
    args = {
        name: ConstexprValue(unwrap_constexpr(value), text_of(value))
        for name, value in values.items()
        if name in names
    }
    options = {name: value for name, value in values.items() if name in config.options or name not in names}
    return Tuned(args, options)


def _new_values_first(found: list[Tuned]) -> tuple[Tuned, ...]:
    """Configs that bring in a value not seen before, then the rest: a cap then loses the least."""
    seen: set[tuple[str, str, str]] = set()
    first: list[Tuned] = []
    rest: list[Tuned] = []
    for config in found:
        values = set(key(config.args))
        (rest if values <= seen else first).append(config)
        seen |= values
    return (*first, *rest)
