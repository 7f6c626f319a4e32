"""Debug locations: `loc(...)` attributes and the aliases `#loc12 = loc(...)` they refer to."""

from __future__ import annotations

import re
from functools import cached_property, partial

from triton_mutlint.ttir.ir import UNKNOWN_LOC, Chain, Loc
from triton_mutlint.ttir.lexer import STRING, closing, unescape

# Starts with a literal, which the engine looks for quickly in the lines between.
_ALIAS = re.compile(r"\n(#[A-Za-z_$.][\w$.]*) = loc\((.*)\)[ \t\r]*$", re.MULTILINE)
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d{1,9}):(\d{1,9})')
_RANGE_END = re.compile(r" to (?:\d*:)?\d*")
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"')
_REFERENCE = re.compile(r"#[A-Za-z_$.][\w$.]*")

# Aliases nest (an inlined call chain is one alias per call); deeper than this, or longer chains, come
# from no compiler and are cut, so that aliases that double each other cannot grow without bound.
_MAX_DEPTH = 120
_MAX_CHAIN = 256


class Locations(dict[str, Loc]):
    """The locations of one module by alias (with its `#`), each read when its chain is asked for.

    An alias that is not defined is an unknown location.
    """

    def __init__(self, text: str) -> None:
        self._reader = _Reader(text)  # apart, so that locations and this table form no cycle

    def __missing__(self, name: str) -> Loc:
        found = self[name] = Loc(None, partial(self._reader.alias, name))
        return found

    def split(self, tail: str) -> tuple[str, Loc]:
        """The text of an op and the location that stands behind it."""
        if not tail.endswith(")"):
            return tail, UNKNOWN_LOC
        start = tail.rfind(" loc(")
        if start < 0:
            return tail, UNKNOWN_LOC
        inner = tail[start + 5 : -1]
        if _REFERENCE.fullmatch(inner):
            return tail[:start], self[inner]
        masked = STRING.sub(lambda m: '"' + "_" * (len(m[0]) - 2) + '"', tail)
        start = masked.rfind(" loc(")
        if start < 0 or closing(masked, start + 4) != len(masked) - 1:
            return tail, UNKNOWN_LOC
        return tail[:start], Loc(None, partial(self._reader.inline, tail[start + 5 : -1]))


class _Reader:
    """Reads locations out of the text of one module, each alias once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, Loc] = {}

    @cached_property
    def _raw(self) -> dict[str, str]:
        return dict(_ALIAS.findall(f"\n{self._text}"))

    def alias(self, name: str) -> Chain:
        """The chain that an alias stands for."""
        return self._alias(name, 0).chain

    def inline(self, text: str) -> Chain:
        """The chain of the location whose text, without `loc(` and `)`, is `text`."""
        return self._read(text, 0, 0)[0].chain

    def _alias(self, name: str, depth: int) -> Loc:
        known = self._known.get(name)
        if known is not None:
            return known
        raw = self._raw.get(name)
        if raw is None or depth > _MAX_DEPTH:
            return UNKNOWN_LOC
        self._known[name] = UNKNOWN_LOC  # what an alias that refers to itself gets
        found = self._known[name] = self._read(raw, 0, depth + 1)[0]
        return found

    def _read(self, text: str, pos: int, depth: int) -> tuple[Loc, int]:
        """The location at `text[pos:]` and the index after it; what is not understood is unknown."""
        if depth > _MAX_DEPTH:
            return UNKNOWN_LOC, len(text)
        if text.startswith("loc(", pos):
            found, end = self._read(text, pos + 4, depth + 1)
            return found, end + 1
        if match := _FILE.match(text, pos):
            end = match.end()
            if span := _RANGE_END.match(text, end):
                end = span.end()
            return Loc(((unescape(match[1]), int(match[2]), int(match[3])),)), end
        if match := _NAME.match(text, pos):
            if text.startswith("(", match.end()):
                found, end = self._read(text, match.end() + 1, depth + 1)
                return found, end + 1
            return UNKNOWN_LOC, match.end()
        if match := _REFERENCE.match(text, pos):
            return self._alias(match[0], depth), match.end()
        if text.startswith("callsite(", pos):
            return self._callsite(text, pos + len("callsite("), depth)
        if text.startswith("unknown", pos):
            return UNKNOWN_LOC, pos + len("unknown")
        return UNKNOWN_LOC, len(text)

    def _callsite(self, text: str, pos: int, depth: int) -> tuple[Loc, int]:
        callee, pos = self._read(text, pos, depth + 1)
        if not text.startswith(" at ", pos):
            return callee, len(text)
        caller, pos = self._read(text, pos + 4, depth + 1)
        return Loc((callee.chain + caller.chain)[:_MAX_CHAIN]), pos + 1
