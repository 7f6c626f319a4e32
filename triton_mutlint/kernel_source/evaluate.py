"""Compile-time values of a kernel's source: plain constants, and terms that come to one once parameters are chosen."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
PRESENT: Any = type("Present", (), {"__repr__": lambda self: "PRESENT"})()
"""A runtime argument: not None, and nothing else is known of it."""

PARAMETER, CONSTANT, AND, OR, CHOICE = "parameter", "constant", "and", "or", "choice"
_MAX_SIZE = 64  # operations in a term
_PLAIN = (int, float, str, bool, tuple, type(None))


def tuple_of(*values: Any) -> tuple[Any, ...]:
    return values


def negation(value: Any) -> bool:
    return not value


def _shifted(left: int, right: int) -> int:
    return left << right if 0 <= right < 63 else UNKNOWN


OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: _shifted, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Not: negation, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_NONE_TESTS = frozenset((operator.is_, operator.is_not, operator.eq, operator.ne))


@dataclass(frozen=True)
class Term:
    """A function (or `and`, `or`, a choice) of other terms, a constant with its type, or a parameter's name."""

    function: Callable[..., Any] | str
    args: tuple[Any, ...]
    is_constexpr: bool = False  # a parameter that is one, or what is made of such
    size: int = 1

    @classmethod
    def constant(cls, value: Any) -> Term:
        return cls(CONSTANT, (type(value), value), True)

    @classmethod
    def applied(cls, function: Callable[..., Any] | str, *terms: Term | None) -> Term | None:
        """The function of the terms; None where one is not known, or a number is only known when the kernel runs."""
        known = [term for term in terms if term is not None]
        size = 1 + sum(term.size for term in known)
        if len(known) < len(terms) or size > _MAX_SIZE:
            return None
        is_test = function in _NONE_TESTS or function in (AND, OR, negation)
        if not is_test and not all(term.is_constexpr for term in known):
            return None
        return cls(function, tuple(known), True, size)

    def leaves(self) -> Iterator[Any]:
        """The constants in it."""
        if self.function == CONSTANT:
            yield self.args[1]
        elif self.function != PARAMETER:
            for term in self.args:
                yield from term.leaves()


class Evaluation:
    """Evaluates terms under one assignment of the kernel's parameters.

    `reads` collects the parameters that were looked at; an `eager` one looks at both sides of `and` and `or`.
    """

    def __init__(self, values: Mapping[str, Any], *, eager: bool = False) -> None:
        self.values = values
        self.eager = eager
        self.reads: list[str] = []

    def __call__(self, term: Term | None) -> Any:
        """The value of `term`, or UNKNOWN."""
        if term is None:
            return UNKNOWN
        if term.function == PARAMETER:
            if term.args[0] not in self.reads:
                self.reads.append(term.args[0])
            return self.values.get(term.args[0], UNKNOWN)
        if term.function == CONSTANT:
            return term.args[1]
        if term.function in (AND, OR):
            return self._chain(term.args, stop=term.function == OR)
        if term.function == CHOICE:
            test = self(term.args[0])
            return self(term.args[1] if test else term.args[2]) if known(test) else UNKNOWN
        assert callable(term.function)
        return self._applied(term.function, [self(arg) for arg in term.args])

    def _chain(self, terms: tuple[Term, ...], stop: bool) -> Any:
        result: Any = not stop
        values = [self(term) for term in terms] if self.eager else map(self, terms)
        for value in values:
            if not known(value):
                result = UNKNOWN
            elif bool(value) is stop:
                return value
        return result

    @staticmethod
    def _applied(function: Callable[..., Any], args: list[Any]) -> Any:
        is_none_test = function in _NONE_TESTS and UNKNOWN not in args and any(arg is None for arg in args)
        if not known(*args) and not is_none_test:
            return UNKNOWN
        if any(isinstance(arg, int) and abs(arg) > 1 << 62 for arg in args):
            return UNKNOWN
        try:
            return plain(function(*args))
        except Exception:  # a string compared with a number, say, or the project's own code in a constexpr function
            return UNKNOWN


def known(*values: Any) -> bool:
    return not any(v is UNKNOWN or v is PRESENT for v in values)


def plain(value: Any) -> Any:
    """A global as a plain value: numbers, strings, tuples of them, `tl.constexpr` of one, dtypes."""
    if isinstance(value, _PLAIN):
        return value
    if type(value).__name__ == "constexpr":
        return plain(value.value)
    if type(value).__name__ == "dtype":
        return value
    return UNKNOWN


def dotted(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """The object that a dotted name stands for; only modules and classes are looked into."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id, UNKNOWN)
    if not isinstance(node, ast.Attribute):
        return UNKNOWN
    owner = dotted(node.value, namespace)
    if isinstance(owner, (ModuleType, type)):
        try:
            return getattr(owner, node.attr, UNKNOWN)
        except Exception:  # a stand-in module may raise anything for a name it cannot give
            return UNKNOWN
    return UNKNOWN


def own(value: Any, name: str) -> Any:
    """An attribute an object holds itself: stand-ins answer, or raise, for every other name."""
    try:
        return object.__getattribute__(value, "__dict__").get(name)
    except AttributeError:
        return None


def next_power_of_2(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())


def ceiling(a: int, b: int) -> int:
    return -(-a // b)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "cdiv": ceiling, "next_power_of_2": next_power_of_2, "min": min, "max": max, "minimum": min, "maximum": max,
    "len": len, "abs": abs, "int": int, "bool": bool, "float": float,
}  # fmt: skip
