"""What a body demands of its compile-time values.

Read as constraints: `tl.static_assert` and `assert`, conditions that lead to a `raise` or to
`static_assert(False)`, the bounds of `tl.arange`, and the shapes of `tl.zeros` and `tl.full`
(Triton wants powers of two, and at most 2**20 elements).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.evaluate import UNKNOWN, Evaluation, SourceScope, known
from triton_mutlint.kernel_source.slots import NONE, Slots

MAX_ELEMENTS = 1 << 20


@dataclass(frozen=True, eq=False)
class Constraint:
    """`kind` is assert, never, arange or shape; `scopes` lead from the function it is in to the kernel.

    `conditions` are the tests of the enclosing `if`s: (test, wanted truth, depth in `scopes`).
    """

    kind: str
    node: ast.expr | None
    line: int
    scopes: tuple[SourceScope, ...]
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
