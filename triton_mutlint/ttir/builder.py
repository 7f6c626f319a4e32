"""Single ops: from text to `Op`, inside of the regions that are open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

from triton_mutlint.ttir.ir import UNKNOWN_LOC, Block, Loc, Op, ParseError, Region, Successor, no_attrs
from triton_mutlint.ttir.locations import Locations
from triton_mutlint.ttir.regions import IMPLICIT_YIELD, FunctionHeader
from triton_mutlint.ttir.syntax import Fields, Head, read_constant_shape, read_shape
from triton_mutlint.ttir.types import UNKNOWN_TYPE, result_types

_MAX_RESULTS = 100
_op: Callable[[tuple[object, ...]], Op] = partial(tuple.__new__, Op)  # twice as fast as by Op's own fields
Targets = list[tuple[str, tuple[int, ...]]]  # of a branch: block label, values for its arguments


@dataclass
class OpenBlock:
    """A block under construction."""

    args: tuple[int, ...]
    ops: list[Op] = field(default_factory=list)


@dataclass
class CallFrame:
    """An op up to the region being read; `regions` are those that are complete."""

    name: str
    line: int
    generic: bool = False
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    attrs: Mapping[str, str] = field(default_factory=no_attrs)
    header: FunctionHeader | None = None
    regions: list[Region] = field(default_factory=list)
    entry: tuple[int, ...] = ()  # arguments of the first block, when no label gives them
    blocks: list[OpenBlock] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    branches: list[tuple[int, int, Targets]] = field(default_factory=list)  # (block, op, targets)
    mark: int = 0  # how many names were visible before the region

    def block(self) -> OpenBlock:
        """The block that the next op goes to."""
        if not self.blocks:
            self.blocks.append(OpenBlock(self.entry))
        return self.blocks[-1]

    def start_block(self, label: str, args: tuple[int, ...], line: int) -> None:
        """A labelled block begins; raises ParseError when the region has one of that name."""
        if self.entry and not self.blocks:
            self.blocks.append(OpenBlock(self.entry))
        if label in self.labels:
            raise ParseError(f"block {label} is defined twice", line)
        self.labels[label] = len(self.blocks)
        self.blocks.append(OpenBlock(args))

    def append(self, op: Op, targets: Targets | None) -> None:
        """Add an op; `targets` are a branch's."""
        block = self.block()
        if targets is not None:
            self.branches.append((len(self.blocks) - 1, len(block.ops), targets))
        block.ops.append(op)

    def close_region(self, line: int) -> None:
        """The region that was read is complete; raises ParseError for a branch to no block."""
        if self.name in IMPLICIT_YIELD and not self.results and not self.generic:
            ops = self.block().ops
            if not ops or ops[-1].name != "scf.yield":
                ops.append(Op("scf.yield", line=line))  # it is there, only not printed
        elif self.entry:
            self.block()
        for block, index, targets in self.branches:
            self._resolve(self.blocks[block].ops, index, targets)
        self.regions.append(Region(tuple([Block(b.args, tuple(b.ops)) for b in self.blocks])))
        self.entry, self.blocks, self.labels, self.branches = (), [], {}, []

    def _resolve(self, ops: list[Op], index: int, targets: Targets) -> None:
        for label, _ in targets:
            if label not in self.labels:
                raise ParseError(f"no block {label}", ops[index].line)
        successors = tuple([Successor(self.labels[label], values) for label, values in targets])
        ops[index] = ops[index]._replace(successors=successors)


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


class OpBuilder:
    """What is known of the text so far: open ops, visible values and locations."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.locations = Locations(text)
        self.stack: list[CallFrame] = []
        self.values = Values()

    @cached_property
    def lines(self) -> list[str]:
        """The text by lines, for what the common shapes do not cover."""
        return self.text.split("\n")

    def common(self, fields: Fields, line: int) -> bool:
        """Take in a line of a common shape; False when it needs the longer way."""
        result, name, constant, words, used, attributes, signature, where, _ = fields
        values = self.values
        names = values.names
        try:
            operands = tuple([names[v] for v in used.split(", ")]) if used else ()
            ops = self.stack[-1].blocks[-1].ops
        except (KeyError, IndexError):
            return False
        name, attrs, type_ = (
            read_constant_shape(constant) if constant else read_shape(name, words, attributes, signature)
        )
        results = (values.define(result, type_, line),) if result else ()
        loc = self.locations[where] if where else UNKNOWN_LOC
        ops.append(_op((name, operands, results, attrs, loc, line, (), ())))
        return True

    def plain(self, name: str, lhs: str | None, head: Head, loc: Loc, line: int) -> Op:
        """An op without regions."""
        values = self.values
        names = values.names
        try:
            operands = tuple([names[v] for v in head.operands])
        except KeyError:
            operands = tuple([values.use(v, line) for v in head.operands])
        results: tuple[int, ...] = ()
        if lhs is not None:
            results = self.define(lhs, line)
            types = result_types(name, head.signature, len(results))
            for number, type_ in zip(results, types, strict=False):
                values.types[number] = type_
        return Op(name, operands, results, head.attrs, loc, line)

    def define(self, lhs: str, line: int) -> tuple[int, ...]:
        if ":" not in lhs and "," not in lhs:
            return (self.values.define(lhs, UNKNOWN_TYPE, line),)
        numbers: list[int] = []
        for part in lhs.split(","):
            name, _, printed = part.strip().partition(":")
            count = int(printed or 1)
            if count > len(self.lines[line - 1]) and count > _MAX_RESULTS:  # each has a type there
                raise ParseError(f"{name} with {count} results", line)
            numbers += self.values.define_group(name, count, line)
        return tuple(numbers)

    def append(self, op: Op, head: Head | None, line: int) -> None:
        if not self.stack:
            raise ParseError(f"{op.name} outside of a module", line)
        targets = None
        if head is not None and head.successors is not None:
            use = self.values.use
            targets = [(label, tuple([use(v, line) for v in names])) for label, names in head.successors]
        self.stack[-1].append(op, targets)

    def arguments(self, arguments: tuple[tuple[str, str], ...], line: int) -> tuple[int, ...]:
        return tuple([self.values.define(name, type_, line) for name, type_ in arguments])
