"""Who sees what a walk over a kernel's source meets, and where the walk is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.values import MayBe


@dataclass
class Place:
    """Where in the source a walk is: the line in the kernel's own body."""

    line: int = 0
    own_line: int = 0  # in whichever function it stands
    is_asserting: bool = False  # inside an assertion: its comparisons choose nothing

    @contextmanager
    def being(self, **changes: Any) -> Iterator[None]:
        """With these changes, for a while."""
        before = {name: getattr(self, name) for name in changes}
        vars(self).update(changes)
        yield
        vars(self).update(before)


class Observer:
    """Sees what a walk meets, and says what is to be remembered of each value; this one remembers nothing."""

    place: Place

    def checked(self, value: MayBe) -> None:
        """A value is asserted while the kernel is compiled (`tl.static_assert`, `assert`)."""

    def binary(self, node: ast.BinOp, left: MayBe, right: MayBe, value: MayBe) -> MayBe:
        return value

    def unary(self, node: ast.UnaryOp, operand: MayBe, value: MayBe) -> MayBe:
        return value

    def chain(self, values: Sequence[MayBe], value: MayBe) -> MayBe:
        return value

    def compare(self, node: ast.Compare, values: Sequence[MayBe], value: MayBe) -> MayBe:
        return value

    def choice(self, test: MayBe, left: MayBe, right: MayBe, value: MayBe) -> MayBe:
        return value

    def field(self, owner: MayBe, name: str, value: MayBe) -> MayBe:
        return value

    def called(self, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe], value: MayBe) -> MayBe:
        """A call of a function of Triton or Python; without its name, of one that is not known."""
        return value

    def method(self, function: MayBe, owner: MayBe, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe],
               value: MayBe) -> MayBe:
        """A call of a method of a value, or of what may be any function, if it has no name."""
        return value

    def passed(self, function: MayBe, args: Sequence[MayBe]) -> None:
        """A function among the arguments of another is applied to values."""

    def joined(self, left: MayBe, right: MayBe) -> None:
        """Two paths meet after which one name may hold either value."""


NOBODY = Observer()
