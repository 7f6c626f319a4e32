"""Random kernels as data: what the generator makes, the emitter prints, and the truth is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union


@dataclass(frozen=True)
class Node:
    """An expression: a row's name (`fuzz/rows.py`), its operands and constants.

    `var` reads the variable `args[0]`; `call` calls the helper `args[0]`.
    """

    op: str
    args: tuple[Union[Node, str, int], ...] = ()  # noqa: UP007  # evaluated at run time

    @property
    def operands(self) -> tuple[Node, ...]:
        return tuple(a for a in self.args if isinstance(a, Node))


@dataclass(frozen=True)
class Assign:
    """`a, b = x, y`, or `a, b = helper(...)`: as many targets as the expressions give values."""

    targets: tuple[str, ...]
    values: tuple[Node, ...]


@dataclass(frozen=True)
class Do:
    """An expression for its effect: a store, an atomic, a helper's call."""

    action: Node


@dataclass(frozen=True)
class If:
    condition: Node
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...] = ()


@dataclass(frozen=True)
class Loop:
    """`form` names the header (`fuzz/rows.py`), `trips` the number of trips where it is a constant.

    `header` is the address that the condition of a `while_atomic` changes.
    """

    form: str
    index: str
    trips: int
    body: tuple[Stmt, ...]
    header: Node | None = None


@dataclass(frozen=True)
class Return:
    values: tuple[Node, ...] = ()


Stmt = Union[Assign, Do, If, Loop, Return]  # noqa: UP007
Body = tuple[Stmt, ...]


@dataclass(frozen=True)
class Function:
    """A helper or the kernel; `kinds` are one letter per parameter (`fuzz/rows.py`)."""

    name: str
    parameters: tuple[str, ...]
    kinds: str
    body: Body
    returns: str = ""  # kinds of what it returns
    noinline: bool = False


@dataclass(frozen=True)
class Program:
    """One kernel and its helpers; a helper only calls those before it."""

    kernel: Function
    helpers: tuple[Function, ...] = field(default=())

    def helper(self, name: str) -> Function:
        return next(h for h in self.helpers if h.name == name)


def assigned(body: Body) -> list[str]:
    """The variables that a body assigns, at any depth, with repetitions."""
    found: list[str] = []
    for statement in body:
        if isinstance(statement, Assign):
            found += statement.targets
        elif isinstance(statement, If):
            found += assigned(statement.then) + assigned(statement.other)
        elif isinstance(statement, Loop):
            found += assigned(statement.body)
    return found
