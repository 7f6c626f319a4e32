"""Safe evaluation of the constexpr expressions of a kernel's body, without running the kernel."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
PRESENT: Any = type("Present", (), {"__repr__": lambda self: "PRESENT"})()
"""A runtime argument: not None, and nothing else is known of it."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
COMPARE_TWO: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    **COMPARE_TWO, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_PLAIN = (int, float, str, bool, tuple, type(None))


@dataclass(frozen=True, eq=False)
class SourceScope:
    """Where names of one function body are looked up.

    `locals` holds names assigned exactly once; `arguments` the expressions a caller passed for the
    parameters, to be evaluated in the caller's scope (None for the kernel itself).
    """

    namespace: Mapping[str, Any]
    locals: Mapping[str, ast.expr | None] = field(default_factory=dict)
    arguments: Mapping[str, ast.expr] | None = None


class Evaluation:
    """Evaluates expressions under one assignment of the kernel's parameters.

    `reads` collects the parameters that the last evaluation looked at; an `eager` one looks at both
    sides of `and` and `or`.
    """

    def __init__(self, values: Mapping[str, Any], *, eager: bool = False) -> None:
        self.values = values
        self.eager = eager
        self.reads: list[str] = []
        self._depth = 0
        self._locals: dict[tuple[Any, ...], Any] = {}

    def __call__(self, node: ast.expr, scopes: Sequence[SourceScope]) -> Any:
        """The value of `node`, or UNKNOWN."""
        handler = _HANDLERS.get(type(node))
        if handler is None or self._depth > 40:
            return UNKNOWN
        self._depth += 1
        try:
            return handler(self, node, scopes)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError, AttributeError, KeyError):
            return UNKNOWN  # e.g. a string compared with a number
        finally:
            self._depth -= 1

    def name(self, node: ast.Name, scopes: Sequence[SourceScope]) -> Any:
        scope, name = scopes[0], node.id
        if name in scope.locals:
            assigned = scope.locals[name]
            return UNKNOWN if assigned is None else self._local(name, assigned, scopes)
        if scope.arguments is not None and name in scope.arguments:
            return self(scope.arguments[name], scopes[1:])
        if scope.arguments is None and name in self.values:
            if name not in self.reads:
                self.reads.append(name)
            return self.values[name]
        return plain(scope.namespace.get(name, UNKNOWN))

    def _local(self, name: str, assigned: ast.expr, scopes: Sequence[SourceScope]) -> Any:
        """Each local is evaluated once; one that is made of itself is unknown."""
        key = (name, *map(id, scopes))
        if key not in self._locals:
            self._locals[key] = UNKNOWN
            self._locals[key] = self(assigned, scopes)
        return self._locals[key]

    def attribute(self, node: ast.Attribute, scopes: Sequence[SourceScope]) -> Any:
        if node.attr == "value":
            return self(node.value, scopes)
        return plain(dotted(node, scopes[0].namespace))

    def binary(self, node: ast.BinOp, scopes: Sequence[SourceScope]) -> Any:
        left, right = self(node.left, scopes), self(node.right, scopes)
        if not known(left, right) or (isinstance(left, int) and abs(left) > 1 << 62):
            return UNKNOWN
        if isinstance(node.op, ast.LShift) and not 0 <= right < 63:
            return UNKNOWN
        return _BINARY[type(node.op)](left, right)

    def unary(self, node: ast.UnaryOp, scopes: Sequence[SourceScope]) -> Any:
        value = self(node.operand, scopes)
        if isinstance(node.op, ast.Not):
            return not value if known(value) else UNKNOWN
        if not known(value):
            return UNKNOWN
        return -value if isinstance(node.op, ast.USub) else ~value if isinstance(node.op, ast.Invert) else value

    def boolean(self, node: ast.BoolOp, scopes: Sequence[SourceScope]) -> Any:
        stop = isinstance(node.op, ast.Or)
        result: Any = not stop
        parts = [self(part, scopes) for part in node.values] if self.eager else node.values
        for part in parts:
            value = self(part, scopes) if isinstance(part, ast.expr) else part
            if value is UNKNOWN or value is PRESENT:
                result = UNKNOWN
            elif bool(value) is stop:
                return value
        return result

    def compare(self, node: ast.Compare, scopes: Sequence[SourceScope]) -> Any:
        left = self(node.left, scopes)
        for op, item in zip(node.ops, node.comparators, strict=True):
            right = self(item, scopes)
            if left is UNKNOWN or right is UNKNOWN:
                return UNKNOWN
            presence = left is PRESENT or right is PRESENT
            if presence and (left is right or not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))):
                return UNKNOWN
            if presence and left is not None and right is not None:
                return UNKNOWN
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def conditional(self, node: ast.IfExp, scopes: Sequence[SourceScope]) -> Any:
        test = self(node.test, scopes)
        if test is UNKNOWN or test is PRESENT:
            return UNKNOWN
        return self(node.body if test else node.orelse, scopes)

    def sequence(self, node: ast.Tuple | ast.List, scopes: Sequence[SourceScope]) -> Any:
        return tuple(self(item, scopes) for item in node.elts)

    def call(self, node: ast.Call, scopes: Sequence[SourceScope]) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        target = dotted(node.func, scopes[0].namespace)
        function = own(target, "fn") if type(target).__name__ == "ConstexprFunction" else _FUNCTIONS.get(name)
        if function is None or node.keywords:
            return UNKNOWN
        arguments = [self(a, scopes) for a in node.args]
        if not known(*arguments):
            return UNKNOWN
        try:
            return plain(function(*arguments))
        except Exception:  # the project's own code, where it is a constexpr function
            return UNKNOWN

    def subscript(self, node: ast.Subscript, scopes: Sequence[SourceScope]) -> Any:
        value, index = self(node.value, scopes), self(node.slice, scopes)
        if not isinstance(value, tuple) or not isinstance(index, int) or not -len(value) <= index < len(value):
            return UNKNOWN
        return value[index]


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


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cdiv": lambda a, b: -(-a // b), "next_power_of_2": next_power_of_2, "min": min, "max": max, "len": len,
    "abs": abs, "int": int, "bool": bool, "float": float, "constexpr": lambda a: a,
}  # fmt: skip

_HANDLERS: dict[type[ast.expr], Callable[[Evaluation, Any, Sequence[SourceScope]], Any]] = {
    ast.Constant: lambda self, node, scopes: node.value, ast.Name: Evaluation.name,
    ast.Attribute: Evaluation.attribute, ast.BinOp: Evaluation.binary, ast.UnaryOp: Evaluation.unary,
    ast.BoolOp: Evaluation.boolean, ast.Compare: Evaluation.compare, ast.IfExp: Evaluation.conditional,
    ast.Tuple: Evaluation.sequence, ast.List: Evaluation.sequence, ast.Call: Evaluation.call,
    ast.Subscript: Evaluation.subscript,
}  # fmt: skip
