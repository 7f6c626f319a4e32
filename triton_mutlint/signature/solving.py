"""A small search for compile-time values that meet what a kernel's body demands of them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triton_mutlint.kernel_source.evaluate import AND, CONSTANT, PARAMETER, Term
from triton_mutlint.kernel_source.learned.constraints import Constraint

ROUNDS = 24


def solve(
    constraints: Sequence[Constraint], values: Mapping[str, Any], domains: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Values for some of `domains`' parameters under which fewer constraints are violated.

    A deterministic hill climb: it takes the first violated constraint and changes one parameter that
    it reads, or two, so that the number of violations falls.
    """
    current = dict(values)
    hopeless: set[int] = set()
    for _ in range(ROUNDS):
        broken = [(c, reads) for c in constraints if (reads := c.violated(current)) is not None]
        target = next(((c, names) for c, names in broken if id(c) not in hopeless), None)
        if target is None:
            break
        wanted = [n for n in target[1] if n in domains]
        change = _improve(constraints, current, domains, wanted, len(broken), target[0])
        if change is None:
            hopeless.add(id(target[0]))
        else:
            current.update(change)
    return {n: v for n, v in current.items() if n in domains and v is not values.get(n)}


def _improve(
    constraints: Sequence[Constraint],
    current: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]],
    names: Sequence[str],
    count: int,
    target: Constraint,
) -> dict[str, Any] | None:
    singles = [{n: v} for n in names for v in domains[n]]
    asked = {n: v for term in target.terms for n, v in _equalities(term) if n in domains}
    if asked:
        singles.insert(0, asked)
    best, best_count = None, count
    for change in singles:
        found = _count(constraints, {**current, **change}, target)
        if found < best_count:
            best, best_count = change, found
    if best is not None or len(names) < 2:
        return best
    for i, first in enumerate(names[:3]):
        for second in names[i + 1 : 3]:
            for a in domains[first][:6]:
                for b in domains[second][:6]:
                    change = {first: a, second: b}
                    if _count(constraints, {**current, **change}, target) < count:
                        return change
    return None


def _equalities(term: Term | None) -> Iterator[tuple[str, Any]]:
    """The `NAME == literal` parts that an assertion joins with `and`."""
    if term is not None and term.function == AND:
        for part in term.args:
            yield from _equalities(part)
    elif term is not None and term.function is operator.eq:
        left, right = term.args
        if left.function == PARAMETER and right.function == CONSTANT:
            yield left.args[0], right.args[1]


def _count(constraints: Sequence[Constraint], values: Mapping[str, Any], target: Constraint) -> int:
    if target.violated(values) is not None:
        return len(constraints) + 1  # a change must at least mend the constraint it is made for
    return sum(c.violated(values) is not None for c in constraints)
