"""Single ops: from text to `Op`, inside of the regions that are open."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from triton_mutlint.ttir.frames import CallFrame
from triton_mutlint.ttir.ir import UNKNOWN_LOC, Loc, Op, ParseError
from triton_mutlint.ttir.lines import Fields, read_constant_shape, read_shape
from triton_mutlint.ttir.locations import Locations
from triton_mutlint.ttir.syntax import Head
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types
from triton_mutlint.ttir.values import Values

_MAX_RESULTS = 100
_op: Callable[[tuple[object, ...]], Op] = partial(tuple.__new__, Op)  # twice as fast as by Op's own fields


class OpBuilder:
    """What is known of the text so far: open ops, visible values and locations."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.locations = Locations(text)
        self.stack: list[CallFrame] = []
        self.values = Values()

    @cached_property
    def lines(self) -> list[str]:
        """The text by lines, for what the common shapes do not cover."""
        return self.text.split("\n")

    def common(self, fields: Fields, line: int) -> bool:
        """Take in a line of a common shape; False when it needs the longer way."""
        result, name, constant, words, used, attributes, signature, where, _ = fields
        values = self.values
        names = values.names
        try:
            operands = tuple([names[v] for v in used.split(", ")]) if used else ()
            ops = self.stack[-1].blocks[-1].ops
        except (KeyError, IndexError):
            return False
        name, attrs, type_ = (
            read_constant_shape(constant) if constant else read_shape(name, words, attributes, signature)
        )
        results = (values.define(result, type_, line),) if result else ()
        loc = self.locations[where] if where else UNKNOWN_LOC
        ops.append(_op((name, operands, results, attrs, loc, line, (), ())))
        return True

    def plain(self, name: str, lhs: str | None, head: Head, loc: Loc, line: int) -> Op:
        """An op without regions."""
        values = self.values
        names = values.names
        try:
            operands = tuple([names[v] for v in head.operands])
        except KeyError:
            operands = tuple([values.use(v, line) for v in head.operands])
        results: tuple[int, ...] = ()
        if lhs is not None:
            results = self.define(lhs, line)
            types = result_types(name, head.signature, len(results))
            for number, type_ in zip(results, types, strict=False):
                values.types[number] = type_
        return Op(name, operands, results, head.attrs, loc, line)

    def define(self, lhs: str, line: int) -> tuple[int, ...]:
        if ":" not in lhs and "," not in lhs:
            return (self.values.define(lhs, UNKNOWN_TYPE, line),)
        numbers: list[int] = []
        for part in lhs.split(","):
            name, _, printed = part.strip().partition(":")
            count = int(printed or 1)
            if count > len(self.lines[line - 1]) and count > _MAX_RESULTS:  # each has a type there
                raise ParseError(f"{name} with {count} results", line)
            numbers += self.values.define_group(name, count, line)
        return tuple(numbers)

    def append(self, op: Op, head: Head | None, line: int) -> None:
        if not self.stack:
            raise ParseError(f"{op.name} outside of a module", line)
        targets = None
        if head is not None and head.successors is not None:
            use = self.values.use
            targets = [(label, tuple([use(v, line) for v in names])) for label, names in head.successors]
        self.stack[-1].append(op, targets)

    def arguments(self, arguments: tuple[tuple[str, str], ...], line: int) -> tuple[int, ...]:
        return tuple([self.values.define(name, type_, line) for name, type_ in arguments])
