"""Torch's schema strings: `ns::op.overload(Tensor(a!) x, *, int n=1) -> Tensor`.

The grammar is that of the schema parser of torch 2.13, except that types need only look like types:
which of them exist differs between versions and extensions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

_T = TypeVar("_T")
_TOKEN = re.compile(r"""\s*(->|\.\.\.|::|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'
    |[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|[()\[\]{},*?!|=.:<>-])""", re.VERBOSE)
_END = "end of the schema"
_GENERIC = ("Dict", "Future", "Await", "RRef", "Union", "Tuple", "Optional", "List")
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
    variadic: bool = False  # takes any further arguments (`...`)

    @property
    def mutated(self) -> tuple[str, ...]:
        """The arguments that it declares as written, in order."""
        return tuple(argument.name for argument in self.arguments if argument.mutated)


def parse_schema(text: str) -> Schema:
    """The schema in `text`, with or without a name. Raises SchemaError."""
    return _Parser(text).schema()


class _Parser:
    """`tokens` are texts with their columns; strings and words are told by how they begin."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens = [*_tokens(text), (_END, len(text.rstrip()) + 1)]

    # ------------------------------------------------------------------ tokens

    @property
    def next(self) -> str:
        return self.tokens[self.at][0]

    def _take(self, text: str) -> bool:
        found = self.next == text
        self.at += found
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise self._error(f"`{text}`")

    def _word(self, what: str) -> str:
        if not self.next.isidentifier():
            raise self._error(what)
        self.at += 1
        return self.tokens[self.at - 1][0]

    def _error(self, wanted: str) -> SchemaError:
        found, column = self.tokens[self.at]
        return SchemaError(f"expected {wanted}, not {found if found == _END else f'`{found}`'}", column)

    def _several(self, item: Callable[[], _T]) -> list[_T]:
        """What stands up to a closing bracket, separated by commas."""
        found: list[_T] = []
        while not self._take(")"):
            if found:
                self._need(",")
            found.append(item())
        return found

    # ------------------------------------------------------------------ grammar

    def schema(self) -> Schema:
        namespace, name, overload = self._name() if self.next.isidentifier() else ("", "", "")
        self._need("(")
        listed = self._several(self._argument)
        first_by_name = listed.index("*") if "*" in listed else len(listed)
        arguments = tuple(replace(one, kwarg_only=i > first_by_name) for i, one in enumerate(listed)
                          if isinstance(one, SchemaArgument))
        self._need("->")
        returns = self._returns()
        if self.next != _END:
            raise self._error(_END)
        return Schema(namespace, name, overload, arguments, returns, "..." in listed)

    def _name(self) -> tuple[str, str, str]:
        namespace, name = "", self._word("a name")
        if self._take("::"):
            namespace, name = name, self._word("the op's name")
        return namespace, name, self._word("the overload's name") if self._take(".") else ""

    def _argument(self) -> SchemaArgument | str:
        """An argument, `*`, or `...`, which is the last."""
        if self._take("*"):
            return "*"
        if self._take("..."):
            if self.next != ")":
                raise self._error("`)`")
            return "..."
        type_, alias, mutated = self._type()
        name = self._word("the argument's name")
        return SchemaArgument(name, type_, alias, mutated, default=self._default() if self._take("=") else None)

    def _returns(self) -> tuple[SchemaArgument, ...]:
        start = self.at
        if self._take("..."):
            return ()
        if self._take("("):
            found = self._several(lambda: None if self._take("...") else self._result())
            if self.next not in ("[", "?"):
                return tuple(one for one in found if one is not None)
            self.at = start  # one result, of a tuple type
        return (self._result(),)

    def _result(self) -> SchemaArgument:
        type_, alias, mutated = self._type()
        return SchemaArgument(self._word("a name") if self.next.isidentifier() else "", type_, alias, mutated)

    def _type(self) -> tuple[str, frozenset[str], bool]:
        """A type with its alias annotation, which may stand before or after `?` and `[]`."""
        base, alias, mutated, annotated = self._base(), frozenset[str](), False, False
        while True:
            if not annotated and self._take("("):  # `(a!)`, `(a|b)`, `(a -> *)`, `(a! -> a|b)`, `(*)`
                alias, mutated, annotated = self._sets(), self._take("!"), True
                alias |= self._sets() if self._take("->") else frozenset()
                self._need(")")
            elif not annotated and self._take("!"):  # a set of its own
                mutated = annotated = True
            elif self._take("?"):
                base += "?"
            elif self._take("["):
                size = self.next if self.next.isalnum() else ""
                self.at += bool(size)
                self._need("]")
                base += f"[{size}]"
            else:
                return base, alias, mutated

    def _base(self) -> str:
        if self._take("("):
            return self._types()
        base = self._word("a type")
        while self._take("."):
            base += "." + self._word("a name")
        return base + self._types() if base in _GENERIC and self._take("(") else base

    def _types(self) -> str:
        found = [self._type()[0]]
        while self._take(","):
            found.append(self._type()[0])
        self._need(")")
        return f"({', '.join(found)})"

    def _sets(self) -> frozenset[str]:
        names: set[str] = set()
        while not names or self._take("|"):
            names.add("*" if self._take("*") else self._word("an alias set"))
        return frozenset(names)

    def _default(self) -> str:
        first, column = self.tokens[self.at]
        if self._take("[") or self._take("("):
            close = "]" if first == "[" else ")"
            while not self._take(close):
                if self.next == _END:
                    raise self._error(f"`{close}`")
                self.at += 1
        else:
            self._take("-")
            if self.next == _END or not re.match(r"[\w\"'+.-]", self.next):
                raise self._error("a default value")
            self.at += 1
            while self._take("."):
                self._word("a name")
        last, end = self.tokens[self.at - 1]
        return self.text[column - 1 : end - 1 + len(last)]


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            column = len(text) - len(text[at:].lstrip()) + 1
            raise SchemaError(f"{text[column - 1]!r} has no meaning in a schema", column)
        yield match[1], match.start(1) + 1
        at = match.end()
