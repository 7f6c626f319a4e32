"""Torch's schema strings: `ns::op.overload(Tensor(a!) x, *, int n=1) -> Tensor`.

The grammar is that of the schema parser of torch 2.13, except that types need only look like types:
which of them exist differs between versions and extensions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""\s*(?:(?P<arrow>->)|(?P<dots>\.\.\.)|(?P<scope>::)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<mark>[()\[\]{},*?!|=.:<>-]))""",
    re.VERBOSE,
)
_END = "end of the schema"
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


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            column = at + len(text[at:]) - len(text[at:].lstrip()) + 1
            raise SchemaError(f"{text[column - 1]!r} has no meaning in a schema", column)
        kind = str(match.lastgroup)
        found.append(_Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, _Token("end", _END, end + 1)]


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at = text, _tokens(text), 0

    # ------------------------------------------------------------------ tokens

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def _is(self, text: str) -> bool:
        return self.next.text == text and self.next.kind != "string"

    def _take(self, text: str) -> bool:
        found = self._is(text)
        self.at += found
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise self._error(f"`{text}`")

    def _word(self, what: str) -> str:
        if self.next.kind != "word":
            raise self._error(what)
        self.at += 1
        return self.tokens[self.at - 1].text

    def _error(self, wanted: str) -> SchemaError:
        found = self.next.text if self.next.kind == "end" else f"`{self.next.text}`"
        return SchemaError(f"expected {wanted}, not {found}", self.next.column)

    # ------------------------------------------------------------------ grammar

    def schema(self) -> Schema:
        namespace, name, overload = self._name() if self.next.kind == "word" else ("", "", "")
        arguments, variadic = self._arguments()
        self._need("->")
        returns = self._returns()
        if self.next.kind != "end":
            raise self._error(_END)
        return Schema(namespace, name, overload, arguments, returns, variadic)

    def _name(self) -> tuple[str, str, str]:
        namespace, name, overload = "", self._word("a name"), ""
        if self._take("::"):
            namespace, name = name, self._word("the op's name")
        if self._take("."):
            overload = self._word("the overload's name")
        return namespace, name, overload

    def _arguments(self) -> tuple[tuple[SchemaArgument, ...], bool]:
        found: list[SchemaArgument] = []
        kwarg_only = variadic = False
        self._need("(")
        while not self._take(")"):
            if (found or kwarg_only) and not variadic:
                self._need(",")
            if variadic:
                raise self._error("`)`")
            if self._take("..."):
                variadic = True
            elif self._take("*"):
                kwarg_only = True
            else:
                found.append(self._argument(kwarg_only))
        return tuple(found), variadic

    def _argument(self, kwarg_only: bool) -> SchemaArgument:
        type_, alias, mutated = self._type()
        name = self._word("the argument's name")
        default = self._default() if self._take("=") else None
        return SchemaArgument(name, type_, alias, mutated, kwarg_only, default)

    def _returns(self) -> tuple[SchemaArgument, ...]:
        if self._take("..."):
            return ()
        if not self._is("("):
            return (self._result(),)
        start = self.at
        self._need("(")
        found: list[SchemaArgument] = []
        while not self._take(")"):
            if found:
                self._need(",")
            if self._take("..."):
                continue
            found.append(self._result())
        if self._is("[") or self._is("?"):  # one result, of a tuple type
            self.at = start
            return (self._result(),)
        return tuple(found)

    def _result(self) -> SchemaArgument:
        type_, alias, mutated = self._type()
        name = self._word("a name") if self.next.kind == "word" else ""
        return SchemaArgument(name, type_, alias, mutated)

    def _type(self) -> tuple[str, frozenset[str], bool]:
        """A type with its alias annotation, which may stand before or after `?` and `[]`."""
        parts = [self._base()]
        alias: frozenset[str] = frozenset()
        mutated = annotated = False
        while True:
            if self._is("(") and not annotated:
                alias, mutated = self._alias()
                annotated = True
            elif self._is("!") and not annotated:  # a set of its own
                mutated = annotated = self._take("!")
            elif self._take("?"):
                parts.append("?")
            elif self._take("["):
                size = self.next.text if self.next.kind in ("number", "word") else ""
                self.at += bool(size)
                self._need("]")
                parts.append(f"[{size}]")
            else:
                return "".join(parts), alias, mutated

    def _base(self) -> str:
        if self._take("("):
            return f"({', '.join(self._types())})"
        base = self._word("a type")
        while self._take("."):
            base += "." + self._word("a name")
        if base in ("Dict", "Future", "Await", "RRef", "Union", "Tuple", "Optional", "List") and self._take("("):
            base += f"({', '.join(self._types())})"
        return base

    def _types(self) -> list[str]:
        found = [self._type()[0]]
        while self._take(","):
            found.append(self._type()[0])
        self._need(")")
        return found

    def _alias(self) -> tuple[frozenset[str], bool]:
        """`(a!)`, `(a|b)`, `(a -> *)`, `(a! -> a|b)`, `(*)`."""
        self._need("(")
        names = self._sets()
        mutated = self._take("!")
        if self._take("->"):
            names |= self._sets()
        self._need(")")
        return names, mutated

    def _sets(self) -> frozenset[str]:
        names = set()
        while True:
            names.add("*" if self._take("*") else self._word("an alias set"))
            if not self._take("|"):
                return frozenset(names)

    def _default(self) -> str:
        first = self.next
        if self._take("[") or self._take("("):
            close = "]" if first.text == "[" else ")"
            while not self._take(close):
                if self.next.kind == "end":
                    raise self._error(f"`{close}`")
                self.at += 1
        else:
            self._take("-")
            if self.next.kind not in ("number", "word", "string"):
                raise self._error("a default value")
            self.at += 1
            while self._take("."):
                self._word("a name")
        last = self.tokens[self.at - 1]
        return self.text[first.column - 1 : last.column - 1 + len(last.text)]
