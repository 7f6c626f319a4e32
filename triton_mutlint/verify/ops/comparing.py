"""Whether two runs gave the same: values within a tolerance, and what a fake function says of a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves


def first_difference(pairs: Sequence[tuple[str, Any, Any]], rtol: float | None, atol: float | None) -> str:
    """What differs first, and by how much; "" if all are close. `torch.testing` has tolerances by dtype."""
    both = None if rtol is None and atol is None else (rtol or 0.0, atol or 0.0)
    for name, one, other in pairs:
        left, right = tree_leaves(one), tree_leaves(other)
        if len(left) != len(right):
            return f"{name}: {len(left)} values, not {len(right)}"
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            try:
                torch.testing.assert_close(b, a, rtol=both and both[0], atol=both and both[1], equal_nan=True)
            except AssertionError as error:
                lines = [line.strip() for line in str(error).splitlines() if line.strip()]
                return f"{name}{f' {i}' if len(left) > 1 else ''} differs: {', '.join(lines[1:3]) or lines[0]}"
    return ""


def against_eager(runs: Sequence[Any], difference: Callable[[Any, Any], str]) -> tuple[str, str]:
    """The status of a path, and why; `runs` are what two runs in eager and one by the path gave.

    "refused" if those in eager differ, "differs" if the path does, else "ok".
    """
    eager, again, other = runs
    if told := difference(eager, again):
        return "refused", f"eager itself gives other values a second time: {told}"
    told = difference(eager, other)
    return "differs" if told else "ok", told


def unlike(fakes: Sequence[Any], reals: Sequence[Any]) -> str:
    """In what a fake result is unlike the real one; a size that the fake function leaves open is like any."""
    if len(fakes) != len(reals):
        return f"the fake function gives {len(fakes)} results, the op {len(reals)}"
    for i, (fake, real) in enumerate(zip(fakes, reals, strict=True)):
        if not isinstance(real, torch.Tensor) or not isinstance(fake, torch.Tensor):
            continue
        told = [(what, a, b) for what, a, b in (
            ("dtype", fake.dtype, real.dtype), ("device", fake.device.type, real.device.type),
            ("shape", _known(fake.shape, real.shape), tuple(real.shape)),
            ("strides", _known(fake.stride(), real.stride()), tuple(real.stride()))) if a != b]
        if told and not (told[0][0] == "strides" and real.numel() < 2):
            what, a, b = told[0]
            return f"result {i + 1} of the fake function has the {what} {a}, of the op {b}"
    return ""


def _known(fake: Sequence[Any], real: Sequence[Any]) -> tuple[int, ...]:
    """Sizes as numbers; those that are open, as they are in truth."""
    if len(fake) != len(real):
        return tuple(-1 if isinstance(size, torch.SymInt) else int(size) for size in fake)
    return tuple(b if isinstance(a, torch.SymInt) else int(a) for a, b in zip(fake, real, strict=True))
