"""What a body demands of its compile-time values, and a small search for values that meet it.

Read as constraints: `tl.static_assert` and `assert`, conditions that lead to a `raise` or to
`static_assert(False)`, the bounds of `tl.arange`, and the shapes of `tl.zeros` and `tl.full`
(Triton wants powers of two, and at most 2**20 elements).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.evaluate import UNKNOWN, Evaluation, Scope, known
from triton_mutlint.signature.facts import NONE, Slots

MAX_ELEMENTS = 1 << 20
ROUNDS = 24


@dataclass(frozen=True, eq=False)
class Constraint:
    """`kind` is assert, never, arange or shape; `scopes` lead from the function it is in to the kernel.

    `conditions` are the tests of the enclosing `if`s: (test, wanted truth, depth in `scopes`).
    """

    kind: str
    node: ast.expr | None
    line: int
    scopes: tuple[Scope, ...]
    conditions: tuple[tuple[ast.expr, bool, int], ...] = ()
    chosen: Slots = NONE  # of a branch that only chooses between values: what they are made of

    def violated(self, values: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The parameters to change when the constraint does not hold; None when it does, or may."""
        evaluation = Evaluation(values)
        uncertain = False
        for test, wanted, depth in self.conditions:
            found = evaluation(test, self.scopes[depth:])
            if not known(found):
                uncertain = True
            elif bool(found) is not wanted:
                return None
        if uncertain and self.kind == "never":
            return None
        return tuple(evaluation.reads) if self._broken(evaluation) else None

    def reached(self, values: Mapping[str, Any]) -> tuple[bool, tuple[str, ...]]:
        """Whether all of the conditions hold, or may; and the parameters that they look at."""
        evaluation = Evaluation(values, eager=True)
        found = [(evaluation(test, self.scopes[depth:]), wanted) for test, wanted, depth in self.conditions]
        return all(not known(f) or bool(f) is wanted for f, wanted in found), tuple(evaluation.reads)

    def _broken(self, evaluation: Evaluation) -> bool:
        if self.kind == "never" or self.node is None:
            return True
        if self.kind == "assert":
            found = evaluation(self.node, self.scopes)
            return known(found) and not found
        assert isinstance(self.node, ast.Call)
        if self.kind == "arange":
            return self._bad_range(evaluation, self.node)
        return self._bad_shape(evaluation, self.node)

    def _bad_range(self, evaluation: Evaluation, call: ast.Call) -> bool:
        if len(call.args) != 2:
            return False
        low, high = (evaluation(a, self.scopes) for a in call.args)
        return isinstance(low, int) and isinstance(high, int) and not power_of_2(high - low)

    def _bad_shape(self, evaluation: Evaluation, call: ast.Call) -> bool:
        shape = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "shape"), None)
        found = evaluation(shape, self.scopes) if shape is not None else UNKNOWN
        dims = found if isinstance(found, tuple) else (found,)
        size = 1
        for dim in dims:
            if isinstance(dim, int) and not isinstance(dim, bool):
                if not power_of_2(dim):
                    return True
                size *= dim
        return size > MAX_ELEMENTS


def power_of_2(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


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
    asked = {n: v for n, v in _equalities(target.node) if n in domains} if len(target.scopes) == 1 else {}
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


def _equalities(node: ast.expr | None) -> Iterator[tuple[str, Any]]:
    """The `NAME == literal` parts that an assertion joins with `and`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for part in node.values:
            yield from _equalities(part)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        left, right = node.left, node.comparators[0]
        if isinstance(left, ast.Name) and isinstance(right, ast.Constant):
            yield left.id, right.value


def _count(constraints: Sequence[Constraint], values: Mapping[str, Any], target: Constraint) -> int:
    if target.violated(values) is not None:
        return len(constraints) + 1  # a change must at least mend the constraint it is made for
    return sum(c.violated(values) is not None for c in constraints)
