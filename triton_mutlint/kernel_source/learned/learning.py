"""What the walk over a kernel's source tells about the kernel's parameters: facts for guessing their arguments.

The walk shows each operator, call and branch to an observer. `Learning` notes on the parameters' slots what they must
be for the source to make sense: what is stored through is a pointer, what bounds a range is an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_mutlint.kernel_source.dtypes import promoted
from triton_mutlint.kernel_source.learned import marks
from triton_mutlint.kernel_source.learned.learned_calls import HANDLERS, cast_to
from triton_mutlint.kernel_source.learned.learned_memory import (
    ADDRESSES,
    DESCRIPTOR_METHODS,
    KEYWORD_OPTIONS,
    Call,
    by_parameter,
    descriptor_access,
)
from triton_mutlint.kernel_source.learned.marks import note
from triton_mutlint.kernel_source.observer import Observer, Place
from triton_mutlint.kernel_source.slots import NO_TRACE, NONE, Slot, Slots, Trace, blended, dtype_of, extended
from triton_mutlint.kernel_source.values import MayBe, made

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SIZES = frozenset(("shape", "numel", "ndim", "primitive_bitwidth", "block_shape", "strides", "layout", "block_type",
                    "nbytes_per_cta"))


class Learning(Observer):
    """Notes facts on slots."""

    def __init__(self) -> None:
        self.place = Place()
        self.mentioned: dict[Any, None] = {}  # constants that others are compared or computed with
        self.typed = False  # a dtype was asked about: the guessed types decide something
        self.pointers = False  # somewhere, a pointer is made of a number
        # Lines of the kernel's own body, as all that its report names are: helpers may stand in other files.
        self.loaded = 0  # where a pointer is made of what was in memory
        self.recast = 0  # where bits are given a type that does not tell any more what they were
        self.distances = False  # somewhere, a parameter is added to or subtracted from what was in memory

    @property
    def indirect(self) -> int:
        """The line at which a pointer is, or may be, made of what was put somewhere before; 0 if there is none."""
        return self.loaded or (self.recast if self.pointers else 0)

    def mention(self, *values: MayBe) -> None:
        for value in values:
            for found in value.items or (value,):
                if found.is_known:
                    self.mentioned[found.value] = None

    # ----------------------------------------------------------------- operators

    def binary(self, node: ast.BinOp, left: MayBe, right: MayBe, value: MayBe) -> MayBe:
        self.mention(left, right)
        if value.is_known or left.items is not None or right.items is not None:
            return value
        line, op, a, b = self.place.line, node.op, left.made, right.made
        for one in (a, b):
            note(one.bare, "arithmetic", line)
            if one.dtype is None and not isinstance(op, ast.Add) and (one is b or not isinstance(op, ast.Sub)):
                note(one.bare, "number", line)
            if one.dtype is None or isinstance(op, ast.Mult):
                note(one.bare, "direct", line)
        if isinstance(op, ast.Add | ast.Sub):
            return replace(value, trace=self.sum(a, b, line))
        self._operands(op, left, right, line)
        divided = next((t.dtype for t in (a, b) if isinstance(t.dtype, Slot) or t.is_floating), "fp32")
        trace = blended((a, b), divided if isinstance(op, ast.Div) else None)
        if isinstance(op, ast.Mult) and (names := a.scales | b.scales):
            trace = Trace(NONE, trace.mixed, trace.memory, trace.dtype, factors=names)
        return replace(value, trace=trace)

    def _operands(self, op: ast.operator, left: MayBe, right: MayBe, line: int) -> None:
        for value, other in ((left, right.made), (right, left.made)):
            own = value.made
            run_time = own.memory or any(not s.constexpr for s in own.takes_part)
            if isinstance(op, ast.FloorDiv) and run_time:
                marks.integer(value, line)
            elif isinstance(op, _BITWISE) and type(value.value) is not bool:
                self._bitwise(op, value, other, line)
            elif not own.memory:
                marks.beside(own.base, other, line)
                note(own.base if other.is_whole else (), "integer", line)
        if isinstance(op, ast.Pow | ast.LShift):
            note(right.made.takes_part, "exponent", line)
        if isinstance(op, ast.FloorDiv) and left.made.takes_part and all(s.constexpr for s in left.made.takes_part):
            note(right.made.bare, "divides", line)

    @staticmethod
    def _bitwise(op: ast.operator, value: MayBe, other: Trace, line: int) -> None:
        own = value.made
        if own.bare and all(s.constexpr for s in own.bare) and other.dtype == "i1":
            note(own.bare, "branch", line)  # a flag beside a mask
        elif own.bare and own.dtype is None and other.dtype == "i1" and not isinstance(op, ast.LShift | ast.RShift):
            note(own.bare, "truth", line)
        elif isinstance(op, ast.LShift | ast.RShift) or other.dtype not in ("i1", None):
            marks.integer(value, line)
        elif own.memory and isinstance(own.dtype, Slot):
            note(own.memory, "elem_int", line)

    def sum(self, left: Trace, right: Trace, line: int) -> Trace:
        marks.summed(left, right)
        marks.summed(right, left)
        self.distances |= bool((left.memory and right.base) or (right.memory and left.base))
        for one, other in ((left, right), (right, left)):
            marks.beside(one.base if not one.memory else NONE, other, line)
            note(one.bare if one.dtype is None and other.points else (), "number", line)
            note((s for s in one.base if s.constexpr and other.is_whole), "integer", line)
            marks.factors(one, other.dtype)
        base, extra = marks.base_and_offset(left, right)
        pointed = next((t.dtype for t in (left, right) if t.points), None)
        return Trace(base, left.mixed | right.mixed | extra, left.memory | right.memory,
                     pointed or promoted(left.dtype, right.dtype), factors=left.factors | right.factors,
                     tests=left.tests | right.tests)

    def unary(self, node: ast.UnaryOp, operand: MayBe, value: MayBe) -> MayBe:
        if value.is_known:
            return value
        if isinstance(node.op, ast.Not):
            self.condition(operand)
            marks.mask(operand, self.place.line)
            return replace(value, trace=Trace(dtype="i1", tests=operand.made.decided))
        if isinstance(node.op, ast.Invert) and any(not s.constexpr for s in operand.made.bare):
            note(operand.made.bare, "integer", self.place.line)
        note(operand.made.bare, "number", self.place.line)
        return replace(value, trace=operand.made)

    def chain(self, values: Sequence[MayBe], value: MayBe) -> MayBe:
        for one in values:
            self.condition(one)
            marks.mask(one, self.place.line)
        if value.is_known:
            return value
        return replace(value, trace=Trace(dtype="i1", tests=NONE.union(*(v.made.decided for v in values))))

    def condition(self, value: MayBe) -> None:
        """It decides a branch."""
        note(value.made.bare, "branch", self.place.line)

    def compare(self, node: ast.Compare, values: Sequence[MayBe], value: MayBe) -> MayBe:
        self.mention(*values)
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            self._compared(op, left, right)
            self._compared(op, right, left)
        if value.is_known:
            return value
        return replace(value, trace=Trace(dtype="i1", tests=NONE.union(*(v.made.decided for v in values))))

    def _compared(self, op: ast.cmpop, value: MayBe, other: MayBe) -> None:
        line, own, beside = self.place.line, value.made, other.made
        if self.place.is_asserting:
            return
        if other.is_known and other.value is None:
            note(own.bare, "none_test", line)
            return
        if beside.is_dtype:
            self.typed = True
            marks.use_dtype(own, line)
            return
        literals = tuple(v.value for v in (other.items if other.items is not None else (other,)) if v.is_known)
        for slot in own.bare if literals else ():
            fact = "bounds" if isinstance(op, _ORDER) else "literals"
            setattr(slot, fact, extended(getattr(slot, fact), literals))
        if beside.dtype is not None:
            note(own.bare if own.dtype is None else (), "scalar", line)
            note(own.bare if own.dtype is None else (), "direct", line)
        if beside.is_whole and not own.memory:
            note(own.base, "integer", line)

    def choice(self, test: MayBe, left: MayBe, right: MayBe, value: MayBe) -> MayBe:
        tests = test.made.decided
        self.condition(test)
        marks.agree(left, right, self.place.line)
        marks.moves(left, right, tests, self.place.line)
        return self.decided_by(value, tests)

    @staticmethod
    def decided_by(value: MayBe, tests: Slots) -> MayBe:
        """`value`, which a test has chosen: noted where it may itself be tested at compile time."""
        own = value.made
        runs = own.memory or own.dtype not in (None, "int", "float") or value.items is not None
        if runs or not tests or not all(s.constexpr for s in own.takes_part):
            return value
        return replace(value, trace=replace(own, tests=own.tests | tests))

    # ----------------------------------------------------------------- parts

    def field(self, owner: MayBe, name: str, value: MayBe) -> MayBe:
        own = owner.made
        if name in ("dtype", "element_ty", "scalar", "type"):
            return replace(value, trace=dtype_of(own, name))
        if name in ("T", "value", "handle"):
            return replace(value, trace=own)
        self.typed |= own.is_dtype
        if name in _SIZES:
            note(own.base if name in ("block_shape", "block_type") else NONE, "descriptor", self.place.line)
            return replace(value, trace=Trace(dtype="int"))
        if owner.items is not None or value.functions:
            return value
        return replace(value, trace=own.child(name) if own.bare else NO_TRACE)

    # ----------------------------------------------------------------- calls

    def called(self, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe], value: MayBe) -> MayBe:
        if name == "len":
            for slot in args[0].made.bare if args else ():
                slot.child("*")
            return value if value.is_known else replace(value, trace=Trace(dtype="int"))
        handler = HANDLERS.get(name) or (by_parameter if ADDRESSES & named.keys() else None)
        if handler is None:
            if not name:
                self.handed(NONE, (*args, *named.values()))
            return replace(value, trace=blended(made((*args, *named.values()))))
        for key, given in (*enumerate(args), *named.items()):
            note(given.made.bare if key not in KEYWORD_OPTIONS else (), "arithmetic", self.place.line)
        trace = handler(Call(name, tuple(args), named, self.place.line, self))
        return value if value.is_known else replace(value, trace=trace)

    def method(self, function: MayBe, owner: MayBe, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe],
               value: MayBe) -> MayBe:
        own, line, given = owner.made, self.place.line, (*args, *named.values())
        if not name and function.made.bare:  # it may be one of several parameters
            for slot in function.made.bare:
                note((slot,), "called", line)
                note((slot,), "matters", line)
                slot.arity = len(given)
            self.handed(function.made.bare, given)
            return replace(value, trace=blended(made(given)))
        self.typed |= own.is_dtype
        if name in DESCRIPTOR_METHODS and not (own.memory or own.mixed):
            return replace(value, trace=descriptor_access(owner, name, given, line))
        if name in HANDLERS:
            positional = (owner, *args) if owner.is_value else tuple(args)
            return replace(value, trace=HANDLERS[name](Call(name, positional, named, line, self)))
        if (name and own.bare and own.dtype is None) or not owner.is_value:
            self.handed(own.bare, given)  # an object passed as an argument
        return replace(value, trace=blended(made((owner, *given))))

    def handed(self, functions: Slots, values: Iterable[MayBe]) -> None:
        """The values go to one of `functions`; to one that is not known here, if there is none."""
        (marks.handed_to if functions else marks.handed)(values, self.place.line)

    def passed(self, function: MayBe, args: Sequence[MayBe]) -> None:
        if function.made.bare:
            marks.handed_to(args, self.place.line)

    def joined(self, left: MayBe, right: MayBe) -> None:
        marks.agree(left, right, self.place.line)

    def cast(self, value: MayBe, kind: MayBe, line: int, bitcast: bool) -> Trace:
        """`value.to(kind)`: noted if that is, or may be, a type of pointers."""
        source = value.made
        found = cast_to(source, kind.made, line, bitcast)
        if found.points:
            self.pointers = True
            self.loaded = self.loaded or (line if source.memory else 0)
        if (source.takes_part or source.memory) and not (found.takes_part or found.memory):
            marks.kept((value,), line)
            self.recast = self.recast or line
        for slot in kind.made.bare if kind.made.is_dtype else ():
            slot.modelled.setdefault((source, bitcast), line)
        return found
