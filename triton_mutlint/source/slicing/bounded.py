"""Linted code that would take all the time or memory there is is ended: the rounds of its `while` loops are counted.

Everything else that linted code may repeat has an end, or is ended by the watchdog. A loop is counted where it is
compiled, so that code without a `while` costs nothing.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import sys
from collections.abc import Iterator
from typing import TypeVar

from triton_mutlint.source.walking import walk

COUNTER = "__mutlint_round__"
ROUNDS = 300_000  # of all loops together in one session: no constant of the measured packages takes a thousandth of it
BYTES = 4 << 30  # the measured packages take a tenth of it, the parts of them that Triton maps included
_Node = TypeVar("_Node", bound=ast.AST)


class EndlessError(BaseException):
    """A loop went round too often. No `Exception`: linted code that handles those would go on."""


class Rounds:
    """Counts the rounds of `while` loops; linted code calls it by the name in `COUNTER`."""

    def __init__(self) -> None:
        self._count = 0

    def reset(self) -> None:
        self._count = 0

    def __call__(self) -> None:
        self._count += 1
        if self._count > ROUNDS:
            frame = sys._getframe(1)
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            raise EndlessError(f"the loop at {place} was ended after {ROUNDS} rounds")


def bounded(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements with their `while` loops counted; the same ones where there is none."""
    return [_counting(statement) if _loops(statement) else statement for statement in body]


def _loops(node: ast.AST) -> bool:
    return any(inner.__class__ is ast.While for inner in walk(node))


def _counting(statement: _Node) -> _Node:
    own = copy.deepcopy(statement)
    for loop in [node for node in walk(own) if isinstance(node, ast.While)]:
        call = ast.Expr(ast.Call(ast.Name(COUNTER, ast.Load()), [], []))
        loop.body.insert(0, ast.fix_missing_locations(ast.copy_location(call, loop)))
    return own


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """At most `BYTES` more memory than there is now: linted code that wants more gets a `MemoryError`."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - a hot path
        limit = int(file.read().split()[0]) * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit if soft == resource.RLIM_INFINITY else min(soft, limit), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
