"""A small search for compile-time values: ones that meet what a body demands, and ones that reach its branches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from triton_mutlint.kernel_source.dtypes import dtype_value, short_name
from triton_mutlint.kernel_source.evaluate import AND, CONSTANT, PARAMETER, PRESENT, Term, next_power_of_2
from triton_mutlint.kernel_source.learned.constraints import Constraint
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.signature.evidence import SIZES, Inferred
from triton_mutlint.types import ArgType, ConstexprValue

MAX_NAMES = 3  # parameters changed together
MAX_TRIALS = 400  # combinations looked at for one constraint or branch
_MORE_SIZES = (*SIZES, 16384, 65536)
_Domains = Mapping[str, Sequence[Any]]


class ValueSearch:
    """Changes the guesses for one kernel; `known` are the arguments that are not guessed."""

    def __init__(self, constraints: Sequence[Constraint], guesses: dict[str, Inferred],
                 known: Mapping[str, ArgType]) -> None:
        self._constraints, self._guesses = constraints, guesses
        self._values = {name: _value_of(type_) for name, type_ in known.items()}
        self._values.update((name, _value_of(guess.main)) for name, guess in guesses.items())

    def satisfy(self) -> None:
        """Change the main guesses so that what the body asserts holds; drop alternatives that cannot."""
        for constraint in (*self._constraints, *self._constraints):  # the second time with what the first has changed
            reads = constraint.violated(self._values)
            if reads is None:
                continue
            names = [n for n in reads if n in self._guesses and isinstance(self._guesses[n].main, ConstexprValue)]
            domains = {n: _domain(constraint.terms, self._guesses[n]) for n in names}
            told = dict(pair for term in constraint.terms for pair in _equalities(term) if pair[0] in self._guesses)

            def holds(values: Mapping[str, Any], constraint: Constraint = constraint) -> bool:
                return constraint.violated(values) is None

            found = told if told and holds({**self._values, **told}) else self._search(holds, domains)
            for name, value in (found or {}).items():
                self._values[name] = value
                self._guesses[name] = _promoted(self._guesses[name], value)
        for name, guess in self._guesses.items() if self._constraints else ():
            kept = [a for a in guess.alternatives[1:] if not self._breaks(name, _value_of(a))]
            self._guesses[name] = Inferred((guess.main, *kept), guess.reason, guess.is_partial)

    def reach(self, branches: Sequence[Constraint]) -> None:
        """Add alternatives under which the branches are taken that no combination takes so far."""
        for branch in branches:
            if branch.chosen and all(map(_is_number, branch.chosen)):
                continue
            names = () if branch.reached(self._values) else branch.read(self._values)
            given = {n: [_value_of(a) for a in self._guesses[n].alternatives] for n in names if n in self._guesses}
            if not given or self._search(branch.reached, given, may_break=True) is not None:
                continue
            tests = [test for test, _ in branch.conditions]
            wider = {n: [*g, *(v for v in _domain(tests, self._guesses[n]) if v not in g)] for n, g in given.items()}
            for name, value in (self._search(branch.reached, wider) or {}).items():
                if not any(value is g or (type(value) is type(g) and value == g) for g in given[name]):
                    new = dtype_value(short_name(value)) if short_name(value) else ConstexprValue(value)
                    guess = self._guesses[name]
                    reason = f"{guess.reason}; {new} takes the branch at line {branch.line}"
                    self._guesses[name] = Inferred((*guess.alternatives, new), reason)

    def _search(self, goal: Callable[[Mapping[str, Any]], bool], domains: _Domains,
                may_break: bool = False) -> dict[str, Any] | None:
        """The first change, of as few parameters as can be, that gets there and breaks no constraint anew."""
        broken = self._broken(self._values)
        for change in islice(_changes(domains), MAX_TRIALS):
            tried = {**self._values, **change}
            if goal(tried) and (may_break or self._broken(tried) <= broken):
                return change
        return None

    def _broken(self, values: Mapping[str, Any]) -> int:
        return sum(c.violated(values) is not None for c in self._constraints)

    def _breaks(self, name: str, value: Any) -> bool:
        values = {**self._values, name: value}
        return any(name in (c.violated(values) or ()) for c in self._constraints)


def _value_of(type_: ArgType) -> Any:
    return type_.value if isinstance(type_, ConstexprValue) else PRESENT


def _equalities(term: Term | None) -> Iterator[tuple[str, Any]]:
    """The `NAME == literal` parts that an assertion joins with `and`."""
    if term is not None and term.function == AND:
        for part in term.args:
            yield from _equalities(part)
    elif term is not None and term.function is operator.eq:
        name, value = term.args
        if name.function == PARAMETER and value.function == CONSTANT:
            yield name.args[0], value.args[1]


def _is_number(slot: Slot) -> bool:
    """Whether a parameter is known for a number, so that choosing it chooses no address."""
    address = slot.pointer or slot.descriptor or slot.to_int
    counted = slot.integer or slot.floating or slot.number or slot.scalar
    return not address and bool(counted)


def _promoted(guess: Inferred, value: Any) -> Inferred:
    first = next((a for a in guess.alternatives if isinstance(a, ConstexprValue) and a.value is value), None)
    rest = [a for a in guess.alternatives if a is not first]
    if first is None:
        first, rest = ConstexprValue(value), rest[1:]
    return Inferred((first, *rest), f"{guess.reason}; {value!r} meets what the body asserts")


def _changes(domains: _Domains) -> Iterator[dict[str, Any]]:
    names = list(domains)[:MAX_NAMES]
    for name in names:
        yield from ({name: value} for value in domains[name])
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            yield from ({first: a, second: b} for a, b in product(domains[first][:12], domains[second][:12]))
    if len(names) == MAX_NAMES:
        yield from (dict(zip(names, row, strict=True)) for row in product(*(domains[n][:5] for n in names)))


def _domain(terms: Sequence[Term | None], guess: Inferred) -> list[Any]:
    """Values of the guess's kind: usual ones, and those near what the terms mention."""
    values = [a.value for a in guess.alternatives if isinstance(a, ConstexprValue) and a.value is not None]
    main = values[0] if values else None
    if isinstance(main, bool):
        return [False, True]
    mentioned = list(dict.fromkeys(leaf for term in terms if term is not None for leaf in term.leaves()))
    if isinstance(main, str):
        return [c for c in mentioned if isinstance(c, str)]
    if type(main).__name__ == "dtype":
        return [dtype_value(d).value for d in dict.fromkeys((*filter(None, map(short_name, mentioned)), "fp32"))]
    if not isinstance(main, (int, float)):
        return []
    numbers = [c for c in mentioned if isinstance(c, (int, float)) and not isinstance(c, bool)]
    near = [type(main)(v) for c in numbers for v in (c, c + 1, c - 1)]
    powers = [next_power_of_2(int(c) + 1) for c in numbers if 0 <= c < 1 << 20]
    return [*values, *powers, *near, *_MORE_SIZES] if isinstance(main, int) else near
