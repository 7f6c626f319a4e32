"""Integer constants as TTIR prints them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from triton_mutlint.ttir.ir import Op

# Ops that leave a splat constant what it is.
SAME_VALUE = ("tt.splat", "tt.broadcast", "tt.reshape", "tt.expand_dims", "arith.extsi", "arith.extui", "arith.trunci",
              "arith.index_cast", "arith.bitcast")  # the frontend casts an i32 to i32 by a bitcast
_SAME_NUMBER = frozenset(SAME_VALUE) - {"arith.trunci"}  # 256 is 0 in eight bits
Producer = Callable[[int], "Op | None"]
_LITERAL = re.compile(r"(?:dense<)?(-?\d+|true|false)>?(?: :.*)?")
_WORDS = {"true": 1, "false": 0}


def integer_constant(op: Op) -> int | None:
    """The value of an integer or boolean `arith.constant`, all elements alike; else None."""
    if op.name != "arith.constant":
        return None
    return _value(op.attrs.get("value", ""))


def source_of(value: int, producer: Producer) -> Op | None:
    """What makes a value, shapes and widening casts aside; None for arguments."""
    made = producer(value)
    while made is not None and made.name in _SAME_NUMBER:
        made = producer(made.operands[0])
    return made


def constant_behind(value: int, producer: Producer) -> int | None:
    """As `integer_constant`, of a value seen through casts and shapes."""
    made = source_of(value, producer)
    return integer_constant(made) if made is not None else None


@lru_cache(maxsize=4096)
def _value(text: str) -> int | None:
    match = _LITERAL.fullmatch(text.strip())
    if match is None:
        return None
    return _WORDS[match[1]] if match[1] in _WORDS else int(match[1])
