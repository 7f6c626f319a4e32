"""Printed MLIR of a Triton module, with or without debug locations, to `Module`.

One pass over the lines: the printer puts one op on a line, a region between `{` and `}` on lines of
their own. Syntax: the `assemblyFormat`s in Triton's `TritonOps.td`, and MLIR's language reference.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from triton_mutlint.ttir.ir import (
    NO_ATTRS,
    UNKNOWN_LOC,
    Block,
    Function,
    Loc,
    Module,
    Op,
    ParseError,
    Region,
    Successor,
    no_attrs,
)
from triton_mutlint.ttir.lexer import STRING, closing, open_brackets
from triton_mutlint.ttir.locations import Locations
from triton_mutlint.ttir.regions import (
    FUNCTIONS,
    IMPLICIT_YIELD,
    MODULES,
    FunctionHeader,
    read_arguments,
    read_function,
    read_opening,
)
from triton_mutlint.ttir.syntax import AttrReader, Head, read_custom, read_generic
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types
from triton_mutlint.ttir.values import Values

_OP = re.compile(r'\s*(?:(%[^ =]+(?:, ?%[^ =]+)*) = )?("?)([A-Za-z_]\w*(?:\.\w+)*)"?(.*)', re.DOTALL)
# The shape of most lines: operands alone, then the types. Everything else goes the longer way.
_PLAIN = re.compile(r"(?:(%[\w.$-]+) = )?((?:arith|math|tt|scf)\.[\w.]+) (%[^:\"{[=<(]*) : ([^\"{]+)$")
_LABEL = re.compile(r"\s*\^([\w.$-]+)\s*")

MAX_DEPTH = 150  # nested regions; analyses may recurse over them
_MAX_JOINED = 10_000  # lines of one op


@dataclass
class _OpenBlock:
    args: tuple[int, ...]
    ops: list[Op] = field(default_factory=list)


@dataclass
class _Frame:
    """An op whose regions are being read."""

    name: str
    line: int
    generic: bool = False
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=no_attrs)
    header: FunctionHeader | None = None
    regions: list[Region] = field(default_factory=list)
    entry: tuple[int, ...] = ()
    blocks: list[_OpenBlock] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    branches: list[tuple[int, int, list[tuple[str, tuple[int, ...]]]]] = field(default_factory=list)
    mark: int = 0
    between: bool = False  # after a region of scf.index_switch, before the next
    last: bool = False  # in the last region of scf.index_switch


def parse(text: str) -> Module:
    """Read a module; raises ParseError, with the line, for text that is not printed Triton IR."""
    collecting = gc.isenabled()
    # Nothing below makes cycles, and the collector would walk all ops so far again and again: on a
    # module of 370,000 lines it took half of the time.
    gc.disable()
    try:
        return _Parser(text).run()
    finally:
        if collecting:
            gc.enable()


class _Parser:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.locations = Locations(text)
        self.reader = AttrReader()
        self.signatures: dict[tuple[str, str, int], tuple[str, ...]] = {}
        self.functions: dict[str, Function] = {}
        self.stack: list[_Frame] = []
        self.values = Values()
        self.seen_module = False

    def run(self) -> Module:
        index, end, plain = 0, len(self.lines), _PLAIN.match
        while index < end:
            stripped = self.lines[index].strip()
            index += 1
            if (match := plain(stripped)) is not None and self._fast(match, index):
                continue
            if not stripped or stripped[0] == "#" or stripped.startswith("//"):
                continue
            first = stripped[0]
            try:
                if first == "}":
                    self._close(stripped, index)
                elif first == "^":
                    self._label(stripped, index)
                elif first == "{" and stripped.startswith("{-#"):
                    break
                else:
                    used = self._joined(stripped, index)
                    if used > index:
                        stripped = " ".join(s.strip() for s in self.lines[index - 1 : used])
                    self._op(stripped, index)
                    index = used
            except ValueError as error:
                if isinstance(error, ParseError):
                    raise
                raise ParseError(str(error), index) from error
        if self.stack:
            raise ParseError(f"{self.stack[-1].name} is not closed", self.stack[-1].line)
        if not self.seen_module and not self.functions:
            raise ParseError("no module", 1)
        return Module(self.functions)

    def _joined(self, stripped: str, index: int) -> int:
        """The line after an op that starts on line `index` and is printed on several."""
        if stripped[-1] not in ",[(":
            return index
        depth, used = open_brackets(stripped), index
        while depth > 0 and used < len(self.lines) and used - index < _MAX_JOINED:
            depth += open_brackets(self.lines[used])
            used += 1
        return used if depth == 0 else index

    # ------------------------------------------------------------------ ops

    def _op(self, text: str, line: int) -> None:
        match = _OP.match(text)
        if match is None:
            raise ParseError(f"not an operation: {text[:60]}", line)
        lhs, quote, name, tail = match.groups()
        if tail.endswith("{"):
            self._open(lhs, bool(quote), name, tail, line)
            return
        body, loc = self._location(tail)
        if name in FUNCTIONS and not quote:
            self._declare(body, loc, line)
            return
        if name == "scf.index_switch" and not quote:
            self._open(lhs, False, name, body + " {", line)
            self.stack[-1].between = True
            return
        head = read_generic(body, self.reader) if quote else read_custom(name, body, self.reader)
        self._append(self._plain(name, lhs, head, loc, line), head, line)

    def _fast(self, match: re.Match[str], line: int) -> bool:
        """Take in a line of the common shape; False when it needs the longer way."""
        lhs, name, used, signature = match.groups()
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
            types = self._types(name, signature, 1)
            results = (values.define(lhs, types[0], line),)
        block.ops.append(Op(name, operands, results, NO_ATTRS, (), (), loc, line))
        return True

    def _plain(self, name: str, lhs: str | None, head: Head, loc: Loc, line: int) -> Op:
        """An op without regions."""
        values = self.values
        names = values.names
        try:
            operands = tuple([names[v] for v in head.operands])
        except KeyError:
            operands = tuple([values.use(v, line) for v in head.operands])
        results: tuple[int, ...] = ()
        if lhs is not None:
            results = self._define(lhs, line)
            types = self._types(name, head.signature, len(results))
            for number, type_ in zip(results, types):
                values.types[number] = type_
        return Op(name, operands, results, head.attrs, (), (), loc, line)

    def _types(self, name: str, signature: str, count: int) -> tuple[str, ...]:
        key = (name, signature, count)
        found = self.signatures.get(key)
        if found is None:
            found = self.signatures[key] = result_types(name, signature, count)
        return found

    def _define(self, lhs: str, line: int) -> tuple[int, ...]:
        if ":" not in lhs and "," not in lhs:
            return (self.values.define(lhs, UNKNOWN_TYPE, line),)
        numbers: list[int] = []
        for part in lhs.split(","):
            name, _, count = part.strip().partition(":")
            numbers += self.values.define_group(name, int(count or 1), line)
        return tuple(numbers)

    def _append(self, op: Op, head: Head | None, line: int) -> None:
        if not self.stack:
            raise ParseError(f"{op.name} outside of a module", line)
        frame = self.stack[-1]
        if not frame.blocks:
            frame.blocks.append(_OpenBlock(frame.entry))
        block = frame.blocks[-1]
        if head is not None and head.successors is not None:
            targets = [
                (label, tuple([self.values.use(v, line) for v in names])) for label, names in head.successors
            ]
            frame.branches.append((len(frame.blocks) - 1, len(block.ops), targets))
        block.ops.append(op)

    def _location(self, tail: str) -> tuple[str, Loc]:
        """The op's text and the location behind it."""
        if not tail.endswith(")"):
            return tail, UNKNOWN_LOC
        start = tail.rfind(" loc(")
        if start < 0:
            return tail, UNKNOWN_LOC
        inner = tail[start + 5 : -1]
        known = self.locations.alias(inner)
        if known is not None:
            return tail[:start], known
        masked = STRING.sub(lambda m: '"' + "_" * (len(m[0]) - 2) + '"', tail)
        start = masked.rfind(" loc(")
        if start < 0 or closing(masked, start + 4) != len(masked) - 1:
            return tail, UNKNOWN_LOC
        return tail[:start], self.locations.inline(tail[start + 5 : -1])

    # ------------------------------------------------------------------ regions

    def _open(self, lhs: str | None, quote: bool, name: str, tail: str, line: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise ParseError(f"more than {MAX_DEPTH} nested regions", line)
        if name in MODULES:
            self.seen_module = True
            self.stack.append(_Frame(name, line, quote))
            return
        if name in FUNCTIONS:
            self._open_function(quote, name, tail, line)
            return
        if name in ("case", "default") and self.stack and self.stack[-1].between:
            self.stack[-1].between, self.stack[-1].last = False, name == "default"
            return
        count = 0
        frame = _Frame(name, line, quote)
        if lhs is not None:
            frame.results = self._define(lhs, line)
            count = len(frame.results)
        opening = read_opening(name, tail, quote, count, self.reader)
        frame.operands = tuple([self.values.use(v, line) for v in opening.operands])
        frame.attrs = opening.attrs
        for number, type_ in zip(frame.results, opening.types):
            self.values.types[number] = type_
        frame.mark = len(self.values.scope)
        frame.entry = self._arguments(opening.arguments, line)
        self.stack.append(frame)

    def _arguments(self, arguments: tuple[tuple[str, str], ...], line: int) -> tuple[int, ...]:
        return tuple([self.values.define(name, type_, line) for name, type_ in arguments])

    def _label(self, text: str, line: int) -> None:
        """`^bb1(%a: T loc(..)):  // pred: ^bb0`."""
        match = _LABEL.match(text)
        if match is None or not self.stack:
            raise ParseError(f"not a block label: {text[:60]}", line)
        frame = self.stack[-1]
        arguments: tuple[tuple[str, str], ...] = ()
        if text.startswith("(", match.end()):
            end = closing(text, match.end())
            arguments = read_arguments(text[match.end() + 1 : end]) if end >= 0 else ()
        if frame.entry and not frame.blocks:
            frame.blocks.append(_OpenBlock(frame.entry))
        if match[1] in frame.labels:
            raise ParseError(f"block {match[1]} is defined twice", line)
        frame.labels[match[1]] = len(frame.blocks)
        frame.blocks.append(_OpenBlock(self._arguments(arguments, line)))

    def _close(self, text: str, line: int) -> None:
        """A line that starts with `}`: the end of a region, maybe of its op, maybe a further region."""
        if not self.stack:
            raise ParseError("nothing to close", line)
        frame = self.stack[-1]
        if frame.between:
            raise ParseError("a case was expected", line)
        if frame.name in MODULES:
            self.stack.pop()
            return
        frame.regions.append(self._region(frame, line))
        rest = text[1:]
        if frame.name == "scf.index_switch" and not frame.last:
            frame.between = True
            return
        if rest.endswith("{"):
            return
        body, loc = self._location(rest)
        self.stack.pop()
        if frame.header is not None:
            self._finish_function(frame, loc)
        else:
            self._finish(frame, body, loc, line)

    def _region(self, frame: _Frame, line: int) -> Region:
        """The region that ends on `line`; its names go out of scope."""
        if frame.name in IMPLICIT_YIELD and not frame.results and not frame.generic:
            if not frame.blocks:
                frame.blocks.append(_OpenBlock(frame.entry))
            ops = frame.blocks[-1].ops
            if not ops or ops[-1].name != "scf.yield":
                ops.append(Op("scf.yield", line=line))
        elif frame.entry and not frame.blocks:
            frame.blocks.append(_OpenBlock(frame.entry))
        for block, index, targets in frame.branches:
            ops = frame.blocks[block].ops
            unknown = [label for label, _ in targets if label not in frame.labels]
            if unknown:
                raise ParseError(f"no block {unknown[0]}", ops[index].line)
            successors = tuple(Successor(frame.labels[label], values) for label, values in targets)
            ops[index] = replace(ops[index], successors=successors)
        region = Region(tuple(Block(b.args, tuple(b.ops)) for b in frame.blocks))
        self.values.leave(frame.mark)
        frame.entry, frame.blocks, frame.labels, frame.branches = (), [], {}, []
        return region

    def _finish(self, frame: _Frame, body: str, loc: Loc, line: int) -> None:
        """The op of `frame` is complete; `body` is what stood between its last `}` and its location."""
        attrs = frame.attrs
        signature = ""
        if frame.generic:
            tail = read_generic("(" + body.lstrip(), self.reader)
            attrs, signature = {**attrs, **tail.attrs}, tail.signature
        elif "{" in body:
            attrs = {**attrs, **read_custom("", " " + body, self.reader).attrs}
        if signature:
            types = result_types(frame.name, signature, len(frame.results))
            for number, type_ in zip(frame.results, types):
                self.values.types[number] = type_
        op = Op(frame.name, frame.operands, frame.results, attrs, tuple(frame.regions), (), loc, frame.line)
        self._append(op, None, line)

    # ------------------------------------------------------------------ functions

    def _check_function(self, name: str, line: int) -> None:
        if name in self.functions:
            raise ParseError(f"function {name} is defined twice", line)
        if self.stack and self.stack[-1].name not in MODULES:
            raise ParseError(f"function {name} inside of {self.stack[-1].name}", line)

    def _open_function(self, quote: bool, name: str, tail: str, line: int) -> None:
        if quote:
            attrs = read_opening(name, tail, True, 0, self.reader).attrs
            public = attrs.get("sym_visibility", "public") == "public"
            header = FunctionHeader(attrs.get("sym_name", ""), public, (), True)
        else:
            header = read_function(tail)
        self._check_function(header.name, line)
        self.values = Values()
        frame = _Frame(name, line, quote, header=header)
        frame.entry = self._arguments(header.arguments, line)
        self.stack.append(frame)

    def _finish_function(self, frame: _Frame, loc: Loc) -> None:
        header = frame.header
        assert header is not None
        body = self.values.resolve(frame.regions[0])
        n_args = len(body.blocks[0].args) if body.blocks else 0
        names = tuple(name[1:] for name, _ in header.arguments) or tuple(f"arg{i}" for i in range(n_args))
        types = tuple(self.values.types)
        self.functions[header.name] = Function(header.name, header.public, n_args, types, names, body, loc)
        self.values = Values()

    def _declare(self, body: str, loc: Loc, line: int) -> None:
        """A function without a body."""
        header = read_function(body)
        self._check_function(header.name, line)
        names = tuple(name[1:] for name, _ in header.arguments)
        types = tuple(type_ for _, type_ in header.arguments)
        self.functions[header.name] = Function(
            header.name, header.public, len(names), types, names, Region(()), loc
        )
