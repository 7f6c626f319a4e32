"""Reading the fixpoint: every memory access of one variant, by parameter (docs/analysis.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from triton_mutlint.analysis.contexts import Calls, Context, call_chains
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import EXTERN, INLINE_ASM, OpaqueReader
from triton_mutlint.analysis.printed import constant_behind
from triton_mutlint.analysis.solver import Solver
from triton_mutlint.analysis.values import bits
from triton_mutlint.ttir.ir import Function, Op, Region
from triton_mutlint.ttir.ops import OpInfo, lookup, mask_of_write, rows
from triton_mutlint.types import (
    Access,
    AccessKind,
    ArgOwner,
    Frame,
    IndirectWrite,
    Location,
    OpaqueOp,
    UnanalyzableOp,
)

_KINDS = {"reads": AccessKind.READ, "writes": AccessKind.WRITE, "atomics": AccessKind.ATOMIC}
QUIET = frozenset(info.name for info in rows() if not info.touches_memory) - {INLINE_ASM, EXTERN, "tt.call"}
Entry = tuple[str, int, int]


class Places(Protocol):
    """Turns printed locations into reported ones."""

    def display(self, file: str) -> str:
        """The name under which reports show a file."""

    def location(self, entry: Entry | None, op: str) -> Location:
        """Where the op that was printed with `entry` stands."""

    def trace(self, entries: tuple[Entry, ...], op: str) -> tuple[Frame, ...]:
        """Frames for call sites from the kernel inwards, the last entry being the op itself."""


@dataclass(frozen=True)
class VariantEffects:
    """What one variant may do to memory, with parameters by their reported names."""

    accesses: Mapping[str, tuple[Access, ...]] = field(default_factory=dict)
    indirect_writes: tuple[IndirectWrite, ...] = ()
    opaque_ops: tuple[OpaqueOp, ...] = ()
    unanalyzable_ops: tuple[UnanalyzableOp, ...] = ()
    unknown: frozenset[str] = frozenset()

    @cached_property
    def written(self) -> set[str]:
        """The parameters that an access writes, or updates."""
        return {n for n, accesses in self.accesses.items() if any(a.kind is not AccessKind.READ for a in accesses)}


@dataclass(frozen=True)
class _Site:
    """One op in one context, and the chains of calls that lead there."""

    context: Context
    op: Op
    chains: tuple[Calls, ...]
    places: Places

    def location(self) -> Location:
        chain = self.op.loc.chain
        return self.places.location(chain[0] if chain else None, self.op.name)

    def paths(self) -> tuple[tuple[Frame, ...], ...]:
        """Per chain, the call sites from the kernel inwards, then the access itself."""
        inner = tuple(reversed(self.op.loc.chain))
        outer = (tuple(entry for call in chain for entry in reversed(call.loc.chain)) for chain in self.chains)
        return tuple(self.places.trace(entries + inner, self.op.name) for entries in outer)


class EffectReader:
    """Visits each reached op once, after the fixpoint."""

    def __init__(self, solver: Solver, owners: Sequence[ArgOwner], addresses: int,
                 opaque: OpaqueReader, places: Places) -> None:
        self._solver, self._owners, self._addresses = solver, owners, addresses
        self._lattice: Lattice = solver.lattice
        self._opaque, self._places = opaque, places
        # Dictionaries keep insertion order and drop repetitions.
        self._accesses: dict[str, dict[Access, None]] = {}
        self._indirect: dict[IndirectWrite, None] = {}
        self._opaque_ops: dict[OpaqueOp, None] = {}
        self._unanalyzable: dict[UnanalyzableOp, None] = {}
        self._unknown: set[str] = set()
        self._effective: dict[str, list[Op]] = {}

    def read(self, entry: Context) -> VariantEffects:
        for context, chains in call_chains(entry):
            for op in self._noted(context.function):
                self._visit(_Site(context, op, chains, self._places))
        return VariantEffects(
            {name: tuple(found) for name, found in self._accesses.items()},
            tuple(self._indirect), tuple(self._opaque_ops), tuple(self._unanalyzable), frozenset(self._unknown),
        )

    def _noted(self, function: Function) -> list[Op]:
        """The reachable ops of a function that may have an effect, in text order."""
        if function.name not in self._effective:
            self._effective[function.name] = list(self._ops(function.body))
        return self._effective[function.name]

    def _ops(self, region: Region) -> Iterator[Op]:
        for index in region.reachable:
            for op in region.blocks[index].ops:
                if op.name not in QUIET:
                    yield op
                for inner in op.regions:
                    yield from self._ops(inner)

    def _visit(self, site: _Site) -> None:
        if site.op.name == INLINE_ASM:
            self._inline_asm(site)
            return
        if site.op.name == EXTERN:
            self._extern(site)
            return
        info = lookup(site.op.name)
        if info is None:
            self._undecided(site, "its memory effects are not known to triton-mutlint")
        elif site.op.name == "tt.call" and self._solver.callee(site.op) is None:
            self._undecided(site, "the called function has no body")
        elif info.touches_memory and not self._is_masked_out(site):
            self._memory_op(site, info)

    @staticmethod
    def _is_masked_out(site: _Site) -> bool:
        """A store or atomic whose mask is the constant false does nothing."""
        masks = mask_of_write(site.op)
        return any(constant_behind(mask, site.context.function.producers.get) == 0 for mask in masks)

    def _memory_op(self, site: _Site, info: OpInfo) -> None:
        for kind, indices in ((AccessKind.READ, info.reads), (AccessKind.WRITE, info.writes),
                              (AccessKind.ATOMIC, info.atomics)):
            for index in indices:
                if index < len(site.op.operands):
                    self._access(site, kind, site.context.values[site.op.operands[index]])

    def _access(self, site: _Site, kind: AccessKind, value: int) -> None:
        """Record an access through an address."""
        roots = self._lattice.as_address(value)
        if params := roots & self._lattice.params:
            location = site.location()
            found = [Access(kind, site.op.name, location, path) for path in site.paths()]
            for index in bits(params):
                self._accesses.setdefault(self._owners[index].parameter, {}).update(dict.fromkeys(found))
        if kind is AccessKind.READ:
            return
        made = self._lattice.made_of(value) & ~roots
        self._indirect_writes(site, roots | made)
        if roots & self._lattice.unknown or not value:
            reason = "it writes through an address whose origin is not understood"
            self._report_undecided(site, reason, self._addresses)
        elif made & self._addresses:
            reason = "it writes through an address that is computed from comparisons or single bits"
            self._report_undecided(site, reason, made)
        elif not roots and site.op.name != "ttng.tensormap_create":  # mostly into memory of the program's own
            self._report_undecided(site, "it writes through an address that comes from no parameter", 0)

    def _indirect_writes(self, site: _Site, roots: int) -> None:
        n = self._lattice.n
        for bit in bits(roots & self._lattice.indirect):
            via = "loaded" if bit < 2 * n else "integer"
            through = self._owners[bit % n].parameter
            self._indirect[IndirectWrite(through, via, site.op.name, site.location())] = None

    def _inline_asm(self, site: _Site) -> None:
        reading = self._opaque.asm(site.op, site.context.function.types)
        if not reading.understood:
            self._undecided(site, reading.reason, reading.advice)
            self._opaque_op(site, "unanalyzable", site.op.operands)
            return
        written = reading.writes | reading.atomics
        for access in reading.accesses:
            if access.operands:
                self._access(site, _KINDS[access.kind], self._solver.address_in_asm(site.context, site.op, access))
        effect = "writes" if written else "shares" if reading.shares else "reads" if reading.reads else "none"
        touched = [site.op.operands[i] for i in sorted(written or reading.reads)]
        self._opaque_op(site, effect, touched)

    def _extern(self, site: _Site) -> None:
        pure = self._opaque.is_pure(site.op)
        if not pure:
            self._undecided(site, "an impure extern call: its body cannot be read")
        self._opaque_op(site, "none" if pure else "unanalyzable", () if pure else site.op.operands)

    def _opaque_op(self, site: _Site, effect: str, operands: Sequence[int]) -> None:
        found = OpaqueOp(site.op.name, self._opaque.detail(site.op), self._opaque.is_pure(site.op), effect,
                         self._names(self._reaching(site.context, operands)), site.location())
        self._opaque_ops[found] = None

    def _undecided(self, site: _Site, reason: str, advice: str = "") -> None:
        """The op may write whatever reaches its operands."""
        reaching = self._reaching(site.context, site.op.operands)
        roots = self._closure(reaching)
        if roots & self._lattice.unknown:
            roots |= self._addresses
        self._report_undecided(site, reason, roots, advice)
        self._indirect_writes(site, reaching)

    def _report_undecided(self, site: _Site, reason: str, roots: int, advice: str = "") -> None:
        names = self._names(roots)
        self._unknown.update(names)
        found = UnanalyzableOp(site.op.name, self._opaque.detail(site.op), reason, names, site.location(), advice)
        self._unanalyzable[found] = None

    def _reaching(self, context: Context, operands: Sequence[int]) -> int:
        roots = 0
        for value in operands:
            roots |= self._lattice.reaching(context.values[value])
        return roots

    def _closure(self, roots: int) -> int:
        """`roots`, and every root that can be loaded through them."""
        while (found := roots | self._lattice.reaching(self._solver.memory.held(roots))) != roots:
            roots = found
        return roots

    def _names(self, roots: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._owners[i].parameter for i in bits(roots & self._lattice.params)))
