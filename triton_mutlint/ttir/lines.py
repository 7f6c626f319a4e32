"""The shapes that most lines of a printed module have, read by one expression.

What an op is, apart from the values it uses and makes, repeats from line to line and from module to
module: it is read once per distinct text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from triton_mutlint.ttir.syntax import CACHED, read_bare, read_constant
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types

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
