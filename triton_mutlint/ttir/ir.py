"""Parsed TTIR: what the parser gives and the analysis reads.

SSA values are numbered per function (`int`), so that an analysis can keep its state in a list:
function arguments come first (0 .. n_args-1), then every block argument and result in text order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

NO_ATTRS: Mapping[str, str] = MappingProxyType({})


def no_attrs() -> Mapping[str, str]:
    """`NO_ATTRS`, as a default: a mapping proxy is unhashable before Python 3.12."""
    return NO_ATTRS


Chain = tuple[tuple[str, int, int], ...]


class Loc:
    """Where an op came from: `chain` runs from the innermost place outwards through call sites.

    Each entry is (file, line, column) exactly as printed; empty when unknown. Columns keep the
    base that Triton printed (0- or 1-based differs between versions; `lowering` knows which).
    Given a function instead of a chain, it is worked out when first asked for: of most ops nobody asks.
    """

    __slots__ = ("_chain", "_find")

    def __init__(self, chain: Chain | None = (), find: Callable[[], Chain] | None = None) -> None:
        self._chain, self._find = chain, find

    @property
    def chain(self) -> Chain:
        if self._chain is None:
            assert self._find is not None
            self._chain, self._find = self._find(), None
        return self._chain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loc) and self.chain == other.chain

    def __hash__(self) -> int:
        return hash(self.chain)


UNKNOWN_LOC = Loc()


@dataclass(frozen=True)
class Successor:
    """A branch target: index of the block in its region, and the values handed to its arguments."""

    block: int
    operands: tuple[int, ...]


class Op(NamedTuple):
    """One operation; a tuple, because there are many and a dataclass takes four times as long to make.

    `operands` are in MLIR's operand order (branch operands of successors stand in `successors`
    and, as MLIR counts them, in `operands` too). `attrs` maps attribute names to their printed
    text, strings unescaped; inherent attributes that the custom syntax prints bare are included
    (`value` of arith.constant, `predicate` of arith.cmpi, `rmw_op` of tt.atomic_rmw, `callee` of
    tt.call, `asm_string`, `symbol` of tt.extern_elementwise, ...).
    """

    name: str
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    attrs: Mapping[str, str] = NO_ATTRS
    loc: Loc = UNKNOWN_LOC
    line: int = 0  # in the TTIR text, 1-based
    regions: tuple[Region, ...] = ()
    successors: tuple[Successor, ...] = ()


@dataclass(frozen=True)
class Block:
    args: tuple[int, ...]
    ops: tuple[Op, ...]


@dataclass(frozen=True)
class Region:
    blocks: tuple[Block, ...]

    @property
    def args(self) -> tuple[int, ...]:
        """The arguments of the block that it is entered at."""
        return self.blocks[0].args if self.blocks else ()

    @cached_property
    def reachable(self) -> tuple[int, ...]:
        """The blocks that some path from the first one reaches, by their indices, ascending."""
        found = [0] if self.blocks else []
        for index in found:  # grows while it is walked
            targets = {target.block: None for op in self.blocks[index].ops[-1:] for target in op.successors}
            found.extend(target for target in targets if target not in found)
        return tuple(sorted(found))

    @cached_property
    def exits(self) -> tuple[Op, ...]:
        """The ops that leave it: the last of each reachable block that branches nowhere."""
        return tuple(op for i in self.reachable for op in self.blocks[i].ops[-1:] if not op.successors)


@dataclass(frozen=True)
class Function:
    """A `tt.func`. `types[v]` is the printed type of value `v`; `arg_names` as printed, without %."""

    name: str
    public: bool
    n_args: int
    types: tuple[str, ...]
    arg_names: tuple[str, ...]
    body: Region  # no blocks for a declaration
    loc: Loc = UNKNOWN_LOC

    @cached_property
    def producers(self) -> Mapping[int, Op]:
        """The op that gives each value; arguments are given by none."""
        return {result: op for op in walk(self.body) for result in op.results}


@dataclass(frozen=True)
class Module:
    functions: Mapping[str, Function]

    def entry(self) -> Function:
        """The public function; raises LookupError when there is not exactly one."""
        public = [f for f in self.functions.values() if f.public]
        if len(public) != 1:
            raise LookupError(f"expected one public function, found {len(public)}")
        return public[0]


class ParseError(ValueError):
    """The text is not TTIR that this parser understands; `line` is 1-based."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"TTIR line {line}: {message}")
        self.line = line


def walk(region: Region) -> Iterator[Op]:
    """Every op under `region`, nested regions before the op that holds them (MLIR post-order)."""
    for block in region.blocks:
        for op in block.ops:
            for inner in op.regions:
                yield from walk(inner)
            yield op
