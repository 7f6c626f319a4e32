"""SSA names of one function while it is being parsed."""

from __future__ import annotations

from triton_mutlint.ttir.ir import ParseError
from triton_mutlint.ttir.types import UNKNOWN_TYPE


class Values:
    """Numbers the values of one function as they are met, and scopes their names to regions.

    Sibling regions may use a name again, and a block may use a value that a block printed later defines.
    """

    __slots__ = ("_forward", "names", "types")

    def __init__(self) -> None:
        self.names: dict[str, int] = {}  # the visible ones, in order of definition
        self.types: list[str] = []
        self._forward: dict[str, tuple[int, int]] = {}  # used and not yet defined: number, and line of first use

    def define(self, name: str, type_: str, line: int) -> int:
        """A new value; raises ParseError when a visible value has that name."""
        if name in self.names:
            raise ParseError(f"{name} is defined twice", line)
        if self._forward and (name in self._forward or f"{name}#0" in self._forward):
            number = self._forward.pop(name if name in self._forward else f"{name}#0")[0]
            self.types[number] = type_
        else:
            number = len(self.types)
            self.types.append(type_)
        self.names[name] = number
        return number

    def define_group(self, name: str, count: int, line: int) -> list[int]:
        """The values `%name#0` .. of a result group `%name:count`, types still unknown."""
        if count == 1:
            return [self.define(name, UNKNOWN_TYPE, line)]
        if name in self.names or count < 1 or count > 100_000:
            raise ParseError(f"bad result group {name}:{count}", line)
        numbers = [self.define(f"{name}#{i}", UNKNOWN_TYPE, line) for i in range(count)]
        self.names[name] = numbers[0]
        return numbers

    def use(self, name: str, line: int) -> int:
        """The number of a value, which may be defined further down."""
        number = self.names.get(name)
        if number is not None:
            return number
        if name.endswith("#0"):
            number = self.names.get(name[:-2])
            if number is not None:
                return number
        if name not in self._forward:
            self._forward[name] = len(self.types), line
            self.types.append(UNKNOWN_TYPE)
        return self._forward[name][0]

    def leave(self, mark: int) -> None:
        """Forget the names defined since `mark` of them were visible."""
        while len(self.names) > mark:
            self.names.popitem()

    def check(self) -> None:
        """Raises ParseError for a value that nobody defined."""
        for name, (_, line) in self._forward.items():
            raise ParseError(f"{name} is not defined", line)
