"""What a body demands of its compile-time values.

Read as constraints: `tl.static_assert` and `assert`, conditions that lead to a `raise` or to
`static_assert(False)`, the bounds of `tl.arange`, and the shapes of `tl.zeros` and `tl.full`
(Triton wants powers of two, and at most 2**20 elements).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from triton_mutlint.kernel_source.evaluate import Evaluation, Term, known
from triton_mutlint.kernel_source.slots import NONE, Slots

MAX_ELEMENTS = 1 << 20


@dataclass(frozen=True, eq=False)
class Constraint:
    """`kind` is assert, never, arange, shape or reach; `terms` are what is asserted, the bounds or the dimensions.

    `conditions` are the tests of the enclosing `if`s, each with the truth that is wanted of it.
    """

    kind: str
    terms: tuple[Term | None, ...]
    line: int
    conditions: tuple[tuple[Term | None, bool], ...] = ()
    chosen: Slots = NONE  # of a branch that only chooses between values: what they are made of

    def violated(self, values: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The parameters to change when the constraint does not hold; None when it does, or may."""
        evaluation = Evaluation(values)
        uncertain = False
        for test, wanted in self.conditions:
            found = evaluation(test)
            if not known(found):
                uncertain = True
            elif bool(found) is not wanted:
                return None
        if uncertain and self.kind == "never":
            return None
        return tuple(evaluation.reads) if self._broken([evaluation(term) for term in self.terms]) else None

    def reached(self, values: Mapping[str, Any]) -> bool:
        """Whether all of the conditions hold, or may."""
        evaluation = Evaluation(values)
        found = ((evaluation(test), wanted) for test, wanted in self.conditions)
        return all(not known(f) or bool(f) is wanted for f, wanted in found)

    def read(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters that the conditions look at."""
        evaluation = Evaluation(values, eager=True)
        for test, _ in self.conditions:
            evaluation(test)
        return tuple(evaluation.reads)

    def _broken(self, found: list[Any]) -> bool:
        if self.kind == "never":
            return True
        if self.kind == "assert":
            return known(*found) and not all(found)
        sizes = [size for size in found if type(size) is int]
        if self.kind == "arange":
            return len(sizes) == 2 and not power_of_2(sizes[1] - sizes[0])
        return not all(map(power_of_2, sizes)) or prod(sizes) > MAX_ELEMENTS


def power_of_2(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0
