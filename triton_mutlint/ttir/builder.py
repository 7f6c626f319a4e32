"""Single ops: from text to `Op`, inside of the regions that are open."""

from __future__ import annotations

import re

from triton_mutlint.ttir.frames import Frame
from triton_mutlint.ttir.ir import NO_ATTRS, UNKNOWN_LOC, Loc, Op, ParseError, make_op
from triton_mutlint.ttir.locations import Locations
from triton_mutlint.ttir.syntax import AttrReader, Head
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types
from triton_mutlint.ttir.values import Values

_MAX_RESULTS = 100


class OpBuilder:
    """What is known of the text so far: open ops, visible values, attributes, types and locations."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.locations = Locations(text)
        self.reader = AttrReader()
        self.signatures: dict[tuple[str, str, int], tuple[str, ...]] = {}
        self.stack: list[Frame] = []
        self.values = Values()

    def fast(self, match: re.Match[str], line: int) -> bool:
        """Take in a line of the common shape; False when it needs the longer way."""
        lhs, name, words, used, signature = match.groups()
        values = self.values
        names = values.names
        try:
            operands = tuple([names[v] for v in used.split(", ")])
            block = self.stack[-1].blocks[-1]
        except (KeyError, IndexError):
            return False
        signature, found, inner = signature.partition(" loc(")
        loc = self.locations.alias(inner[:-1]) if found else UNKNOWN_LOC
        if loc is None:
            return False
        results: tuple[int, ...] = ()
        if lhs is not None:
            types = self.types(name, signature, 1)
            results = (values.define(lhs, types[0], line),)
        attrs = self.reader.merged(name, words, "") if words else NO_ATTRS
        block.ops.append(make_op(name, operands, results, attrs, loc, line))
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
            types = self.types(name, head.signature, len(results))
            for number, type_ in zip(results, types, strict=False):
                values.types[number] = type_
        return make_op(name, operands, results, head.attrs, loc, line)

    def types(self, name: str, signature: str, count: int) -> tuple[str, ...]:
        key = (name, signature, count)
        found = self.signatures.get(key)
        if found is None:
            found = self.signatures[key] = result_types(name, signature, count)
        return found

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
        if self.stack[-1].between:
            raise ParseError("a case was expected", line)
        targets = None
        if head is not None and head.successors is not None:
            use = self.values.use
            targets = [(label, tuple([use(v, line) for v in names])) for label, names in head.successors]
        self.stack[-1].append(op, targets)

    def arguments(self, arguments: tuple[tuple[str, str], ...], line: int) -> tuple[int, ...]:
        return tuple([self.values.define(name, type_, line) for name, type_ in arguments])
