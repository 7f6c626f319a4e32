"""Alternatives per parameter to distinct variants, running heuristics for each combination."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triton_mutlint.signature.heuristics import Heuristic
from triton_mutlint.signature.variants import Index, Tuned, changes, count, orders
from triton_mutlint.spec.values import value_key
from triton_mutlint.types import ArgType, ConstexprValue, Kernel, Variant

EXACT = 4096  # combinations up to which variants are counted one by one, beyond it multiplied out


@dataclass(frozen=True)
class Sources:
    """Every parameter's alternatives: a config's arguments go before `free`, heuristics before both.

    `free` must cover the parameters that some config leaves out; `heuristics` are the functions of
    parameters to run, in Triton's order, and `fallback` what stands in for one that cannot be told.
    """

    configs: tuple[Tuned, ...]
    free: Mapping[str, tuple[ArgType, ...]]
    heuristics: Mapping[str, Callable[[Mapping[str, Any]], Any]] = field(default_factory=dict)
    fallback: Mapping[str, tuple[ArgType, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Expansion:
    """The variants kept, how many there are in all, and which heuristics could not be told.

    `missing` are those of them that had no fallback either: there are then no variants. `sampled` are those that
    gave a value which another launch may not get.
    """

    variants: tuple[Variant, ...]
    total: int
    untold: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    sampled: frozenset[str] = frozenset()


def expand(kernel: Kernel, sources: Sources, cap: int, guessed: Collection[str] = ()) -> Expansion:
    """The first `cap` (at least one) distinct variants, in the order of `variants.orders`.

    The values of the parameters in `guessed` are not given by anybody. With more than `EXACT` combinations
    `total` is their product, in which equal variants count each time.
    """
    expander = _Expander(kernel, sources)
    return replace(expander.expand(max(cap, 1)), sampled=expander.sampled(guessed))


class _Expander:
    def __init__(self, kernel: Kernel, sources: Sources) -> None:
        self.sources = sources
        self.parameters = kernel.parameter_names
        self.names = tuple(sources.free)
        self.free = [_distinct(values) for values in sources.free.values()]
        self.sizes = [len(sources.configs), *map(len, self.free)]
        # Of the alternatives themselves, which stay alive: printing each once is what counting costs.
        lasting = [
            *(v for values in self.free for v in values),
            *(v for c in sources.configs for v in c.args.values()),
        ]
        self.keys = {id(value): value_key(value) for value in lasting}
        self.heuristics = {name: Heuristic(function) for name, function in sources.heuristics.items()}
        self.options = [{n: ConstexprValue(v) for n, v in config.options.items()} for config in sources.configs]
        self.untold: set[str] = set()
        self.missing: set[str] = set()

    def expand(self, cap: int) -> Expansion:
        most = [max(2, len(self.sources.fallback.get(name, ()))) for name in self.sources.heuristics]
        distinct = not most and len({frozenset(config.args) for config in self.sources.configs}) == 1
        exact = not distinct and count([*self.sizes, *most]) <= max(EXACT, cap)
        sizes = [*self.sizes, *(most if exact else self.widths())]
        found: set[object] = set()
        kept: list[Variant] = []
        for index in orders(sizes, cap):
            args = self.args(index)
            if self.missing:
                return Expansion((), 0, missing=frozenset(self.missing))
            if args is not None and (key := self.key(args)) not in found:
                found.add(key)
                if len(kept) < cap:
                    kept.append(self.variant(index, args))
            if len(found) == cap and not exact:
                break
        return Expansion(tuple(kept), len(found) if exact else count(sizes), frozenset(self.untold))

    def widths(self) -> list[int]:
        """How many alternatives each heuristic has, at most, over combinations near the base."""
        widest = [1] * len(self.sources.heuristics)
        for index in changes(self.sizes):
            args = self.base(index)
            for position, name in enumerate(self.sources.heuristics):
                values = self.alternatives(name, args, index)
                widest[position] = max(widest[position], len(values))
                args[name] = values[0] if values else ConstexprValue(None)
        return widest

    def base(self, index: Index) -> dict[str, ArgType]:
        free = {
            name: values[choice]
            # The heuristics' own choices follow in `index`.
            for name, values, choice in zip(self.names, self.free, index[1:], strict=False)
        }
        free.update(self.sources.configs[index[0]].args)
        return free

    def args(self, index: Index) -> dict[str, ArgType] | None:
        """The arguments at `index`; None if a heuristic has fewer alternatives than it asks for."""
        args = self.base(index)
        for name, choice in zip(self.sources.heuristics, index[len(self.sizes) :], strict=True):
            values = self.alternatives(name, args, index)
            if choice >= len(values):
                return None
            args[name] = values[choice]
        return args

    def sampled(self, guessed: Collection[str]) -> frozenset[str]:
        """The heuristics whose value may be another, in the order in which they read each other's."""
        open_ = {name for name in guessed if name not in self.heuristics}
        for name, heuristic in self.heuristics.items():
            if name in self.untold or heuristic.is_open(open_):
                open_.add(name)
        return frozenset(open_ & self.heuristics.keys())

    def variant(self, index: Index, args: Mapping[str, ArgType]) -> Variant:
        options = dict(self.sources.configs[index[0]].options)
        return Variant({name: args[name] for name in self.parameters}, options=options)

    def key(self, args: Mapping[str, ArgType]) -> tuple[tuple[str, str], ...]:
        return tuple([self.keys.get(id(args[name])) or value_key(args[name]) for name in self.parameters])

    def alternatives(self, name: str, args: Mapping[str, ArgType], index: Index) -> tuple[ArgType, ...]:
        """What the heuristic `name` may give beside these arguments."""
        options = self.options[index[0]]
        values: Iterable[ArgType] = self.heuristics[name].values({**options, **args} if options else args)
        if not values:
            self.untold.add(name)
            own = (args[name],) if name in args else ()
            values = self.sources.fallback.get(name) or own
        if not values:
            self.missing.add(name)
        return tuple(values)


def _distinct(values: tuple[ArgType, ...]) -> tuple[ArgType, ...]:
    unique: dict[object, ArgType] = {}
    for value in values:
        unique.setdefault(value_key(value), value)
    return tuple(unique.values())
