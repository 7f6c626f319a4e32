"""Operators, comparisons and conditions: what they tell about their operands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from triton_mutlint.kernel_source.evaluate import Scope
from triton_mutlint.signature import marks
from triton_mutlint.signature.constraints import Constraint
from triton_mutlint.signature.dtype_names import promoted
from triton_mutlint.signature.facts import NO_CONST, NONE, Slot, Slots, Value, every, union
from triton_mutlint.signature.intrinsic_call import blend, merge
from triton_mutlint.signature.value_ops import use_dtype

if TYPE_CHECKING:
    from triton_mutlint.signature.summaries import Summaries

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Operators:
    """The state of one walk, and the operators in it."""

    def __init__(self, program: Summaries, scope: Scope, env: dict[str, Value]) -> None:
        self.program = program
        self.file = ""
        self.effects = 0  # writes, and what may write, seen so far
        self.scope = scope
        self.env = env
        self.constraints: list[Constraint] = []
        self.reaches: list[Constraint] = []  # branches that write, or choose what is written
        self.typed = False  # a dtype was asked about: the guessed types decide something
        self.conditions: list[tuple[ast.expr, bool, int]] = []
        self.asserting = False  # inside an assertion: its comparisons choose nothing
        self.repeated = False  # a second pass over a loop body: say nothing twice

    def eval(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def constraint(self, kind: str, node: ast.Call | ast.expr | None, line: int = 0) -> None:
        if self.repeated or len(self.constraints) >= 256:
            return
        if kind == "assert" and isinstance(node, ast.Call):
            node = node.args[0] if node.args else None
        line = line or (node.lineno if node is not None else 0)
        self.constraints.append(Constraint(kind, node, line, (self.scope,), tuple(self.conditions)))

    def reach(self, node: ast.expr, side: bool, tests: Slots, chosen: Slots = NONE) -> None:
        """One side of a test on compile-time values matters: what it writes, or what is `chosen` there."""
        if self.repeated or len(self.reaches) >= 64 or not compile_time(tests):
            return
        conditions = (*self.conditions, (node, side, 0))
        self.reaches.append(Constraint("reach", None, node.lineno, (self.scope,), conditions, chosen))

    # ----------------------------------------------------------------- operators

    def binary(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if left.items is not None or right.items is not None:
            return _concatenate(left, right)
        line, op = node.lineno, node.op
        for value in (left, right):
            for slot in value.bare:
                slot.arithmetic = slot.arithmetic or line
                if value.dtype is None and not isinstance(op, (ast.Add, ast.Sub)):
                    slot.number = slot.number or line
                if value.dtype is None or isinstance(op, ast.Mult):
                    slot.direct = slot.direct or line
        if isinstance(op, (ast.Add, ast.Sub)):
            return self._sum(left, right, line)
        self._operands(op, left, right, line)
        value = blend((left, right), None if not isinstance(op, ast.Div) else _divided(left, right))
        if isinstance(op, ast.Mult):
            names = factors(left) | factors(right)
            if names:
                return Value(NONE, value.mixed, value.memory, value.dtype, NO_CONST, None, names)
        return value

    def _operands(self, op: ast.operator, left: Value, right: Value, line: int) -> None:
        if isinstance(op, _BITWISE):
            self._bitwise(left, right, line, isinstance(op, (ast.LShift, ast.RShift)))
        elif isinstance(op, ast.FloorDiv):
            for value in (left, right):
                if any(not s.constexpr for s in value.base | value.mixed) or value.memory:
                    marks.integer(value, line)
        else:
            _hint(left, right, line)
            _hint(right, left, line)
        if isinstance(op, (ast.Pow, ast.LShift)):
            for slot in right.base | right.mixed:
                slot.exponent = slot.exponent or line

    def _bitwise(self, left: Value, right: Value, line: int, shift: bool) -> None:
        for value in (left, right):
            if value.dtype == "bool" or isinstance(value.const, bool):
                continue
            if value.bare and all(s.constexpr for s in value.bare) and any(v.dtype == "i1" for v in (left, right)):
                marks.note(value, "branch", line)  # a flag beside a mask
                continue
            if shift or any(v.dtype not in ("i1", None) for v in (left, right) if v is not value):
                marks.integer(value, line)
            elif value.memory:
                marks.weakly_integer(Value(memory=value.memory, dtype=value.dtype), line)
            elif value.base and not value.mixed:
                marks.weakly_integer(value, line)

    def _sum(self, left: Value, right: Value, line: int) -> Value:
        marks.summed(left, right)
        marks.summed(right, left)
        self.program.distances |= bool((left.memory and right.base) or (right.memory and left.base))
        base, extra = marks.base_and_offset(left, right)
        _hint(left, right, line)
        _hint(right, left, line)
        pointed = next((v for v in (left, right) if marks.points(v)), None)
        dtype = pointed.dtype if pointed else promoted(left.dtype, right.dtype)
        mixed = union(union(left.mixed, right.mixed), extra)
        return Value(base, mixed, union(left.memory, right.memory), dtype, NO_CONST, None,
                     left.factors | right.factors, tests=union(left.tests, right.tests))  # fmt: skip

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            self.condition(node.operand, value)
            return Value(dtype="i1", tests=decided(value))
        if isinstance(node.op, ast.Invert):
            number = any(not s.constexpr for s in value.bare)
            if value.dtype not in ("i1", None) or value.memory or number:
                marks.weakly_integer(value, node.lineno)
            return value
        if isinstance(value.const, (int, float)):
            return Value(dtype=value.dtype, const=-value.const)
        return value

    def boolean(self, node: ast.BoolOp) -> Value:
        tests = NONE
        for part in node.values:
            value = self.eval(part)
            self.condition(part, value)
            tests = union(tests, decided(value))
        return Value(dtype="i1", tests=tests)

    def compare(self, node: ast.Compare) -> Value:
        left = self.eval(node.left)
        tests = decided(left)
        for op, item in zip(node.ops, node.comparators, strict=True):
            right = self.eval(item)
            tests = union(tests, decided(right))
            self._compared(op, left, right, node.lineno)
            self._compared(op, right, left, node.lineno)
            left = right
        return Value(dtype="i1", tests=tests)

    def _compared(self, op: ast.cmpop, value: Value, other: Value, line: int) -> None:
        if self.asserting:
            return
        if other.const is None:
            for part in value.bare:
                part.none_test = part.none_test or line
            return
        if other.is_dtype:
            self.typed = True
            use_dtype(value, line)
            return
        literals = _literals(other)
        for slot in value.bare if literals else ():
            if isinstance(op, _ORDER):
                slot.bounds = _extended(slot.bounds, literals)
            else:
                slot.literals = _extended(slot.literals, literals)
        for slot in value.bare if other.dtype is not None else ():
            as_it_stands = line if value.dtype is None else 0
            slot.scalar = slot.scalar or as_it_stands
            slot.direct = slot.direct or as_it_stands
            if isinstance(other.const, float) and not slot.constexpr:
                slot.floating = slot.floating or line
        _hint(value, other, line)
        if other.dtype == "int" and isinstance(value.dtype, Slot):
            for slot in value.memory:
                slot.elem_weak_int = slot.elem_weak_int or line

    def conditional(self, node: ast.IfExp) -> Value:
        test = self.eval(node.test)
        self.condition(node.test, test)
        left, right = self.eval(node.body), self.eval(node.orelse)
        marks.agree(left, right, node.lineno)
        marks.moves(left, right, decided(test), node.lineno)
        chosen = frozenset(s for v in every((left, right)) for s in v.base if not s.constexpr)
        if chosen:
            self.reach(node.test, True, decided(test), chosen)
            self.reach(node.test, False, decided(test), chosen)
        return decided_by(merge(left, right), decided(test))

    def condition(self, node: ast.expr, value: Value) -> None:
        """`value`, of `node`, decides a branch."""
        marks.note(value, "branch", node.lineno)
        if value.memory:
            marks.weakly_integer(value, node.lineno)


def _hint(value: Value, other: Value, line: int) -> None:
    """Arithmetic with, or a comparison to, something of a known kind."""
    if not (value.base and not value.memory):
        return
    if other.dtype in ("i32", "i64", "int"):
        if other.dtype != "int":
            for slot in value.base:
                slot.weak_int = slot.weak_int or line
    elif other.dtype is not None and (marks.is_floating(other.dtype) or isinstance(other.dtype, Slot)):
        marks.weakly_floating(value, line)


def _divided(left: Value, right: Value) -> str | Slot:
    for value in (left, right):
        if isinstance(value.dtype, Slot) or marks.is_floating(value.dtype):
            return value.dtype  # type: ignore[return-value]
    return "fp32"


def factors(value: Value) -> frozenset[str]:
    names = {s.name for s in value.base if s.constexpr}
    return value.factors | names if names else value.factors


def _literals(value: Value) -> tuple[Any, ...]:
    if value.items is not None:
        return tuple(v.const for v in value.items.values() if v.const is not NO_CONST)
    if value.const is NO_CONST:
        return ()
    return value.const if isinstance(value.const, tuple) else (value.const,)


def _extended(seen: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    return seen + tuple(v for v in more if not any(v is s or (type(v) is type(s) and v == s) for s in seen))


def _concatenate(left: Value, right: Value) -> Value:
    values = [*(left.items or {}).values(), *(right.items or {}).values()]
    return Value(items=dict(enumerate(values)))


def decided(value: Value) -> Slots:
    """The slots that a compile-time test on `value` looks at."""
    return value.tests | value.base | value.mixed


def compile_time(tests: Slots) -> bool:
    """Whether a test that looks at `tests` is decided when the kernel is compiled."""
    return bool(tests) and all(s.constexpr or s.none_test for s in tests)


def decided_by(value: Value, tests: Slots) -> Value:
    """`value`, which a test has chosen: noted where it may itself be tested at compile time."""
    runs = value.memory or value.dtype not in (None, "int", "float") or value.items is not None
    if runs or not tests or not all(s.constexpr for s in value.base | value.mixed):
        return value
    return Value(value.base, value.mixed, value.memory, value.dtype, value.const, value.items, value.factors,
                 value.is_dtype, value.ref, value.tests | tests)  # fmt: skip
