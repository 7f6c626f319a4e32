"""Torch's schema strings: `ns::op.overload(Tensor(a!) x, *, int n=1) -> Tensor`.

Types need only look like types: which of them exist differs between versions of torch and extensions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_HEAD = re.compile(r"\s*(?:(?:(\w+)::)?([A-Za-z_]\w*)(?:\.(\w+))?)?\s*\(")
_MARK = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()\[\]{},]""")
_ARGUMENT = re.compile(r"(?P<type>[^=]+?)(?:\s|(?<=\W))\s*(?P<name>[A-Za-z_]\w*)\s*(?:=\s*(?P<default>\S.*))?",
                       re.DOTALL)
_TYPE = re.compile(r"(?!\W*$)(?:[A-Za-z_][\w.]*)?(?:\([\w\s,.?()\[\]]+\))?(?:\?|\[\w*\])*|\(\)")
_GENERIC = "".join(f"(?<!{name})" for name in ("Dict", "Future", "Await", "RRef", "Union", "Tuple", "Optional", "List"))
# `(a!)`, `(a|b)`, `(a -> *)`, `(a! -> a|b)`, `(*)`, before or after `?` and `[]`; or a set of its own: `!`
_ALIAS = re.compile(_GENERIC + r"(?<=[\w\]?])\s*\((?P<sets>[\w*|\s]+)(?P<own>!?)\s*(?:->(?P<after>[\w*|\s]+))?\)|!")
_PLAIN = re.compile(r"(?:int|SymInt|float|SymFloat|bool|SymBool|complex|str|Scalar|ScalarType|Device|Layout"
                    r"|MemoryFormat|Generator)(?:\?|\[\d*\])*")


class SchemaError(ValueError):
    """A string that is no schema; `column` is where, 1-based."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message, self.column = message, column


@dataclass(frozen=True)
class SchemaArgument:
    """One argument or result; `alias` are the sets it may be in, `mutated` that it is written.

    `type` is the type without its alias annotation (`Tensor?`, `int[2]`); `default` as written.
    """

    name: str
    type: str
    alias: frozenset[str] = frozenset()
    mutated: bool = False
    kwarg_only: bool = False
    default: str | None = None

    @property
    def is_tensor(self) -> bool:
        """Whether it holds tensors: `Tensor`, `Tensor?`, `Tensor[]`."""
        return re.match(r"\(*Tensor\b", self.type) is not None

    @property
    def is_plain(self) -> bool:
        """Whether it holds numbers, strings and the like only: `int`, `SymInt[]`, `Scalar?`."""
        return _PLAIN.fullmatch(self.type) is not None


@dataclass(frozen=True)
class Schema:
    """A schema; `namespace`, `name` and `overload` are empty where they are left out."""

    namespace: str
    name: str
    overload: str
    arguments: tuple[SchemaArgument, ...]
    returns: tuple[SchemaArgument, ...]

    @property
    def mutated(self) -> tuple[str, ...]:
        """The arguments that it declares as written, in order."""
        return tuple(argument.name for argument in self.arguments if argument.mutated)


def parse_schema(text: str) -> Schema:
    """The schema in `text`, with or without a name. Raises SchemaError."""
    head = _HEAD.match(text)
    if head is None:
        raise SchemaError("it does not begin with a name and `(`", 1)
    listed, end = _parts(text, head.end())
    arguments, by_name = list[SchemaArgument](), False
    for part, column in listed:
        if part == "*":
            by_name = True
        elif part != "...":
            arguments.append(replace(_argument(part, column), kwarg_only=by_name))
    arrow = re.compile(r"\s*->").match(text, end)
    if arrow is None:
        raise SchemaError("`->` does not follow the arguments", end + 1)
    namespace, name, overload = (part or "" for part in head.groups())
    return Schema(namespace, name, overload, tuple(arguments), tuple(_returns(text, arrow.end())))


def _parts(text: str, start: int) -> tuple[list[tuple[str, int]], int]:
    """What stands between commas up to the bracket that closes, with the columns; and where that ends."""
    found, depth, at = list[tuple[str, int]](), 0, start
    for mark in _MARK.finditer(text, start):
        if mark[0] in (",", ")") and not depth:
            part = text[at : mark.start()]
            found.append((part.strip(), at + len(part) - len(part.lstrip()) + 1))
            at = mark.end()
            if mark[0] == ")":
                return [] if len(found) == 1 and not found[0][0] else found, at
        depth += (mark[0] in ("(", "[", "{")) - (mark[0] in (")", "]", "}"))
    raise SchemaError("a bracket is not closed", len(text.rstrip()) + 1)


def _argument(part: str, column: int) -> SchemaArgument:
    found = _ARGUMENT.fullmatch(part)
    read = _typed(found["type"], found["name"], found["default"]) if found is not None else None
    if read is None:
        raise SchemaError(f"`{part}` is not a type and a name", column)
    return read


def _typed(text: str, name: str = "", default: str | None = None) -> SchemaArgument | None:
    """What has a type with its alias annotation; None where the text is no type."""
    alias = _ALIAS.search(text)
    without = text if alias is None else text[: alias.start()] + text[alias.end() :]
    bare = re.sub(r"\s*([?\[\]])\s*", r"\1", without).strip()
    if _TYPE.fullmatch(bare) is None:
        return None
    if alias is None or alias["sets"] is None:
        return SchemaArgument(name, bare, mutated=alias is not None, default=default)
    sets = frozenset(re.findall(r"[\w*]+", f"{alias['sets']} {alias['after'] or ''}"))
    return SchemaArgument(name, bare, sets, bool(alias["own"]), default=default)


def _returns(text: str, start: int) -> Iterator[SchemaArgument]:
    left = text[start:].strip()
    column = len(text.rstrip()) - len(left) + 1
    results = [(left, column)]
    if left.startswith("("):
        several, end = _parts(text, column)
        results = results if text[end : end + 1] in ("[", "?") else several  # one result, of a tuple type
        if results is several and text[end:].strip():
            raise SchemaError(f"`{text[end:].strip()}` follows the results", end + 1)
    for part, at in results:
        if part != "...":
            yield _typed(part) or _argument(part, at)
