"""Compile-time values of a kernel's source, and what Python makes of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
_PLAIN = (int, float, str, bool, tuple, type(None))


def _shifted(left: int, right: int) -> int:
    return left << right if 0 <= right < 63 else UNKNOWN


OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: _shifted, ast.RShift: operator.rshift,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip


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
