"""Integer constants as TTIR prints them, and masks that are false in every lane (docs/analysis.md, section 6)."""

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
_BELOW = {"slt": (0, 1), "ult": (0, 1), "sgt": (1, 0), "ugt": (1, 0)}  # which operand is to be below which
_MAX_STEPS = 32


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


def is_never(mask: int, producer: Producer) -> bool:
    """Whether a mask is the constant false, or asks of a range to be below its own start, or is an `and` of such."""
    pending = [mask]
    for _ in range(_MAX_STEPS):
        if not pending:
            return False
        made = producer(pending.pop())
        if made is None:
            continue
        if integer_constant(made) == 0 or _is_below_range(made, producer):
            return True
        if made.name == "arith.andi" or made.name in SAME_VALUE:
            pending.extend(made.operands)
    return False


def _is_below_range(comparison: Op, producer: Producer) -> bool:
    order = _BELOW.get(comparison.attrs.get("predicate", "")) if comparison.name == "arith.cmpi" else None
    if order is None:
        return False
    low, high = (source_of(comparison.operands[i], producer) for i in order)
    if low is None or high is None or low.name != "tt.make_range":
        return False
    limit, start = integer_constant(high), low.attrs.get("start", "").partition(" ")[0]
    return limit is not None and start.isdigit() and 0 <= limit <= int(start)
