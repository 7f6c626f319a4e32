"""Headers of the ops that hold regions: functions, scf loops and conditionals, anything in generic form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_mutlint.ttir.ir import no_attrs
from triton_mutlint.ttir.lexer import closing, mask_strings, split_top, unescape, unmask
from triton_mutlint.ttir.syntax import cut_dictionary, read_custom, read_generic
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types, type_list

_FOR = re.compile(r"\s*(?:unsigned )?(%[\w.$-]+) = (%[\w.$#-]+) to (%[\w.$#-]+) step (%[\w.$#-]+)")
_INIT = re.compile(r"(%[\w.$-]+) = (%[\w.$#-]+)")
# Most functions: nothing in brackets or quotes but locations and plain attributes.
_PLAIN_ARGUMENT = r'(%[\w.$-]+): ([^\s"{}(),]+)(?: \{[^{}"%\n]*\})?(?: loc\((?:#\w+|"[^"\\%\n]*"\(#\w+\))\))?'
_PLAIN_ARGUMENTS = re.compile(_PLAIN_ARGUMENT)
_PLAIN_FUNCTION = re.compile(rf' (?:(public|private) )?@([\w.$-]+)\(((?:{_PLAIN_ARGUMENT}(?:, |(?=\))))*)\)[^"\n]* \{{')
_FUNCTION = re.compile(r'\s*(?:(public|private|nested) )?@(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+))\(')
_ARGUMENT = re.compile(r"(%[\w.$-]+) ?: ?")

MODULES = frozenset({"module", "builtin.module"})
FUNCTIONS = frozenset({"tt.func", "func.func"})
SPECIALIZED = "ttg.warp_specialize"  # its regions begin on lines of their own: `default {`, `partition0(%a: T) {`
# Bodies whose terminator is not printed when the op has no results.
IMPLICIT_YIELD = frozenset({"scf.for", "scf.if"})


@dataclass(frozen=True)
class Opening:
    """An op up to its first region: what it uses, and the arguments of that region's first block.

    `types` is empty when the signature stands after the regions (generic form).
    """

    operands: list[str]
    types: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    attrs: Mapping[str, str] = field(default_factory=no_attrs)


@dataclass(frozen=True)
class FunctionHeader:
    name: str
    public: bool
    arguments: tuple[tuple[str, str], ...]


def read_opening(name: str, body: str, generic: bool, count: int) -> Opening:
    """Read an op header that ends in `{`; `count` is the number of its results.

    Raises ValueError when the header has another form.
    """
    if generic:
        head = read_generic(body.rstrip()[:-1].rstrip().removesuffix("("))
        return Opening(head.operands, (), (), head.attrs)
    body = body.rstrip()[:-1]
    if name == "scf.for":
        return _for(body, count)
    if name == "scf.while":
        return _while(body, count)
    head = read_custom(name, body)
    return Opening(head.operands, result_types(name, head.signature, count), (), head.attrs)


def _for(body: str, count: int) -> Opening:
    """`%i = %lb to %ub step %s iter_args(%a = %x) -> (T) : i32`; an index counter has no type."""
    match = _FOR.match(body)
    if match is None:
        raise ValueError("not the form of scf.for")
    inits: list[tuple[str, str]] = []
    types: list[str] = []
    rest = body[match.end() :]
    start = rest.find("iter_args(")
    if start >= 0:
        end = closing(rest, start + 9)
        inits = _INIT.findall(rest, start, end)
        start = rest.find("(", end + 1)
        end = closing(rest, start) if start >= 0 else -1
        if end < 0:
            raise ValueError("scf.for without result types")
        types = split_top(rest[start + 1 : end])
        rest = rest[end + 1 :]
    if len(types) != len(inits) or len(types) != count:
        raise ValueError("scf.for with as many types as carried values expected")
    counter = rest.rpartition(": ")[2].strip() or "index"
    arguments = ((match[1], counter), *((name, type_) for (name, _), type_ in zip(inits, types, strict=False)))
    return Opening([match[2], match[3], match[4], *(v for _, v in inits)], tuple(types), arguments)


def _while(body: str, count: int) -> Opening:
    """`(%a = %x) : (T) -> U`."""
    inputs, arrow, outputs = body.rpartition("->")
    before, colon, inputs = inputs.rpartition(" : ")
    if not arrow or not colon:
        raise ValueError("not the form of scf.while")
    inits = _INIT.findall(before)
    types = type_list(inputs)
    results = type_list(outputs)
    if len(types) != len(inits) or len(results) != count:
        raise ValueError("scf.while with as many types as values expected")
    arguments = tuple((name, type_) for (name, _), type_ in zip(inits, types, strict=False))
    return Opening([v for _, v in inits], tuple(results), arguments)


def read_function(body: str) -> FunctionHeader:
    """`public @name(%a: T {attrs} loc(..), ...) -> T attributes {..} {`.

    Raises ValueError when the header has another form.
    """
    if plain := _PLAIN_FUNCTION.fullmatch(body):
        arguments = tuple(_PLAIN_ARGUMENTS.findall(plain[3]))
        return FunctionHeader(plain[2], plain[1] != "private", arguments)
    match = _FUNCTION.match(body)
    end = closing(body, match.end() - 1) if match else -1
    if match is None or end < 0:
        raise ValueError("not the form of a function")
    name = match[3] if match[2] is None else unescape(match[2])
    return FunctionHeader(name, match[1] in (None, "public"), read_arguments(body[match.end() : end]))


def read_arguments(text: str) -> tuple[tuple[str, str], ...]:
    """`%a: T {attrs} loc(..), ...` of a block or function. Raises ValueError when one has another form."""
    arguments = []
    for part in split_top(text):
        match = _ARGUMENT.match(part)
        if match is None:
            raise ValueError(f"not an argument: {part[:40]}")
        arguments.append((match[1], _argument_type(part[match.end() :])))
    return tuple(arguments)


def _argument_type(text: str) -> str:
    """The type at the start of `T {attrs} loc(..)`."""
    word = text.partition(" ")[0]
    if '"' not in word and word.count("<") == word.count(">"):
        return word or UNKNOWN_TYPE
    masked, strings = mask_strings(text)
    cut = masked.find(" loc(")
    masked = cut_dictionary(masked[:cut] if cut >= 0 else masked)[0]
    return unmask(masked, strings).strip() or UNKNOWN_TYPE
