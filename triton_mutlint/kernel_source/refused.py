"""What Triton will refuse of a kernel, as far as the source alone shows it under given compile-time values.

That is a dimension which is no power of two, and an assertion which does not hold. Each is told with the parameters
that it is computed from. Nothing else is foreseen, so what is not refused here may still be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triton_mutlint.kernel_source.footprint import given_by
from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.observer import Observer
from triton_mutlint.kernel_source.operations import dimensions
from triton_mutlint.kernel_source.values import MayBe
from triton_mutlint.kernel_source.walk import Walk
from triton_mutlint.types import ArgType, Kernel

Refused = Mapping[int, frozenset[str]]  # by line, the parameters that decide it


def refused(kernel: Kernel, program: Program, args: Mapping[str, ArgType]) -> Refused:
    """What the source of `kernel` shows of these arguments."""
    sizes = _Sizes()
    Walk(program, observer=sizes).of(Helper.of(kernel), {name: given_by(name, type_) for name, type_ in args.items()})
    return sizes.refused


class _Sizes(Observer):
    def __init__(self) -> None:
        self.refused: dict[int, frozenset[str]] = {}

    def note(self, value: MayBe) -> None:
        if value.of:
            line = self.place.own_line
            self.refused[line] = self.refused.get(line, frozenset()) | value.of

    def checked(self, value: MayBe) -> None:
        if value.is_known and not value.value:
            self.note(value)

    def called(self, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe], value: MayBe) -> MayBe:
        for size in _leaves(dimensions(name, args, named)):
            if type(size.value) is int and (size.value <= 0 or size.value & (size.value - 1)):
                self.note(size)
        return value

    def method(self, function: MayBe, owner: MayBe, name: str, args: Sequence[MayBe], named: Mapping[str, MayBe],
               value: MayBe) -> MayBe:
        return self.called(name, (owner, *args), named, value) if owner.is_value else value


def _leaves(values: Sequence[MayBe]) -> Iterator[MayBe]:
    for value in values:
        yield from (value,) if value.items is None else _leaves(value.items)
