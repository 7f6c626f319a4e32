"""Which compile-time values tell the variants that write a parameter from the others, said as briefly as is true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

Choice = Mapping[str, str]  # the values of one variant
Term = Mapping[str, Sequence[str]]  # for each of some names, the values of which it has one

_LISTED = 8  # terms, or values of a name, that are shown before the rest are only counted


def condition(chosen: Sequence[Choice], others: Sequence[Choice], complete: bool) -> tuple[str, ...]:
    """Texts such as `A=True, MODE=1 | 2`: one of them holds for each `chosen` variant, and none for the `others`.

    Where variants were left out (not `complete`), few names may tell these apart by chance. They are then taken only
    if two of the variants differ in nothing else; else all that the chosen ones have in common is named.
    """
    names = list(dict.fromkeys(name for choice in (*chosen, *others) for name in choice))
    terms: list[Term] = []
    for seed in chosen:
        if not _covered(seed, terms):
            terms.append(max(_terms(seed, names, chosen, others, complete),
                             key=lambda term: sum(_holds(term, choice) for choice in chosen)))
    for term in tuple(terms):
        rest = [other for other in terms if other is not term]
        terms = rest if all(_covered(choice, rest) for choice in chosen) else terms
    known = {name: {choice.get(name, "") for choice in (*chosen, *others)} for name in names}
    texts = sorted(", ".join(_text(name, term[name], known[name]) for name in names if name in term) for term in terms)
    return (*texts[:_LISTED], f"and {len(texts) - _LISTED} more") if len(texts) > _LISTED else tuple(texts)


def _terms(seed: Choice, names: Sequence[str], chosen: Sequence[Choice], others: Sequence[Choice],
           complete: bool) -> list[Term]:
    """The terms of fewest names that hold for `seed` and for none of the `others`."""
    for size in (1, 2):
        separating = [group for group in combinations(names, size) if _separates(group, [seed], others)]
        found = [_widened(seed, group, chosen, others) for group in separating]
        if found := [term for term in found if complete or _compared(term, chosen, others)]:
            return found
    needed = [*names]
    if complete:
        for name in reversed(names):
            fewer = [other for other in needed if other != name]
            needed = fewer if _separates(fewer, [seed], others) else needed
    else:
        common = [n for n in names if {c.get(n) for c in chosen} != {c.get(n) for c in (*chosen, *others)}]
        needed = common if _separates(common, chosen, others) else needed
    return [{name: [seed.get(name, "")] for name in needed}]


def _separates(names: Sequence[str], chosen: Sequence[Choice], others: Sequence[Choice]) -> bool:
    """Whether no other variant has values of `names` that a chosen one has."""
    return {_values(c, names) for c in chosen}.isdisjoint(_values(c, names) for c in others)


def _widened(seed: Choice, names: Sequence[str], chosen: Sequence[Choice], others: Sequence[Choice]) -> Term:
    """The term of the values that `seed` has of these names, and of those that do as well in their place."""
    term: dict[str, Sequence[str]] = {name: [seed.get(name, "")] for name in names}
    for name in names:
        rest = {other: values for other, values in term.items() if other != name}
        wrong = {choice.get(name, "") for choice in others if _holds(rest, choice)}
        right = dict.fromkeys(choice.get(name, "") for choice in chosen if _holds(rest, choice))
        term[name] = [value for value in right if value not in wrong]
    return term


def _compared(term: Term, chosen: Sequence[Choice], others: Sequence[Choice]) -> bool:
    """Whether another variant differs from one that the term holds for in nothing but the names of the term."""
    rest = [name for name in chosen[0] if name not in term]
    return not _separates(rest, [choice for choice in chosen if _holds(term, choice)], others)


def _holds(term: Term, choice: Choice) -> bool:
    return all(choice.get(name, "") in values for name, values in term.items())


def _covered(choice: Choice, terms: Iterable[Term]) -> bool:
    return any(_holds(term, choice) for term in terms)


def _values(choice: Choice, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(choice.get(name, "") for name in names)


def _text(name: str, values: Sequence[str], known: set[str]) -> str:
    lacking = known.difference(values)
    if lacking == {"None"} or (len(values) > 2 and len(lacking) == 1):
        return f"{name}!={lacking.pop()}"
    rest = len(values) - _LISTED
    return f"{name}={' | '.join(values[:_LISTED])}" + (f" | {rest} more" if rest > 0 else "")
