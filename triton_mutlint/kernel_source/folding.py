"""Operators and functions applied to compile-time constants.

A constant may have become a number of 32 bits by then, which Triton computes with as a machine does. So nothing is
said where Python might come to another result: of large numbers, of fractions, of negative ones that are divided.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_mutlint.kernel_source.objects import UNKNOWN, named_and_home, plain
from triton_mutlint.kernel_source.operations import QUIET
from triton_mutlint.kernel_source.values import FALSE, NOTHING, TRUE, MayBe, Object, constant, decided_by
from triton_mutlint.ttir.asm_steps import HOLE

_LIMIT = 1 << 31
_LOGICAL = (ast.BitAnd, ast.BitOr, ast.BitXor)


def next_power_of_2(n: int) -> int:
    return 1 << max(0, (n - 1).bit_length())


# Operators that come to the same on a machine; those in the second table, if no operand is negative.
_EXACT: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_POSITIVE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.RShift: operator.rshift,
    ast.LShift: lambda a, b: a << b if b < 63 else UNKNOWN,
}  # fmt: skip
_COMPARING: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_SAME: Mapping[str, Callable[[Any], Any]] = {
    "constexpr": lambda a: a, "bool": bool, "int": lambda a: int(a) if isinstance(a, int) else UNKNOWN,
}  # fmt: skip
_WHOLE: Mapping[str, Callable[..., Any]] = {
    "cdiv": lambda a, b: -(-a // b), "next_power_of_2": next_power_of_2, "min": min, "max": max, "abs": abs,
    "minimum": min, "maximum": max,
}  # fmt: skip
_PLAIN = tuple((Object(cls),) for cls in (int, float, bool, str))
FOLDED = frozenset({*_SAME, *_WHOLE})


def computed(op: ast.operator, left: MayBe, right: MayBe) -> MayBe | None:
    """`left op right`, if that can be told."""
    found = _computed(op, left, right)
    return found if found is None else replace(found, of=left.of | right.of)


def text_of(parts: Sequence[MayBe]) -> MayBe:
    """The text that these parts come to, one behind the other."""
    text = "".join(part.partial or (str(part.value) if part.is_known else HOLE) for part in parts)
    return MayBe(partial=text) if HOLE in text else constant(text)


def _computed(op: ast.operator, left: MayBe, right: MayBe) -> MayBe | None:
    a, b = left.value, right.value
    if isinstance(op, ast.Add) and any(v.partial or isinstance(v.value, str) for v in (left, right)):
        return text_of((left, right))
    if isinstance(op, ast.BitAnd) and any(v.is_known and v.value in (False, 0) for v in (left, right)):
        is_flag = any(v.value is False for v in (left, right))
        return FALSE if is_flag else constant(0)
    is_sum_of_flags = type(a) is bool and not isinstance(op, _LOGICAL)
    if not _is_whole(a) or not _is_whole(b) or type(a) is not type(b) or is_sum_of_flags:
        return None
    function = _EXACT.get(type(op)) or (_POSITIVE.get(type(op)) if a >= 0 and b >= 0 else None)
    return None if function is None else _result(function, (a, b))


def called(name: str, args: tuple[Any, ...]) -> MayBe | None:
    """What a function of that name makes of constants, if that can be told."""
    if name in _SAME and len(args) == 1:
        return constant(_SAME[name](args[0]))
    if name not in _WHOLE or not args or not all(_is_whole(a) and a >= 0 for a in args):
        return None
    return _result(_WHOLE[name], args)


def evaluated(function: Any, args: tuple[MayBe, ...]) -> MayBe | None:
    """What the project's own function of compile-time values comes to."""
    if not all(a.is_known for a in args):
        return None
    of = decided_by(args)
    try:
        found = plain(getattr(function, "fn", function)(*(a.value for a in args)))
    except Exception:  # the project's own code
        return MayBe(of=of)
    return MayBe(of=of) if found is UNKNOWN or isinstance(found, tuple) else replace(constant(found), of=of)


def _result(function: Callable[..., Any], args: tuple[Any, ...]) -> MayBe | None:
    try:
        found = function(*args)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return constant(found) if _is_whole(found) else None


def _is_whole(value: Any) -> bool:
    """Whether a constant is an integer, or a truth value, that is the same with 32 bits."""
    return isinstance(value, int) and -_LIMIT < value < _LIMIT


def compared(test: ast.Compare, left: MayBe, right: MayBe) -> MayBe:
    """What a test of two values comes to, where that can be told."""
    found = _compared(test, left, right)
    of = left.of | right.of if found.is_known else decided_by((left, right, *(right.items or ())))
    return replace(found, of=of) if of else found


def _compared(test: ast.Compare, left: MayBe, right: MayBe) -> MayBe:
    if len(test.ops) != 1:
        return NOTHING
    op = test.ops[0]
    if isinstance(op, ast.Is | ast.IsNot):
        same = _is_same(left, right)
        return NOTHING if same is None else constant(same is isinstance(op, ast.Is))
    if isinstance(op, ast.In | ast.NotIn):
        inside = _is_in(left, right)
        return NOTHING if inside is None else constant(inside is isinstance(op, ast.In))
    if _is_empty(op, left, right):
        return FALSE
    if not (left.is_known and right.is_known):
        return NOTHING
    try:
        return TRUE if _COMPARING[type(op)](left.value, right.value) else FALSE
    except TypeError:
        return NOTHING


def _is_same(left: MayBe, right: MayBe) -> bool | None:
    """Whether one is the other: told of None, and of truth values."""
    for one, other in ((left, right), (right, left)):
        if one.said == (type(None), None) and (other.is_known or other.is_present):
            return other.value is None
        if one.is_known and type(one.value) is bool and other.is_known:
            return one.said == other.said
    return None


def _is_in(left: MayBe, right: MayBe) -> bool | None:
    items = right.items if right.has_length else None
    if isinstance(left.value, str) and isinstance(right.value, str):
        return left.value in right.value
    if items is None or not left.is_known or not all(item.is_known for item in items):
        return None
    return any(left.value == item.value for item in items)


def _is_empty(op: ast.cmpop, left: MayBe, right: MayBe) -> bool:
    """Whether a range is asked to be below its own start."""
    low, high = (left, right) if isinstance(op, ast.Lt) else (right, left)
    limit = high.value if isinstance(op, ast.Lt | ast.Gt) else None
    return low.start is not None and type(limit) is int and 0 <= limit <= low.start


def folded(target: Any, args: list[MayBe]) -> MayBe | None:
    """What a function makes of constants, if that can be told."""
    name, home = named_and_home(target)
    if type(target).__name__ == "ConstexprFunction":
        return evaluated(target, tuple(args))
    if home.partition(".")[0] not in QUIET:
        return None
    if name == "arange" and args and type(args[0].value) is int:
        return MayBe(start=args[0].value, of=args[0].of)
    if name == "isinstance" and len(args) == 2 and args[0].is_launched and args[1].functions in _PLAIN:
        return FALSE
    if name == "len" and len(args) == 1 and args[0].has_length:
        return constant(len(args[0].items or ()))
    if not args or not all(arg.is_known for arg in args):
        return None
    of, found = decided_by(args), called(name, tuple(arg.value for arg in args))
    return replace(found or NOTHING, of=of) if found is not None or (of and name in FOLDED) else None
