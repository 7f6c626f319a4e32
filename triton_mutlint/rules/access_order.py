"""Whether one access of a kernel comes before another whenever both happen."""

from __future__ import annotations

import ast
from itertools import pairwise

from triton_mutlint.rules.access_calls import blocks

Chain = tuple[ast.stmt, ...]  # the statements that hold an access, from the kernel's body inwards


def precedes(first: Chain, second: Chain) -> bool:
    """Whether `first` was executed before `second` in every run of the kernel that reaches `second`.

    Loops count as executed; a branch counts if `second` stands in a branch on the same condition.
    """
    split = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a is not b), None)
    if split is None or first[split].lineno >= second[split].lineno:
        return False
    if split and _are_alternatives(first[split - 1], first[split], second[split]):
        return False
    given = {_condition(outer, inner) for outer, inner in pairwise(second)}
    needed = {_condition(outer, inner) for outer, inner in pairwise(first[split:])}
    return needed - {None} <= given


def _are_alternatives(outer: ast.stmt, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether `outer` holds the two in different blocks; a call of a helper holds neither in any."""
    held = [block for block in blocks(outer) if _holds(block, one) or _holds(block, other)]
    return len(held) > 1


def _holds(block: list[ast.stmt], statement: ast.stmt) -> bool:
    return any(item is statement for item in block)


def _condition(outer: ast.stmt, inner: ast.stmt) -> tuple[str, bool] | None:
    """Under which condition `outer` executes `inner`: the test, and whether it holds."""
    if isinstance(outer, ast.If):
        return ast.unparse(outer.test), _holds(outer.body, inner)
    if isinstance(outer, (ast.Try, ast.Match)):
        return f"line {outer.lineno}", True  # not written in kernels: never the same as another
    return None
