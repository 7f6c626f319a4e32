"""Loop variables of interpreted kernels: integers with what tensors have, as compiled code gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from triton_mutlint.verify.scalars import typed_scalar


class LoopInteger(int):
    """An integer that can be cast like a tensor; arithmetic with integers gives another."""

    @property
    def dtype(self) -> Any:
        """What compiled loops count in."""
        import triton.language as tl

        return tl.int32

    def to(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """The value as a tensor of `dtype`."""
        return typed_scalar(int(self), "i32").to(dtype, *args, **kwargs)


def _closed(name: str) -> Callable[[Any, Any], Any]:
    plain = getattr(int, name)

    def operator(self: Any, other: Any) -> Any:
        result = plain(self, other)
        return LoopInteger(result) if type(result) is int else result

    return operator


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    for _side in ("", "r"):
        setattr(LoopInteger, f"__{_side}{_name}__", _closed(f"__{_side}{_name}__"))


def loop_range(first: Any, second: Any = None, step: Any = None, **options: Any) -> Iterator[LoopInteger]:
    """`range` and `tl.range`; what they are told for the compiler is ignored."""
    bounds = (0, first) if second is None else (first, second)
    values = [int(getattr(value, "value", value)) if type(value).__name__ == "constexpr" else value
              for value in (*bounds, 1 if step is None else step)]
    return map(LoopInteger, range(*values))
