"""Printed MLIR of a Triton module, with or without debug locations, to `Module`.

One pass over the lines: the printer puts one op on a line, a region between `{` and `}` on lines of
their own. Syntax: the `assemblyFormat`s in Triton's `TritonOps.td`, and MLIR's language reference.
"""

from __future__ import annotations

import re

from triton_mutlint.ttir.builder import CallFrame, OpBuilder, Values
from triton_mutlint.ttir.ir import Function, Loc, Module, Op, ParseError
from triton_mutlint.ttir.lexer import closing
from triton_mutlint.ttir.regions import FUNCTIONS, MODULES, SPECIALIZED, read_arguments, read_function, read_opening
from triton_mutlint.ttir.syntax import read_custom, read_generic, split_lines
from triton_mutlint.ttir.types import result_types

_OP = re.compile(r'\s*(?:(%[^ =,]+(?:, ?%[^ =,]+)*) = )?("?)([A-Za-z_]\w*(?:\.\w+)*)"?(.*)', re.DOTALL)
_PARTITION = re.compile(r"default|partition\d+")
_LABEL = re.compile(r"\s*\^([\w.$-]+)\s*")

MAX_DEPTH = 150  # nested regions; analyses may recurse over them


def parse(text: str) -> Module:
    """Read a module; raises ParseError, with the line, for text that is not printed Triton IR."""
    return _Parser(text).run()


class _Parser(OpBuilder):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.functions: dict[str, Function] = {}
        self.seen_module = False

    def run(self) -> Module:
        self._read()
        if self.stack:
            raise ParseError(f"{self.stack[-1].name} is not closed", self.stack[-1].line)
        if not self.seen_module and not self.functions:
            raise ParseError("no module", 1)
        return Module(self.functions)

    def _read(self) -> None:
        for line, fields in enumerate(split_lines(self.text), 1):
            _, name, *_, rest = fields
            if not (name or rest) or (name and self.common(fields, line)):
                continue
            text = (rest or self.lines[line - 1]).strip()
            if text and text[0] != "#" and not text.startswith("//"):
                self._other(text, line)

    def _other(self, text: str, line: int) -> None:
        """A line of no common shape; whatever is wrong with it is a ParseError."""
        try:
            if text[0] == "}":
                self._close(text, line)
            elif text[0] == "^":
                self._label(text, line)
            elif text[-1] in ",[(":
                raise ParseError("an operation on several lines", line)
            else:
                self._op(text, line)
        except ParseError:
            raise
        except ValueError as error:
            raise ParseError(str(error), line) from error

    # ------------------------------------------------------------------ ops

    def _op(self, text: str, line: int) -> None:
        match = _OP.match(text)
        if match is None:
            raise ParseError(f"not an operation: {text[:60]}", line)
        lhs, quote, name, tail = match.groups()
        if _PARTITION.fullmatch(name) and self.stack and self.stack[-1].name == SPECIALIZED:
            arguments = tail[1 : closing(tail, 0)] if tail.startswith("(") else ""
            self.stack[-1].entry = self.arguments(read_arguments(arguments), line)
        elif tail.endswith("{") or name == SPECIALIZED:
            self._open(lhs, bool(quote), name, tail if tail.endswith("{") else f"{tail} {{", line)
        else:
            self._simple(lhs, bool(quote), name, tail, line)

    def _simple(self, lhs: str | None, quote: bool, name: str, tail: str, line: int) -> None:
        body, loc = self.locations.split(tail)
        if name in FUNCTIONS:
            raise ParseError("a function without a body", line)
        head = read_generic(body) if quote else read_custom(name, body)
        self.append(self.plain(name, lhs, head, loc, line), head, line)

    # ------------------------------------------------------------------ regions

    def _open(self, lhs: str | None, quote: bool, name: str, tail: str, line: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise ParseError(f"more than {MAX_DEPTH} nested regions", line)
        if name in MODULES:
            self.seen_module = True
            self.stack.append(CallFrame(name, line, quote))
            return
        if name in FUNCTIONS:
            self._open_function(name, tail, line)
            return
        count = 0
        frame = CallFrame(name, line, quote)
        if lhs is not None:
            frame.results = self.define(lhs, line)
            count = len(frame.results)
        opening = read_opening(name, tail, quote, count)
        frame.operands = tuple([self.values.use(v, line) for v in opening.operands])
        frame.attrs = opening.attrs
        for number, type_ in zip(frame.results, opening.types, strict=False):
            self.values.types[number] = type_
        frame.mark = len(self.values.names)
        frame.entry = self.arguments(opening.arguments, line)
        self.stack.append(frame)

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
        frame.start_block(match[1], self.arguments(arguments, line), line)

    def _close(self, text: str, line: int) -> None:
        """A line that starts with `}`: the end of a region, maybe of its op, maybe a further region."""
        if not self.stack:
            raise ParseError("nothing to close", line)
        frame = self.stack[-1]
        if frame.header is not None and text.endswith("{"):
            raise ParseError(f"not the end of {frame.name}", line)
        if frame.name in MODULES:
            self.stack.pop()
            return
        frame.close_region(line)
        self.values.leave(frame.mark)
        rest = text[1:]
        if rest.endswith("{") or (frame.name == SPECIALIZED and not rest):
            return
        body, loc = self.locations.split(rest)
        self.stack.pop()
        if frame.header is not None:
            self._finish_function(frame, loc)
        else:
            self._finish(frame, body, loc, line)

    def _finish(self, frame: CallFrame, body: str, loc: Loc, line: int) -> None:
        """The op of `frame` is complete; `body` is what stood between its last `}` and its location."""
        attrs = frame.attrs
        signature = ""
        if frame.generic:
            tail = read_generic("(" + body.lstrip())
            attrs, signature = {**attrs, **tail.attrs}, tail.signature
        elif frame.name == SPECIALIZED:
            signature = body.rpartition(" : ")[2]
        elif "{" in body:
            attrs = {**attrs, **read_custom("", " " + body).attrs}
        if signature:
            types = result_types(frame.name, signature, len(frame.results))
            for number, type_ in zip(frame.results, types, strict=False):
                self.values.types[number] = type_
        op = Op(frame.name, frame.operands, frame.results, attrs, loc, frame.line, tuple(frame.regions))
        self.append(op, None, line)

    # ------------------------------------------------------------------ functions

    def _open_function(self, name: str, tail: str, line: int) -> None:
        header = read_function(tail)
        if header.name in self.functions:
            raise ParseError(f"function {header.name} is defined twice", line)
        if self.stack and self.stack[-1].name not in MODULES:
            raise ParseError(f"function {header.name} inside of {self.stack[-1].name}", line)
        self.values = Values()
        frame = CallFrame(name, line, header=header)
        frame.entry = self.arguments(header.arguments, line)
        self.stack.append(frame)

    def _finish_function(self, frame: CallFrame, loc: Loc) -> None:
        header = frame.header
        assert header is not None
        self.values.check()
        body = frame.regions[0]
        names = tuple(name[1:] for name, _ in header.arguments)
        types = tuple(self.values.types)
        self.functions[header.name] = Function(header.name, header.public, len(names), types, names, body, loc)
        self.values = Values()
