"""Which combinations of alternatives and autotune configs to analyse, and in which order when there are too many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, product
from typing import Any

from triton_mutlint.spec.values import text_of, value_key
from triton_mutlint.types import ArgType, ConstexprValue, Kernel, Plan, Variant, unwrap_constexpr

Index = tuple[int, ...]  # per factor, which of its alternatives
FLAG = 3  # alternatives that a flag or an optional pointer has at most


def orders(sizes: Sequence[int], cap: int) -> Iterator[Index]:
    """Every combination of one alternative per factor, each once.

    In product order if there are at most `cap`. Else the first come first: the base (the first
    alternative everywhere), then combinations that bring in every other alternative, then those
    that differ from the base in few factors, so that a prefix of `cap` says the most.
    """
    if count(sizes) <= cap:
        yield from product(*(range(size) for size in sizes))
        return
    seen: set[Index] = set()
    for index in _by_use(sizes, cap):
        if index not in seen:
            seen.add(index)
            yield index


def count(sizes: Sequence[int]) -> int:
    """How many combinations there are."""
    total = 1
    for size in sizes:
        total *= size
    return total


def _by_use(sizes: Sequence[int], cap: int) -> Iterator[Index]:
    singles = 1 + sum(size - 1 for size in sizes)
    if singles <= cap:
        yield from changes(sizes)
    else:
        # One factor at a time does not fit for all: flags first, so that a condition names the right one,
        # then all of them at once, each through its alternatives.
        flags = [size if size <= FLAG else 1 for size in sizes]
        yield from islice(changes(flags), max(1, cap // 2))
        yield tuple(size - 1 for size in sizes)
        for row in range(max(sizes)):
            yield tuple(row % size for size in sizes)
    yield tuple(size - 1 for size in sizes)  # the base's opposite: every flag on
    for distance in range(len(sizes) + 1):
        yield from _at_distance(sizes, distance)


def changes(sizes: Sequence[int]) -> Iterator[Index]:
    """The base, then every combination that differs from it in one factor."""
    yield from _at_distance(sizes, 0)
    yield from _at_distance(sizes, 1)


def _at_distance(sizes: Sequence[int], distance: int) -> Iterator[Index]:
    """The combinations that differ from the base in exactly `distance` factors."""
    movable = [factor for factor, size in enumerate(sizes) if size > 1]
    for factors in combinations(movable, distance):
        for values in product(*(range(1, sizes[factor]) for factor in factors)):
            index = [0] * len(sizes)
            for factor, value in zip(factors, values, strict=True):
                index[factor] = value
            yield tuple(index)


def key(args: Mapping[str, ArgType]) -> tuple[tuple[str, str, str], ...]:
    """Tells argument sets apart; unlike `==` it keeps `1`, `1.0` and `True` apart."""
    return tuple((name, *value_key(arg)) for name, arg in args.items())


def launched_only(kernel: Kernel) -> set[str]:
    """The parameters of which Triton makes no constant where a launch passes 1."""
    return {p.name for p in getattr(kernel.jit, "params", ()) if p.do_not_specialize or p.annotation_type}


def types_of(plan: Plan, name: str) -> list[ArgType]:
    """What a parameter is in the variants of a plan, each type once."""
    return list({value_key(v.args[name]): v.args[name] for v in plan.variants}.values())


def with_choices(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants with `choices` set to the arguments in which they differ, as printed."""
    if not variants:
        return ()
    differing = [
        name
        for name in variants[0].args
        # Variants share their arguments: looking at each object once saves printing it for every variant.
        if len({value_key(arg) for arg in {id(v.args[name]): v.args[name] for v in variants}.values()}) > 1
    ]
    return tuple(
        Variant(v.args, tuple((name, str(v.args[name])) for name in differing), v.options) for v in variants
    )


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
    found = [_config(kernel, config) for config in kernel.configs]
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
    found = [_config(kernel, config) for config in kernel.configs]
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
