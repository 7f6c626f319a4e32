"""SSA names of one function while it is being parsed."""

from __future__ import annotations

from triton_mutlint.ttir.ir import Block as IrBlock
from triton_mutlint.ttir.ir import Op, ParseError, Region, Successor
from triton_mutlint.ttir.types import UNKNOWN_TYPE


class Values:
    """Numbers the values of one function in text order and scopes their names to regions.

    Sibling regions may use a name again, and a block may use a value that a block printed later
    defines; such a use gets a negative number until `resolve` puts the right one in its place.
    """

    __slots__ = ("_forward", "_moved", "names", "types")

    def __init__(self) -> None:
        self.names: dict[str, int] = {}  # the visible ones, in order of definition
        self.types: list[str] = []
        self._forward: dict[str, tuple[int, int]] = {}  # name -> (placeholder, line of first use)
        self._moved: dict[int, int] = {}

    def define(self, name: str, type_: str, line: int) -> int:
        """A new value; raises ParseError when a visible value has that name."""
        if name in self.names:
            raise ParseError(f"{name} is defined twice", line)
        number = len(self.types)
        self.names[name] = number
        self.types.append(type_)
        if self._forward:
            self._settle(name, number)
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
        """The number of a value, or a placeholder when it is defined further down."""
        number = self.names.get(name)
        if number is not None:
            return number
        if name.endswith("#0"):
            number = self.names.get(name[:-2])
            if number is not None:
                return number
        if name not in self._forward:
            self._forward[name] = (-1 - len(self._forward) - len(self._moved), line)
        return self._forward[name][0]

    def leave(self, mark: int) -> None:
        """Forget the names defined since `mark` of them were visible."""
        while len(self.names) > mark:
            self.names.popitem()

    def resolve(self, region: Region) -> Region:
        """`region` with every placeholder replaced; raises ParseError for a value nobody defines."""
        for name, (_, line) in self._forward.items():
            raise ParseError(f"{name} is not defined", line)
        return _renumber(region, self._moved) if self._moved else region

    def _settle(self, name: str, number: int) -> None:
        for key in (name, f"{name}#0"):
            if key in self._forward:
                self._moved[self._forward.pop(key)[0]] = number


def _renumber(region: Region, moved: dict[int, int]) -> Region:
    return Region(
        tuple(IrBlock(b.args, tuple(_renumber_op(op, moved) for op in b.ops)) for b in region.blocks)
    )


def _renumber_op(op: Op, moved: dict[int, int]) -> Op:
    touched = any(v < 0 for v in op.operands)
    if not touched and not op.regions:
        return op
    return op._replace(
        operands=tuple(moved.get(v, v) for v in op.operands),
        successors=tuple(
            Successor(s.block, tuple(moved.get(v, v) for v in s.operands)) for s in op.successors
        ),
        regions=tuple(_renumber(r, moved) for r in op.regions),
    )
