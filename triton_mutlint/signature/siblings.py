"""Variants that need not be lowered: what they do to each parameter is what others do that are.

What is done to a parameter depends on few of the compile-time values that the variants differ in (`decisions`): on no
block size, say, and on no flag under which another one is read. So it is enough to lower each combination of *those*
once, beside any values of the rest. Whether a verdict may rest on that is checked apart: against all that the source
may store through, whatever the rest is (`possible_stores`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from triton_mutlint.signature.decisions import Deciding, Site
from triton_mutlint.signature.doubts import held_by
from triton_mutlint.signature.evidence import Evidences, gather
from triton_mutlint.signature.held import MEMORY
from triton_mutlint.signature.helpers import Helper
from triton_mutlint.signature.possible_stores import Stores
from triton_mutlint.spec.values import value_key
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    Kernel,
    Plan,
    PointerType,
    ScalarType,
    Sibling,
    TupleType,
    Variant,
)

Key = tuple[object, ...]
NO_PARAMETER = ""  # whose accesses are those of nothing that is told


@dataclass(frozen=True)
class Group:
    """Arguments that decide together what is done to `parameters`, or what is done to none: pure assembler, say."""

    deciding: tuple[str, ...]
    parameters: frozenset[str] = frozenset()

    def of(self, variant: Variant) -> Key:
        """What tells the variants apart, as far as this group goes."""
        return tuple(value_key(variant.args[name]) for name in self.deciding)

    def own(self, names: Set[str]) -> Set[str]:
        """Those of some parameters, by their reported names, that are this group's."""
        return {name for name in names if name.split(".")[0] in self.parameters}


_EVERYTHING = Group(())  # decided by nothing: in this, all variants are alike


def siblings(kernel: Kernel, plan: Plan, helpers: Mapping[str, Kernel]) -> tuple[Sibling, ...]:
    """What the variants have in common; nothing if all of them have to be lowered."""
    choices = [name for name, _ in plan.variants[0].choices] if len(plan.variants) > 1 else []
    if not choices:
        return ()
    evidence = gather(kernel, helpers, ())
    sites = _sites(kernel, plan, evidence)
    if sites is None:
        return ()
    groups = _groups(plan.variants, choices, sites)
    lowered = _cover(plan.variants, [*groups, *(_Looks(name) for name in choices)])
    if len(lowered) == len(plan.variants):
        return ()
    return tuple(_Relatives(kernel, plan, evidence, groups).members(lowered))


def _sites(kernel: Kernel, plan: Plan, evidence: Evidences) -> frozenset[Site] | None:
    """What decides each access; None where addresses may be numbers, and in memory, or objects have functions."""
    args = {id(arg): arg for variant in plan.variants for arg in variant.args.values()}.values()
    if evidence.pointers or not all(map(_is_plain, args)):
        return None
    found = Deciding(evidence.program).of(Helper.of(kernel), _always(plan, ScalarType, PointerType), _addresses(plan))
    return None if found is None else found.sites


class _Relatives:
    """What the variants of a plan have in common, by group."""

    def __init__(self, kernel: Kernel, plan: Plan, evidence: Evidences, groups: Sequence[Group]) -> None:
        self._kernel, self._plan, self._evidence = kernel, plan, evidence
        self._keys = {group: [group.of(variant) for variant in plan.variants] for group in (*groups, _EVERYTHING)}
        self._groups = groups
        self._stored: dict[tuple[Key, Key], Set[str]] = {}

    def members(self, lowered: Sequence[int]) -> Iterator[Sibling]:
        numbers = {group: {key: number for number, key in enumerate(dict.fromkeys(self._keys[group]))}
                   for group in self._groups}
        for index in range(len(self._plan.variants)):
            alike = {parameter: numbers[group][self._keys[group][index]] for group in self._groups
                     for parameter in group.parameters or (NO_PARAMETER,)}
            yield Sibling(alike, partial(self._stores, index), index in lowered)

    def _stores(self, index: int, done: Set[str]) -> Set[str]:
        """The parameters, but for those in `done`, that a variant may store through."""
        found = set[str]()
        for group in self._groups:
            if group.own(self._possible(_EVERYTHING, index) - done):
                found |= group.own(self._possible(group, index) - done)
        return found

    def _possible(self, group: Group, index: int) -> Set[str]:
        """The parameters that may be stored through in the variants that are like one as far as a group goes."""
        keys = self._keys[group]
        asked = group.deciding, keys[index]
        if asked not in self._stored:
            like = tuple(v for v, key in zip(self._plan.variants, keys, strict=True) if key == keys[index])
            plan = replace(self._plan, inferred=frozenset(), assumed=frozenset(), variants=like)
            possible = Stores(self._evidence.program)
            stored = possible.of(Helper.of(self._kernel), held_by(self._kernel, plan, self._evidence)).keys()
            self._stored[asked] = stored | possible.kept.keys() if MEMORY in stored else stored
        return self._stored[asked]


@dataclass(frozen=True)
class _Looks:
    """An argument that decides nothing: of numbers it counts whether they may be the size of a block."""

    name: str

    def of(self, variant: Variant) -> Key:
        return (_look(variant.args[self.name]),)


def _is_plain(arg: ArgType) -> bool:
    """Whether an argument has no functions, and points at no addresses."""
    if isinstance(arg, TupleType):
        return not arg.fields and all(map(_is_plain, arg.elements))
    if isinstance(arg, PointerType):
        return "*" not in arg.element
    value = arg.value if isinstance(arg, ConstexprValue) else None
    return value is None or isinstance(value, bool | int | float | str) or type(value).__name__ == "dtype"


def _addresses(plan: Plan) -> frozenset[str]:
    """The parameters that may hold addresses."""
    kinds = (PointerType, DescriptorType, TupleType)
    return frozenset(n for n in plan.variants[0].args if any(isinstance(v.args[n], kinds) for v in plan.variants))


def _always(plan: Plan, *kinds: type) -> frozenset[str]:
    """The parameters that are of one of these kinds in all variants."""
    return frozenset(n for n in plan.variants[0].args if all(isinstance(v.args[n], kinds) for v in plan.variants))


def _is_simple(types: Sequence[ArgType]) -> bool:
    """Whether the alternatives are numbers and names, or one type that may be left out."""
    values = [t.value for t in types if isinstance(t, ConstexprValue)]
    kinds = {type(t) for t in types if not isinstance(t, ConstexprValue)}
    if len(values) == len(types):
        return all(isinstance(v, bool | int | float | str) or v is None for v in values)
    return len(kinds) == 1 and TupleType not in kinds and all(v is None for v in values)


def _groups(variants: Sequence[Variant], choices: Sequence[str], sites: frozenset[Site]) -> list[Group]:
    """What decides what is done to each parameter, and to what is none."""
    always = {name for name in choices if not _is_simple([v.args[name] for v in variants])}
    deciding = {name: set(always) for name in variants[0].args}
    others = set(always)
    for site in sites:
        for root in site.roots:
            deciding[root] |= site.decided.values
        if not site.roots:
            others |= site.decided.values
    by_names: dict[tuple[str, ...], set[str]] = {tuple(n for n in choices if n in others): set()}
    for parameter, names in deciding.items():
        by_names.setdefault(tuple(n for n in choices if n in names), set()).add(parameter)
    return [Group(names, frozenset(parameters)) for names, parameters in by_names.items()]


def _look(arg: ArgType) -> object:
    value = arg.value if isinstance(arg, ConstexprValue) else None
    if isinstance(value, bool | float | str):
        return type(value)
    return value > 0 and value & (value - 1) == 0 if isinstance(value, int) else value_key(arg)


def _cover(variants: Sequence[Variant], groups: Sequence[Group | _Looks]) -> list[int]:
    """The fewest variants, about, that have every combination of values that a group has in any."""
    wanted = [{(group, group.of(v)) for group in groups} for v in variants]
    missing = set[tuple[Group | _Looks, Key]]().union(*wanted)
    chosen: list[int] = []
    while missing:
        best = max(range(len(variants)), key=lambda i: (len(wanted[i] & missing), -i))
        chosen.append(best)
        missing -= wanted[best]
    return sorted(chosen)
