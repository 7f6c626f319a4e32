"""What a variant does, told by others that were lowered: those that may touch a parameter at the same places of the
kernel's source do the same to it (docs/analysis.md, section 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.spec.values import value_key
from triton_mutlint.types import Access, ArgType, ConstexprValue, Plan, TupleType, Variant

NO_PARAMETER = ""  # whose accesses are those of nothing that is told


class Siblings:
    """The variants of a plan, and what those that were lowered do."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._alike = _alike(plan) if plan.footprints else []
        self._first = set(_cover(plan.variants, self._alike))
        self._effects: dict[tuple[str, int], VariantEffects] = {}
        self._is_plain = True  # nothing was found that is done to no parameter that can be named

    def order(self) -> list[int]:
        """The variants as they are to be looked at: first those that tell of the others."""
        return sorted(range(len(self._plan.variants)), key=lambda i: not self._is_first(i))

    def learn(self, index: int, effects: VariantEffects) -> None:
        self._is_plain &= not (effects.indirect_writes or effects.unanalyzable_ops)
        for key in self._alike[index].items() if self._alike else ():
            self._effects.setdefault(key, effects)

    def told(self, index: int) -> VariantEffects | None:
        """What a variant does, by its siblings; None if they do not tell, or not all of what it may store through."""
        alike = {} if self._is_first(index) else self._alike[index]
        if not alike or not self._is_plain or not self._effects.keys() >= set(alike.items()):
            return None
        accesses: dict[str, tuple[Access, ...]] = {}
        unknown: set[str] = set()
        for parameter, number in alike.items():
            like = self._effects[parameter, number]
            accesses.update((name, a) for name, a in like.accesses.items() if name.split(".")[0] == parameter)
            unknown.update(name for name in like.unknown if name.split(".")[0] == parameter)
        effects = VariantEffects(accesses, unknown=frozenset(unknown))
        return effects if self._plan.footprints[index].stores <= effects.written | effects.unknown else None

    def _is_first(self, index: int) -> bool:
        return not self._alike or index in self._first


def _alike(plan: Plan) -> list[dict[str, int]]:
    """Per variant and parameter a number: variants with the same one may touch the parameter at the same places."""
    variants = plan.variants
    always = [name for name, _ in variants[0].choices if not _is_simple([v.args[name] for v in variants])]
    numbers: dict[object, int] = {}
    found = []
    for variant, footprint in zip(variants, plan.footprints, strict=True):
        types = tuple(value_key(variant.args[name]) for name in always)
        found.append({name: numbers.setdefault((footprint.at(name), types), len(numbers))
                      for name in (*variant.args, NO_PARAMETER)})
    return found


def _is_simple(types: Sequence[ArgType]) -> bool:
    """Whether the alternatives are numbers and names, or one type that may be left out."""
    values = [t.value for t in types if isinstance(t, ConstexprValue)]
    kinds = {type(t) for t in types if not isinstance(t, ConstexprValue)}
    if len(values) == len(types):
        return all(isinstance(v, bool | int | float | str) or v is None for v in values)
    return len(kinds) == 1 and TupleType not in kinds and all(v is None for v in values)


def _look(arg: ArgType) -> object:
    """Of an argument that decides nothing in the source, what Triton may still treat otherwise: its type, and for a
    number whether it may be the size of a block.
    """
    value = arg.value if isinstance(arg, ConstexprValue) else None
    if isinstance(value, bool | float | str):
        return type(value)
    return value > 0 and value & (value - 1) == 0 if isinstance(value, int) else value_key(arg)


def _cover(variants: Sequence[Variant], alike: Sequence[Mapping[str, int]]) -> list[int]:
    """About the fewest variants such that each number of `alike`, and each look of an argument, is that of one."""
    wanted = [{*same.items(), *((name, _look(variant.args[name])) for name, _ in variant.choices)}
              for variant, same in zip(variants, alike, strict=False)]
    missing = set[tuple[str, object]]().union(*wanted)
    chosen: list[int] = []
    while missing:
        best = max(range(len(variants)), key=lambda i: (len(wanted[i] & missing), -i))
        chosen.append(best)
        missing -= wanted[best]
    return chosen
