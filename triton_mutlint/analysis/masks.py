"""Masks that are false in every lane (docs/analysis.md, section 6)."""

from __future__ import annotations

from triton_mutlint.analysis.constants import SAME_VALUE, Producer, integer_constant, source_of
from triton_mutlint.ttir.ir import Op

_BELOW = {"slt": (0, 1), "ult": (0, 1), "sgt": (1, 0), "ugt": (1, 0)}  # which operand is to be below which
_MAX_STEPS = 32


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
