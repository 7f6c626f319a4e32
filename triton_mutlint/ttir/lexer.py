"""Text helpers for printed MLIR: brackets, strings, and attribute dictionaries.

All of them are linear in the text and use no recursion, so that no input can hang or overflow them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from triton_mutlint.ttir.ir import NO_ATTRS

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
NUMBERED = re.compile(r'"(\d+)"')  # a masked string
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|->|=>|>=|[()\[\]{}<>]')
_BRACKET_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|->|=>|>=|[()\[\]{}<>,]')
_ESCAPES = re.compile(r"(?:\\[0-9A-Fa-f]{2})+|\\(.)", re.DOTALL)
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t"}


def unescape(text: str) -> str:
    r"""The value of an MLIR string literal's inside: `\"`, `\\`, and two hex digits a byte (`\0A`, `\C3\BC`).

    MLIR escapes every byte outside of ASCII; bytes are UTF-8, and what is not stands as in `os.fsdecode`.
    """
    if "\\" not in text:
        return text
    return _ESCAPES.sub(_unescape_some, text)


def _unescape_some(match: re.Match[str]) -> str:
    char = match[1]
    if char is None:
        return bytes.fromhex(match[0].replace("\\", "")).decode("utf-8", "surrogateescape")
    return _SIMPLE_ESCAPES.get(char, char)


def closing(text: str, start: int) -> int:
    """Index of the bracket that closes the one at `text[start]`, or -1 when there is none."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        bracket = match[0]
        if bracket in "([{<":
            depth += 1
        elif bracket in ")]}>":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def split_top(text: str) -> list[str]:
    """Split at the commas outside every bracket and string; parts are stripped, none is empty."""
    if "<" not in text and "(" not in text and "[" not in text and "{" not in text and '"' not in text:
        return [part for part in map(str.strip, text.split(",")) if part]
    parts, depth, start = [], 0, 0
    for match in _BRACKET_OR_COMMA.finditer(text):
        bracket = match[0]
        if bracket == ",":
            if depth == 0:
                parts.append(text[start : match.start()].strip())
                start = match.end()
        elif bracket in "([{<":
            depth += 1
        elif bracket in ")]}>":
            depth -= 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def mask_strings(text: str) -> tuple[str, list[str]]:
    """`text` with every string literal replaced by its number in quotes, and the literals' insides."""
    found: list[str] = []

    def number(match: re.Match[str]) -> str:
        found.append(match[1])
        return f'"{len(found) - 1}"'

    return STRING.sub(number, text), found


def unmask(text: str, strings: list[str]) -> str:
    """Undo `mask_strings` in a piece of its result."""
    return NUMBERED.sub(lambda m: f'"{strings[int(m[1])]}"', text)


def parse_attrs(text: str) -> Mapping[str, str]:
    """The inside of an attribute dictionary: `a = 1 : i32, b, "c.d" = "x"`; a unit attribute is `unit`."""
    attrs: dict[str, str] = {}
    for part in split_top(text):
        name, sep, value = part.partition(" = ")
        if not sep:
            name, sep, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if name.startswith('"'):
            name = unescape(name.strip('"'))
        attrs[name] = attr_value(value) if sep else "unit"
    return MappingProxyType(attrs) if attrs else NO_ATTRS


def attr_value(value: str) -> str:
    """An attribute's printed text; a plain string literal gives its value."""
    match = STRING.fullmatch(value)
    return unescape(match[1]) if match else value
