"""Types of arguments, in Triton's notation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True)
class PointerType:
    """A pointer argument, Triton notation `*fp32`, `*fp32:16`, `*kfp32` (const)."""

    element: str
    const: bool = False
    divisibility: int = 1

    def __str__(self) -> str:
        suffix = f":{self.divisibility}" if self.divisibility != 1 else ""
        return f"*{'k' if self.const else ''}{self.element}{suffix}"


@dataclass(frozen=True)
class ScalarType:
    """A scalar argument, `i32`, `u64`, `fp32`, `i1`; `i32:16` means divisible by 16."""

    name: str
    divisibility: int = 1

    def __str__(self) -> str:
        return f"{self.name}:{self.divisibility}" if self.divisibility != 1 else self.name


@dataclass(frozen=True)
class DescriptorType:
    """A host tensor descriptor, `tensordesc<fp16[64, 64]>`; `block_shape` in elements."""

    element: str
    block_shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"tensordesc<{self.element}[{', '.join(map(str, self.block_shape))}]>"


@dataclass(frozen=True)
class ConstexprValue:
    """A compile-time value; `None` stands for an absent optional argument too.

    `text` is how the value is shown in reports (`relu`, `tl.float16`, `128`).
    """

    value: Any
    text: str = ""

    def __str__(self) -> str:
        return self.text or repr(self.value)


@dataclass(frozen=True)
class TupleType:
    """A tuple argument; `cls` is the namedtuple class when its fields have names."""

    elements: tuple[ArgType, ...]
    fields: tuple[str, ...] = ()
    cls: type | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """What each element is called after the tuple's name: `name.field`, `name.0`."""
        return self.fields or tuple(map(str, range(len(self.elements))))

    def __str__(self) -> str:
        if self.fields:
            name = self.cls.__name__ if self.cls else ""
            inner = ", ".join(f"{f}={e}" for f, e in zip(self.fields, self.elements, strict=True))
            return f"{name}({inner})"
        return f"({', '.join(map(str, self.elements))}{',' if len(self.elements) == 1 else ''})"


# Union, not `|`: evaluated at run time, where a forward reference is a string.
ArgType = Union[PointerType, ScalarType, DescriptorType, ConstexprValue, TupleType]  # noqa: UP007
