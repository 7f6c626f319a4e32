"""Integer constants as TTIR prints them."""

from __future__ import annotations

import re
from functools import lru_cache

from triton_mutlint.ttir.ir import Op

# Ops that leave a splat constant what it is.
SAME_VALUE = ("tt.splat", "tt.broadcast", "tt.reshape", "tt.expand_dims", "arith.extsi", "arith.extui", "arith.trunci",
              "arith.index_cast", "arith.bitcast")  # the frontend casts an i32 to i32 by a bitcast
_LITERAL = re.compile(r"(?:dense<)?(-?\d+|true|false)>?(?: :.*)?")
_WORDS = {"true": 1, "false": 0}


def integer_constant(op: Op) -> int | None:
    """The value of an integer or boolean `arith.constant`, all elements alike; else None."""
    if op.name != "arith.constant":
        return None
    return _value(op.attrs.get("value", ""))


@lru_cache(maxsize=4096)
def _value(text: str) -> int | None:
    match = _LITERAL.fullmatch(text.strip())
    if match is None:
        return None
    return _WORDS[match[1]] if match[1] in _WORDS else int(match[1])
