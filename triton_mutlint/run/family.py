"""The variants of one kernel, of which some say what others do (docs/analysis.md, section 7)."""

from __future__ import annotations

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.types import Access, Failure, Origin, Plan

MAX_FAILURES = 3  # of variants, for one reason, before others are taken to fail for it as well
Choices = set[tuple[str, str]]


class Family:
    """What is known of the variants of a plan from those that were lowered."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._effects: dict[tuple[str, int], VariantEffects] = {}
        self._is_plain = True  # nothing was found that is done to no parameter that can be named
        self._lowered: list[Choices] = []
        self._failed: dict[object, tuple[Failure, list[Choices]]] = {}  # by message and place

    def order(self) -> list[int]:
        """First those that the others may be like."""
        return sorted(range(len(self._plan.variants)), key=lambda i: not self._is_first(i))

    def learn(self, index: int, effects: VariantEffects) -> None:
        self._lowered.append(set(self._plan.variants[index].choices))
        self._is_plain &= not (effects.indirect_writes or effects.unanalyzable_ops)
        if self._plan.siblings:
            for key in self._plan.siblings[index].alike.items():
                self._effects.setdefault(key, effects)

    def fail(self, index: int, failure: Failure) -> None:
        failed = self._failed.setdefault((failure.message, failure.location), (failure, []))[1]
        failed.append(set(self._plan.variants[index].choices))

    def told(self, index: int) -> VariantEffects | None:
        """What a variant does, by its siblings; None if they do not tell, or not all of what it may do."""
        sibling = None if self._is_first(index) else self._plan.siblings[index]
        if sibling is None or not self._is_plain or not self._effects.keys() >= set(sibling.alike.items()):
            return None
        accesses: dict[str, tuple[Access, ...]] = {}
        unknown: set[str] = set()
        for parameter, number in sibling.alike.items():
            like = self._effects[parameter, number]
            accesses.update((name, a) for name, a in like.accesses.items() if name.split(".")[0] == parameter)
            unknown.update(name for name in like.unknown if name.split(".")[0] == parameter)
        effects = VariantEffects(accesses, unknown=frozenset(unknown))
        return None if sibling.stores(effects.written | effects.unknown) else effects

    def bound_to_fail(self, index: int) -> Failure | None:
        """The failure that a variant of guesses will end with too: several did that have in common, in what tells
        variants apart, nothing that it does not have, and that one which lowered has."""
        if self._plan.origin is not Origin.INFERRED or self._is_first(index):
            return None
        mine = set(self._plan.variants[index].choices)
        for failure, failed in self._failed.values():
            common = set.intersection(*failed)
            if len(failed) >= MAX_FAILURES and common <= mine and not any(common <= done for done in self._lowered):
                return failure
        return None

    def _is_first(self, index: int) -> bool:
        return not self._plan.siblings or self._plan.siblings[index].first
