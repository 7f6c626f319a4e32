"""Ops whose regions are still being read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from triton_mutlint.ttir.ir import Block, Op, ParseError, Region, Successor, no_attrs
from triton_mutlint.ttir.regions import IMPLICIT_YIELD, FunctionHeader

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
