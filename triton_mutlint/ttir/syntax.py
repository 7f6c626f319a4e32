"""The text of one op, without its results and its location, taken apart.

The shapes that most lines have are read by one expression. What an op is, apart from the values it uses and makes,
repeats from line to line and from module to module: it is read once per distinct text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from triton_mutlint.ttir.ir import NO_ATTRS
from triton_mutlint.ttir.lexer import NUMBERED, closing, mask_strings, parse_attrs, unescape, unmask
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types

CACHED = 4096  # distinct texts that are kept read
OPERAND = re.compile(r"%[\w.$-]+(?:#\d+)?")
_SUCCESSOR = re.compile(r"\^([\w.$-]+)(?:\(([^():^]*):[^)^]*\))?")
_BARE_PAIR = re.compile(r"\b(\w+) = ([\w.]+)")
_SYMBOL = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+))')

# Words that the custom syntax prints before the operands, in order.
_LEADING: dict[str, tuple[str, ...]] = {
    "arith.cmpi": ("predicate",),
    "arith.cmpf": ("predicate",),
    "tt.atomic_rmw": ("rmw_op", "sem", "scope"),
    "tt.atomic_cas": ("sem", "scope"),
    "tt.atomic_load": ("sem", "scope"),
    "tt.atomic_store": ("sem", "scope"),
    "tt.atomic_poll": ("sem", "scope"),
    "tt.descriptor_reduce": ("kind",),
    "tt.get_program_id": ("axis",),
    "tt.get_num_programs": ("axis",),
    "ttg.barrier": ("addrSpace",),
    "amdg.buffer_atomic_rmw": ("rmw_op", "sem", "scope"),
}
# The attribute that a bare string literal stands for.
_LITERAL = {
    "tt.elementwise_inline_asm": "asm_string",
    "tt.print": "prefix",
    "tt.assert": "message",
}
_CALLS = frozenset({"tt.call", "func.call"})


class Head(NamedTuple):
    """An op's operands by name in MLIR's order, its type signature, attributes and branch targets."""

    operands: list[str]
    signature: str = ""
    attrs: Mapping[str, str] = NO_ATTRS
    successors: list[tuple[str, list[str]]] | None = None


@lru_cache(maxsize=CACHED)
def read_dictionary(text: str) -> Mapping[str, str]:
    """Attributes of a dictionary given without its braces; equal texts share one mapping."""
    return parse_attrs(text)


@lru_cache(maxsize=CACHED)
def read_bare(name: str, bare: str, braces: str) -> Mapping[str, str]:
    """Attributes of op `name`: words before and between its operands, and its dictionary."""
    attrs = dict(read_dictionary(braces)) if braces else {}
    words = bare.replace(",", " ").split()
    attrs.update(zip(_LEADING.get(name, ()), words, strict=False))
    attrs.update(_BARE_PAIR.findall(bare))
    return MappingProxyType(attrs) if attrs else NO_ATTRS


@lru_cache(maxsize=CACHED)
def read_constant(body: str) -> Head:
    """`arith.constant dense<1> : tensor<4xi32>`; `true` and `false` carry no type."""
    masked, strings = mask_strings(body)
    rest, braces = cut_dictionary(masked)
    value, colon, signature = rest.rpartition(" : ")
    if not colon:
        value = rest
        signature = "i1" if value.strip() in ("true", "false") else ""
    attrs = dict(parse_attrs(unmask(braces, strings)))
    attrs["value"] = unmask(value, strings).strip()
    return Head([], signature, MappingProxyType(attrs))


def cut_dictionary(body: str) -> tuple[str, str]:
    """`body` without its first attribute dictionary, and the inside of that; strings are masked."""
    start = body.find(" {")
    if start < 0:
        return body, ""
    end = body.find("}", start)
    if end < 0:
        return body, ""
    if body.find("{", start + 2, end) >= 0:
        end = closing(body, start + 1)
        if end < 0:
            return body, ""
    return body[:start] + body[end + 1 :], body[start + 2 : end]


def read_custom(name: str, body: str) -> Head:
    """An op printed in its own syntax; for one nobody knows, its operands in text order."""
    if name == "arith.constant":
        return read_constant(body)
    if '"' in body:
        return _with_strings(name, body)
    braces = ""
    if " {" in body:
        body, braces = cut_dictionary(body)
    return _read(name, body, braces)


def _read(name: str, body: str, braces: str) -> Head:
    """As `read_custom`; the dictionary stands apart and strings are masked."""
    if "^" in body:
        return _branch(body, braces)
    head, signature = _cut_signature(body)
    operands = OPERAND.findall(head)
    attrs = read_dictionary(braces) if braces else NO_ATTRS
    if name in _LEADING or " = " in head:
        bare = " ".join(OPERAND.split(head)) if " = " in head else head.partition("%")[0]
        attrs = read_bare(name, bare, braces)
    elif name in _CALLS:
        attrs = _with_callee(head, attrs)
    if name in REORDERED:
        operands = REORDERED[name](operands, head)
    return Head(operands, signature, attrs)


def _cut_signature(body: str) -> tuple[str, str]:
    colon = body.rfind(" : ")
    if colon >= 0:
        return body[:colon], body[colon + 3 :]
    arrow = body.find(" -> ")
    if arrow >= 0:
        return body[:arrow], body[arrow:]
    return body, ""


def _branch(body: str, braces: str) -> Head:
    """`cf.br`, `cf.cond_br`: own operands first, then each target's."""
    own = OPERAND.findall(body, 0, body.find("^"))
    successors = [(m[1], OPERAND.findall(m[2] or "")) for m in _SUCCESSOR.finditer(body)]
    operands = [*own, *(v for _, values in successors for v in values)]
    attrs = read_dictionary(braces) if braces else NO_ATTRS
    return Head(operands, "", attrs, successors)


def _with_callee(head: str, attrs: Mapping[str, str]) -> Mapping[str, str]:
    match = _SYMBOL.search(head)
    if match is None:
        return attrs
    callee = match[2] if match[1] is None else unescape(match[1])
    return MappingProxyType({**attrs, "callee": callee})


def _with_strings(name: str, body: str) -> Head:
    """As `read_custom`, with strings out of the way while brackets and operands are looked for."""
    masked, strings = mask_strings(body)
    rest, braces = cut_dictionary(masked)
    head = _read(name, rest, "")
    attrs = {**head.attrs, **parse_attrs(unmask(braces, strings))}
    literal = NUMBERED.search(rest)
    if literal and name in _LITERAL:
        attrs[_LITERAL[name]] = unescape(strings[int(literal[1])])
    if name in _CALLS:
        attrs = dict(_with_callee(unmask(rest, strings), attrs))
    return Head(head.operands, unmask(head.signature, strings), MappingProxyType(attrs), head.successors)


def read_generic(body: str) -> Head:
    """`(%a, %b) <{...}> {...} : (T, T) -> T`, of an op whose name stood in quotes.

    Raises ValueError when the text has another form.
    """
    masked, strings = mask_strings(body)
    start = masked.find("(")
    end = closing(masked, start) if start >= 0 else -1
    if end < 0:
        raise ValueError("no operand list")
    operands = OPERAND.findall(masked, start, end)
    rest = masked[end + 1 :]
    if rest.lstrip().startswith("["):
        raise ValueError("a branch in generic form")
    attrs: dict[str, str] = {}
    for _ in range(2):  # properties, attributes
        brace = rest.find("{")
        close = closing(rest, brace) if brace >= 0 else -1
        colon = rest.find(" : ")
        if close < 0 or 0 <= colon < brace:
            break
        attrs.update(parse_attrs(unmask(rest[brace + 1 : close], strings)))
        rest = rest[:brace] + rest[close + 1 :]
    signature = rest.partition(": ")[2]
    return Head(operands, signature, MappingProxyType(attrs) if attrs else NO_ATTRS)


def _value_after_descriptor(operands: list[str], head: str) -> list[str]:
    """`%desc[%i, %j], %v` prints the indices first, while MLIR counts them last."""
    if not head.rstrip().endswith("]") and len(operands) > 1:
        return [operands[0], operands[-1], *operands[1:-1]]
    return operands


def _scales_last(operands: list[str], head: str) -> list[str]:
    """`tt.dot_scaled %a scale %sa, %b scale %sb, %c`: MLIR counts a, b, c and then the scales."""
    scales = re.findall(r"\bscale (%[\w.$-]+(?:#\d+)?)", head)
    plain = OPERAND.findall(re.sub(r"\bscale %[\w.$-]+(?:#\d+)?", "", head))
    return [*plain, *scales]


REORDERED = {
    "tt.descriptor_store": _value_after_descriptor,
    "tt.descriptor_reduce": _value_after_descriptor,
    "tt.dot_scaled": _scales_last,
}


_SHAPES = r"""
    ^(?:\#.*$|[ ]*(?:
      (?:(%[\w.$-]+)[ ]=[ ])?
      ((?:arith|math|tt|ub)\.[\w.]+|scf\.yield)
      (?:
        (?<=arith\.constant)[ ]([^"{\n]*)
      | (?<!arith\.constant)
        ((?:[ ]\w+,?)*)
        (?:[ ](%[^:"{[=<(\n]*))?
        (?:[ ]\{([^{}"\n]*)\})?
        (?:[ ]:[ ]([^"{\n]*))?
      )END$
    | (.*)$))
"""
_LOCATED = re.compile(_SHAPES.replace("END", r"[ ]loc\((\#[\w.$]+)\)"), re.VERBOSE | re.MULTILINE)
_BARE = re.compile(_SHAPES.replace("END", "()"), re.VERBOSE | re.MULTILINE)
_CHUNK = 1 << 20  # characters taken apart at once: bounds the memory that a large module needs

Fields = tuple[str, str, str, str, str, str, str, str, str]


class Shape(NamedTuple):
    """An op without its values: its name, attributes, and the type of its one result."""

    name: str
    attrs: Mapping[str, str]
    type: str


def split_lines(text: str) -> Iterator[Fields]:
    """The groups of every line.

    They are: result, name, constant, words, operands, attributes, signature, location; of a line that
    has no common shape, only the last, the line itself; of aliases, none.
    """
    pattern = _LOCATED if " loc(#" in text else _BARE
    return chain.from_iterable(pattern.findall(text, start, end) for start, end in _portions(text))


def _portions(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start <= len(text):
        end = text.find("\n", start + _CHUNK)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


@lru_cache(maxsize=CACHED)
def read_shape(name: str, words: str, attributes: str, signature: str) -> Shape:
    """The shape of an op that is no constant."""
    types = result_types(name, signature, 1)
    return Shape(name, read_bare(name, words, attributes), types[0])


@lru_cache(maxsize=CACHED)
def read_constant_shape(body: str) -> Shape:
    """The shape of `arith.constant`, given what follows its name."""
    head = read_constant(body)
    types = result_types("arith.constant", head.signature, 1)
    return Shape("arith.constant", head.attrs, types[0] if types else UNKNOWN_TYPE)
