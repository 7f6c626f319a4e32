"""Alternatives per parameter to distinct variants, running heuristics for each combination."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triton_mutlint.signature.heuristics import Heuristic
from triton_mutlint.signature.tuned import Tuned
from triton_mutlint.signature.variants import Index, count, orders
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
    `total` is a count that is surely not too small, in which equal variants may count each time.
    """
    expander = _Expander(kernel, sources)
    return replace(expander.expand(max(cap, 1)), sampled=expander.sampled(guessed))


class _Expander:
    def __init__(self, kernel: Kernel, sources: Sources) -> None:
        self.sources = sources
        self.parameters = kernel.parameter_names
        self.free = {name: _distinct(values) for name, values in sources.free.items()}
        self.sizes = [len(sources.configs), *map(len, self.free.values())]
        # Of the alternatives themselves, which stay alive: printing each once is what counting costs.
        lasting = [v for values in self.free.values() for v in values]
        lasting += [v for c in sources.configs for v in c.args.values()]
        self.keys = {id(value): value_key(value) for value in lasting}
        self.heuristics = {name: Heuristic(function) for name, function in sources.heuristics.items()}
        self.options = [{n: ConstexprValue(v) for n, v in config.options.items()} for config in sources.configs]
        self.untold: set[str] = set()
        self.missing: set[str] = set()

    def expand(self, cap: int) -> Expansion:
        distinct = not self.heuristics and len({frozenset(config.args) for config in self.sources.configs}) == 1
        forks = [max(2, len(self.sources.fallback.get(name, ()))) for name in self.heuristics]
        exact = not distinct and count([*self.sizes, *forks]) <= max(EXACT, cap)
        product = count(self.sizes)
        found: set[object] = set()
        kept: list[Variant] = []
        for index in orders(self.sizes, cap):
            rows = self.rows(index, EXACT if exact else cap + 1)
            if self.missing:
                return Expansion((), 0, missing=frozenset(self.missing))
            for row in rows:
                key = tuple([self.keys.get(id(row[name])) or value_key(row[name]) for name in self.parameters])
                if key not in found and len(kept) < cap:
                    args = {name: row[name] for name in self.parameters}
                    kept.append(Variant(args, options=dict(self.sources.configs[index[0]].options)))
                found.add(key)
            if not exact and len(found) >= cap and max(len(found), product) > cap:  # surely, some are left out
                break
        total = len(found) if exact else max(len(found), product)
        return Expansion(tuple(kept), total, frozenset(self.untold))

    def rows(self, index: Index, most: int) -> list[dict[str, ArgType]]:
        """The arguments at `index`, the first `most`: several where a heuristic may give several values."""
        base = {name: values[choice] for (name, values), choice in zip(self.free.items(), index[1:], strict=True)}
        rows = [{**base, **self.sources.configs[index[0]].args}]
        for name in self.heuristics:
            rows = [{**row, name: value} for row in rows for value in self.alternatives(name, row, index)][:most]
        return rows

    def sampled(self, guessed: Collection[str]) -> frozenset[str]:
        """The heuristics whose value may be another, in the order in which they read each other's."""
        open_ = {name for name in guessed if name not in self.heuristics}
        for name, heuristic in self.heuristics.items():
            if name in self.untold or heuristic.is_open(open_):
                open_.add(name)
        return frozenset(open_ & self.heuristics.keys())

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
