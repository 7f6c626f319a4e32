"""Further guesses for compile-time parameters, so that every branch that writes is in some variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from triton_mutlint.kernel_source.dtypes import dtype_value, short_name
from triton_mutlint.kernel_source.evaluate import PRESENT, next_power_of_2
from triton_mutlint.kernel_source.learned.constraints import Constraint
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.signature.inferred import Inferred
from triton_mutlint.types import ArgType, ConstexprValue

MAX_NAMES = 3  # parameters changed together
MAX_TRIALS = 400  # combinations looked at for one branch
SIZES = (64, 32, 16, 128, 256, 8, 4, 2, 1, 0, 3, 512, 1024, 2048, 4096, 16384, 65536)


def reach(
    reaches: Sequence[Constraint], constraints: Sequence[Constraint], guesses: dict[str, Inferred],
    known: Mapping[str, ArgType],
) -> None:
    """Add alternatives to `guesses` under which the branches are taken that no combination takes so far."""
    values = {name: value_of(type_) for name, type_ in known.items()}
    values.update((name, value_of(guess.main)) for name, guess in guesses.items())
    for branch in reaches:
        if branch.chosen and all(map(_number, branch.chosen)):
            continue
        taken, names = branch.reached(values)
        if taken:
            continue
        given = {n: [value_of(a) for a in guesses[n].alternatives] for n in names if n in guesses}
        if not given or _found(branch, (), values, given) is not None:
            continue
        wider = {n: [*g, *(v for v in _domain(branch, guesses[n]) if v not in g)] for n, g in given.items()}
        found = _found(branch, constraints, values, wider)
        for name, value in (found or {}).items():
            if not any(value is g or (type(value) is type(g) and value == g) for g in given[name]):
                guess = guesses[name]
                new = dtype_value(short_name(value)) if short_name(value) else ConstexprValue(value)
                reason = f"{guess.reason}; {new} takes the branch at line {branch.line}"
                guesses[name] = Inferred((*guess.alternatives, new), reason)


def _number(slot: Slot) -> bool:
    """Whether a parameter is known for a number, so that choosing it chooses no address."""
    address = slot.pointer or slot.descriptor or slot.to_int
    counted = slot.integer or slot.floating or slot.number or slot.scalar
    return not address and bool(counted)


def value_of(type_: ArgType) -> Any:
    return type_.value if isinstance(type_, ConstexprValue) else PRESENT


def _found(
    branch: Constraint, constraints: Sequence[Constraint], values: Mapping[str, Any], domains: Mapping[str, list[Any]]
) -> dict[str, Any] | None:
    """The first change, of as few parameters as can be, that takes the branch and breaks no constraint anew."""
    broken = sum(c.violated(values) is not None for c in constraints)
    for change in islice(_changes(domains), MAX_TRIALS):
        tried = {**values, **change}
        if branch.reached(tried)[0] and sum(c.violated(tried) is not None for c in constraints) <= broken:
            return change
    return None


def _changes(domains: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    names = list(domains)[:MAX_NAMES]
    for name in names:
        yield from ({name: value} for value in domains[name])
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            yield from ({first: a, second: b} for a, b in product(domains[first][:12], domains[second][:12]))
    if len(names) == MAX_NAMES:
        yield from (dict(zip(names, row, strict=True)) for row in product(*(domains[n][:5] for n in names)))


def _domain(branch: Constraint, guess: Inferred) -> list[Any]:
    """Values of the guess's kind: usual ones, and those near what the conditions mention."""
    main = next((a.value for a in guess.alternatives if isinstance(a, ConstexprValue) and a.value is not None), None)
    if isinstance(main, bool):
        return [False, True]
    mentioned = list(dict.fromkeys(_constants(branch)))
    if isinstance(main, str):
        return [c for c in mentioned if isinstance(c, str)]
    if type(main).__name__ == "dtype":
        return [dtype_value(d).value for d in dict.fromkeys((*_dtypes(branch), "fp32"))]
    if not isinstance(main, (int, float)):
        return []
    numbers = [c for c in mentioned if isinstance(c, (int, float)) and not isinstance(c, bool)]
    near = [type(main)(v) for c in numbers for v in (c, c + 1, c - 1)]
    powers = [next_power_of_2(int(c) + 1) for c in numbers if 0 <= c < 1 << 20]
    return [*powers, *near, *SIZES] if isinstance(main, int) else near


def _dtypes(branch: Constraint) -> Iterator[str]:
    """The dtypes that the conditions mention."""
    yield from filter(None, map(short_name, _constants(branch)))


def _constants(branch: Constraint) -> Iterator[Any]:
    for test, _ in branch.conditions:
        if test is not None:
            yield from test.leaves()
