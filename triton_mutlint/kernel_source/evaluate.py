"""Compile-time values of a kernel's source."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import ModuleType
from typing import Any

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
_PLAIN = (int, float, str, bool, tuple, type(None))


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
