"""Comparisons and arithmetic."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from triton_mutlint.host.expressions.attributes import Elements
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.torch import table as torch_table
from triton_mutlint.host.torch.table import applied
from triton_mutlint.host.values.groups import Cell, sequence
from triton_mutlint.host.values.values import (
    PLAIN,
    TENSOR,
    UNSEEN,
    ClassValue,
    FunctionValue,
    Sort,
    Thing,
    Value,
    constant,
    is_callable,
    is_plain,
    join,
    thing,
    truth,
)
from triton_mutlint.source.torch_facts import ALIASES

# What each operator does to values that are known; its name is that of the special methods, too.
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.MatMult: operator.matmul,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}  # fmt: skip
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "ne": "eq", "eq": "eq"}
_ORDER = ("lt", "gt", "le", "ge")
_AUTO = thing(External("enum.auto()"))  # another value for each member
_DTYPE = re.compile(r"torch\.(?:bool|(?:u?int|b?float|complex)\d+\w*)")
_GROW = (ast.Pow, ast.LShift)
_NUMBERS = (int, float, bool)
_LARGE = 1 << 64  # of numbers that are folded
_LONG = 1 << 12  # of strings, in characters


class Operators(Elements):
    """Evaluates operators."""

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.evaluate(part) for part in (node.left, *node.comparators)]
        if len(values) == 2:
            held = self._holds(values[1], values[0]) if isinstance(node.ops[0], (ast.In, ast.NotIn)) else None
            if held is not None:
                return constant(held is isinstance(node.ops[0], ast.In))
            known = self.compared(node.ops[0], values[0], values[1])
            if known is not None:
                return known
        found = [got for op, one, other in zip(node.ops, values, values[1:], strict=False)
                 if (got := self.compared_by(op, one, other, node)) is not None]
        flag = all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        result = PLAIN if flag else _result(values)
        return join(result, *found) if found else replace(result, wide=bool(result.kind & Sort.TENSOR))

    def compared_by(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value | None:
        """What the special methods of objects give that are compared."""
        if isinstance(op, (ast.In, ast.NotIn)):
            got = self.special(right, "__contains__", (left,), node)
            if got is None and right.cells:
                self.iterate(right, node)
            if got is None:
                self.handed([left, right], node)
            return got
        if isinstance(op, (ast.Is, ast.IsNot)):
            return None
        name = method_name(op)
        names = [f"__{name}__", f"__{_SWAPPED[name]}__"]
        if name in _ORDER:  # `functools.total_ordering` makes each of the others
            names.extend(f"__{other}__" for other in _ORDER if f"__{other}__" not in names)
        swapped = [names[1], names[0], *names[2:]]
        got = self._either_side(left, names, right, swapped, node)
        if got is None:
            self.handed([left, right], node)
        return got

    def _holds(self, container: Value, key: Value) -> bool | None:
        """Whether a value is a dict that has the key, or holds it among plain elements, where that is certain."""
        if not container.cells or container.things or container.roots or container.kind:
            return None
        contents = self.state.contents(container)
        if key.constant is not None and all(c.kind == "dict" and c.has(key.constant[1]) for c in contents):
            return True
        listed = contents[0].in_order() if len(contents) == 1 else None
        if key.among and key.among <= {one.constant[1] for one in listed or () if one.constant is not None}:
            return True
        answers = {truth(self.compared(ast.Eq(), key, one) or PLAIN) for one in listed or ()}
        return True if True in answers else None if listed is None or None in answers else False

    def compared(self, op: ast.cmpop, left: Value, right: Value) -> Value | None:
        if isinstance(op, (ast.Is, ast.IsNot)) and right.is_constant(None):
            if left.constant is not None:
                return constant((left.constant[1] is None) is isinstance(op, ast.Is))
            if is_callable(left) or (left.cells and not left.things and not left.kind and not left.roots):
                return constant(isinstance(op, ast.IsNot))
            if left.some:
                return constant(isinstance(op, ast.IsNot))
        if isinstance(op, (ast.Is, ast.IsNot)) and left.constant is not None and right.constant is not None:
            known = {type(left.constant[1]), type(right.constant[1])} <= {bool, type(None)}
            return constant((left.constant == right.constant) is isinstance(op, ast.Is)) if known else None
        if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            same = self._same_object(left, right, isinstance(op, (ast.Eq, ast.NotEq)))
            if same is None and left.among and right.constant is not None:
                same = False if right.constant[1] not in left.among else True if len(left.among) == 1 else None
            return folded(op, left, right) if same is None else constant(same is isinstance(op, (ast.Is, ast.Eq)))
        return folded(op, left, right)

    def compared_so(self, op: ast.cmpop, value: Value, right: ast.expr, holds: bool) -> Value:
        """A value of which it is known how it compares with another: one of some strings, or not the argument."""
        other = self.evaluate(right) if isinstance(right, (ast.Name, ast.Constant)) else Value()
        if isinstance(op, (ast.Is, ast.IsNot)):
            apart, shared = isinstance(op, ast.IsNot) is holds, value.same & other.same
            if not apart or other.mixed or not shared:
                return value
            return replace(value, same=value.same - shared, unsure=value.unsure | shared)  # or a view of it
        found = [other] if isinstance(op, (ast.Eq, ast.NotEq)) else self.in_order(other, right)
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            found = [constant(one.value) if isinstance(one, ast.Constant) else Value() for one in right.elts]
        told = frozenset(one.constant[1] for one in found or () if one.constant is not None)
        if not is_plain(value) or value.constant is not None or len(told) != len(set(found or ())) or not told:
            return value
        if isinstance(op, (ast.In, ast.Eq)) is holds:
            left = value.among & told if value.among else told
        else:
            left = value.among - told
        sure = len(left) == 1 and all(isinstance(one, str) for one in left)  # 1 may be True
        return constant(*left) if sure else replace(value, among=left)

    def _same_object(self, left: Value, right: Value, by_value: bool) -> bool | None:
        """Whether two values are one object, or are equal, where that is certain."""
        if left.kind == right.kind == Sort.TENSOR and not by_value:  # one of the op's arguments, and one made here
            alone = [value for value in (left, right) if value == replace(TENSOR, wide=value.wide, some=value.some)]
            return False if len(alone) == 1 and left.roots | right.roots == left.same | right.same else None
        if any(len(value.things | value.cells) != 1 or value.kind or value.roots for value in (left, right)):
            return None
        if left.things and right.things:
            (one,), (other,) = left.things, right.things
            if (first := _dtype(one)) and (second := _dtype(other)):
                return first == second
            if is_callable(left) and is_callable(right) and getattr(one, "node", 0) is not getattr(other, "node", 1):
                return False
            fixed = isinstance(one, (External, ClassValue, FunctionValue)) and getattr(one, "scope", None) is None
            return True if one == other and fixed and one != External("torch.Tensor") else None
        contents = [*self.state.contents(left), *self.state.contents(right)]
        enumerated = all(content.owner is not None and self.is_enum(content.owner) for content in contents)
        if left == right and not contents[0].many and (enumerated or not by_value):
            return True
        values = [content.get("name" if content.get("value") == _AUTO else "value") or UNSEEN for content in contents]
        told = enumerated and all(value.constant is not None for value in values)
        return False if told and len({value.constant for value in values}) > 1 else None

    # ------------------------------------------------------------------ arithmetic

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.binary(node, left, right)

    def binary(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """What a binary operator gives."""
        known = folded(node.op, left, right)
        if known is not None:
            return known
        got = self.operated(node.op, left, right, node)
        if got is not None:
            return got
        self.handed([left, right], node)
        if left.cells and (isinstance(node.op, (ast.Add, ast.Mult, ast.BitOr))):
            return self._joined_containers(node, left, right)
        if right.cells and isinstance(node.op, (ast.Add, ast.Mult)):
            return self._joined_containers(node, right, left)
        wide = isinstance(node.op, (ast.BitAnd, ast.BitOr)) and left.wide and right.wide
        return replace(_result([left, right]), carried=left.carried | right.carried, wide=wide)

    def operated(self, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value | None:
        """What the special methods of first-party objects give for an operator; in place first."""
        name = method_name(op)
        before = (f"__i{name}__",) if isinstance(node, ast.AugAssign) else ()
        return self._either_side(left, (*before, f"__{name}__"), right, [f"__r{name}__"], node)

    def _either_side(self, left: Value, names: Sequence[str], right: Value, swapped: Sequence[str],
                     node: ast.AST) -> Value | None:
        """What the method of the left operand gives, and that of the right one where that may be asked."""
        ours, theirs = self.special(left, names, (right,), node), None
        first = [owner for _, owner in self.owned(left)]
        derived = any(owner in self.order(other)[1:] for _, other in self.owned(right) for owner in first)
        if ours is None or derived or ours.kind & Sort.OTHER or ours.things or left.kind or left.roots:
            theirs = self.special(right, swapped, (left,), node)
        return None if ours is None and theirs is None else join(ours or Value(), theirs or Value())

    def _joined_containers(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """`a + b`, `a * n`, `a | b` of tuples, lists and dicts."""
        ours, theirs = self.state.contents(left), self.state.contents(right)
        one, other = self.state.listed(left), self.state.listed(right)
        if isinstance(node.op, ast.Add) and one is not None and other is not None:
            return self.make(node, sequence([*one, *other], ours[0].kind))
        if isinstance(node.op, ast.Add) and one is not None:
            return self.make(node, replace(sequence(one, ours[0].kind), rest=self.iterate(right, node), size=None))
        fields = {k: v for c in (*ours, *theirs) if c.kind == "dict" for k, v in c.fields.items()}
        rest = join(*(c.rest if c.kind == "dict" else c.every() for c in (*ours, *theirs)))
        rest = join(rest, *(self.iterate(v, node) for v in (left, right) if v.roots))
        return self.make(node, Cell(fields, rest, kind=ours[0].kind if ours else "list"))

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            certain = self.tested(value, node)
            return PLAIN if certain is None else constant(not certain)
        if value.constant is not None and isinstance(value.constant[1], _NUMBERS) and isinstance(node.op, ast.USub):
            return constant(-value.constant[1])
        if isinstance(node.op, ast.UAdd) and value.constant is not None:
            return value
        name = f"__{method_name(node.op)}__"
        got, effect = self.special(value, name, (), node), torch_table.method(name)
        if effect is not None and (value.same or value.maybe or value.unsure):  # `+x` is x
            got = join(replace(applied(effect, [value]), carried=value.carried), got or Value())
        return got if got is not None else replace(_result([value]), carried=value.carried, wide=value.wide)


def method_name(op: ast.AST) -> str:
    """The name of an operator in those of its special methods."""
    function = OPERATORS.get(type(op))
    return function.__name__.strip("_") if function is not None else ""


def _dtype(one: Thing) -> str:
    """The full name of a dtype of torch, if it is one."""
    top, _, name = one.name.partition(".") if isinstance(one, External) else ("", "", "")
    full = f"{top}.{ALIASES.get(name, name)}"
    return full if _DTYPE.fullmatch(full) else ""


def folded(op: ast.operator | ast.cmpop, left: Value, right: Value) -> Value | None:
    """The constant that two constants give, where it is cheap and certain."""
    function = OPERATORS.get(type(op))
    if function is None or left.constant is None or right.constant is None or isinstance(op, _GROW):
        return None
    a, b = left.constant[1], right.constant[1]
    texts = isinstance(a, str) and isinstance(b, str) and isinstance(op, (ast.Add, ast.cmpop))
    numbers = isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS)
    if not (texts or numbers or isinstance(op, (ast.Eq, ast.NotEq))):
        return None
    try:
        result = function(a, b)
        large = len(result) > _LONG if isinstance(result, str) else isinstance(result, int) and abs(result) > _LARGE
        return None if large else constant(result)
    except (ArithmeticError, TypeError, ValueError):
        return None


def _result(values: list[Value]) -> Value:
    """What arithmetic gives: a new tensor, or something plain, such as an address and an offset."""
    if any(v.kind & Sort.TENSOR or v.same or v.maybe or v.unsure for v in values):
        return TENSOR
    return PLAIN if all(map(is_plain, values)) else Value(kind=Sort.PLAIN | Sort.OTHER)

def question(test: ast.expr) -> tuple[str, str, bool]:
    """The name that a test is about, what it asks of it, and which answer it holds for; no name where it is another."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        name, about, yes = question(test.operand)
        return name, about, not yes
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        left, right = test.left, test.comparators[0]
        none = isinstance(left, ast.Name) and isinstance(right, ast.Constant) and right.value is None
        return left.id if none and isinstance(left, ast.Name) else "", "is None", isinstance(test.ops[0], ast.Is)
    return test.id if isinstance(test, ast.Name) else "", "", True

@lru_cache(maxsize=2048)
def as_branches(node: ast.Assign, value: ast.IfExp) -> ast.If:
    """`target = a if test else b` as an `if` statement."""
    one, other = (ast.copy_location(ast.Assign(node.targets, part), node) for part in (value.body, value.orelse))
    return ast.copy_location(ast.If(value.test, [one], [other]), node)
