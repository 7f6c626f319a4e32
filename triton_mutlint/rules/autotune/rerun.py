"""What running a kernel again on what it left does to each of its parameters: the question that autotuning asks.

Triton's autotuner runs every config many times on the caller's own tensors before the launch that counts
(`triton/runtime/autotuner.py`, `Autotuner._bench`). A parameter that is only overwritten comes out right. One does not

* whose places a kernel loads, and writes with something else than what was there;
* that it updates atomically, unless that changes nothing the second time.

Two addresses are one place if they are computed in the same way from the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import EXTERN, INLINE_ASM, OpaqueReader
from triton_mutlint.analysis.printed import SAME_VALUE, constant_behind
from triton_mutlint.analysis.solver import Solver
from triton_mutlint.analysis.values import bits
from triton_mutlint.rules.autotune.sites import OpSite, OpSites, Place
from triton_mutlint.ttir.ir import Module, Op
from triton_mutlint.ttir.ops import lookup, mask_of
from triton_mutlint.types import ArgOwner, ArgRole, Rerun

_MONOTONE = frozenset({"max", "min", "umax", "umin", "and", "or"})  # the second time they change nothing
_CASTS = {*SAME_VALUE, "arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "tt.fp_to_fp",
          "tt.bitcast"}
_CHOOSING = {*_CASTS, "arith.select", "arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf",
             "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "tt.clampf"}
_ADDING = {*_CASTS, "arith.addf", "arith.addi", "arith.subf", "arith.subi", "arith.select", "tt.dot"}
_CONJUNCTIONS = ("arith.andi", "tt.splat", "tt.broadcast", "tt.expand_dims")  # true where all operands are
_ADDED_TO = {"tt.dot": 2, "arith.subf": 0, "arith.subi": 0}  # the operand to which the others are added

Access = tuple[OpSite, Place]


def reruns_of(module: Module, owners: Sequence[ArgOwner], backend: str, wanted: Collection[str]) -> dict[str, Rerun]:
    """What one variant, its calls inlined, does to the parameters `wanted`."""
    entry = module.entry()
    lattice = Lattice(entry.n_args)
    opaque = OpaqueReader(backend)
    addresses = [i for i, owner in enumerate(owners) if owner.role is ArgRole.ADDRESS]
    initial = [lattice.param(i) if i in addresses else lattice.number for i in range(entry.n_args)]
    values = Solver(module, lattice, initial, opaque).solve().values
    sites = OpSites(entry)

    def accessed(site: OpSite, operands: Iterable[int], found: dict[int, list[Access]]) -> None:
        for index in operands:
            if index < len(site.op.operands):
                roots = lattice.as_address(values[site.op.operands[index]])
                for root in bits((lattice.params if roots & lattice.unknown else roots) & lattice.params):
                    found[root].append((site, tuple(map(sites.alike, _address(site.op, index)))))

    fetches: dict[int, list[Access]] = {i: [] for i in range(entry.n_args)}
    changes: dict[int, list[Access]] = {i: [] for i in range(entry.n_args)}
    for site in sites.all:
        fetched, changed = _touched(site.op, opaque, entry.types)
        accessed(site, fetched, fetches)
        accessed(site, changed, changes)
    return {name: _Memory(sites, fetches[i], changes[i]).rerun() for i in addresses
            if (name := owners[i].parameter) in wanted}


def _touched(op: Op, opaque: OpaqueReader, types: Sequence[str]) -> tuple[Iterable[int], Iterable[int]]:
    """The operands through which an op may read and change memory; all of them where it is not understood."""
    if op.name == INLINE_ASM:
        reading = opaque.asm(op, types)
        if reading.understood:
            return reading.reads | reading.atomics, reading.writes | reading.atomics
    elif op.name == EXTERN and opaque.is_pure(op):
        return (), ()
    elif op.name not in {EXTERN, "tt.call"} and (info := lookup(op.name)) is not None:
        return info.fetches, info.changes
    return range(len(op.operands)), range(len(op.operands))


def _address(op: Op, index: int) -> Sequence[int]:
    """The values that make an address; of a descriptor's op the indices too, which stand after the value."""
    if "descriptor" in op.name:
        return (op.operands[0], *op.operands[1 if op.results else 2 :])
    return (op.operands[index],)


class _Memory:
    """What a kernel does with the memory of one argument."""

    def __init__(self, sites: OpSites, fetches: Sequence[Access], changes: Sequence[Access]) -> None:
        self._sites = sites
        updating = {id(site) for site, _ in fetches} & {id(site) for site, _ in changes}
        blind = {id(site): _kind(site.op) for site, _ in changes
                 if id(site) in updating and not sites.is_used(site.op)}
        self._limits = [c for c in changes if blind.get(id(c[0])) in _MONOTONE]
        self._stores = [c for c in changes if id(c[0]) not in updating or blind.get(id(c[0])) == "exch"]
        self._updates = [c for c in changes if c not in self._stores and c not in self._limits]
        self._loads = [f for f in fetches if id(f[0]) not in updating and sites.is_used(f[0].op)]

    def rerun(self) -> Rerun:
        if self._updates and self._is_set_back():
            return Rerun.SAFE
        if any(map(self._is_first, self._updates)):
            return Rerun.ACCUMULATES
        pairs = [(load.op, change.op) for load, place in filter(self._is_first, self._loads)
                 for change, other in (*self._stores, *self._limits) if other == place]
        pairs = [pair for pair in pairs if not self._stores_from(*pair, self._chosen)]
        if not pairs:
            return Rerun.SAFE
        return Rerun.ACCUMULATES if all(self._stores_from(*pair, self._added) for pair in pairs) else Rerun.UPDATES

    def _is_first(self, look: Access) -> bool:
        """Whether what stood there before may be looked at: the kernel itself has not stored to all of it before.

        What a loop of its own has stored to is taken to be enough, unless it is the same place under another mask.
        """
        site, place = look
        return not any(
            self._mask(store.op) <= self._mask(site.op) if other == place else self._sites.is_swept(store, other, site)
            for store, other in self._stores if store.precedes(site))

    def _mask(self, op: Op) -> frozenset[int]:
        """The conditions under which an element is accessed, of which all must hold."""
        pending, found = list(mask_of(op)), set[int]()
        while pending:
            made = self._sites.producers.get(value := pending.pop())
            if made is not None and made.name in _CONJUNCTIONS:
                pending.extend(made.operands)
            elif constant_behind(value, self._sites.producers.get) in (None, 0):
                found.add(self._sites.alike(value))
        return frozenset(found)

    def _is_set_back(self) -> bool:
        """A lock that is always freed, or a counter that the kernel itself sets back to zero."""
        start = {self._constant(s.op) if s.op.name == "tt.atomic_cas" else 0 for s, _ in self._updates}
        return None not in start and start == {self._constant(s.op) for s, _ in self._stores}

    def _constant(self, op: Op) -> int | None:
        """The number that an op stores or compares with, if it is one."""
        value = _value(op)
        return None if value is None else constant_behind(value, self._sites.producers.get)

    def _stores_from(self, load: Op, store: Op, parts: Callable[[int], Iterable[int]]) -> bool:
        """Whether an op stores what was loaded, or what that is a part of."""
        value = None if "atomic" in store.name else _value(store)
        return value is not None and not self._sites.reached(value, parts).isdisjoint(load.results)

    def _chosen(self, value: int) -> Iterable[int]:
        """Of what a value is one: a limit, or one side of a choice."""
        made = self._sites.producers.get(value)
        if made is None or made.name not in _CHOOSING:
            return ()
        return made.operands[1:] if made.name == "arith.select" else made.operands

    def _added(self, value: int) -> Iterable[int]:
        """Of what a value is the sum, or what a loop or branch passes on to it."""
        made = self._sites.producers.get(value)
        if made is None or made.regions:
            return self._sites.sources.get(value, ())
        own = _ADDED_TO.get(made.name)
        return () if made.name not in _ADDING else made.operands if own is None else (made.operands[own],)


def _value(op: Op) -> int | None:
    """What an op stores: its first operand but for the address; None for asm and calls."""
    info = lookup(op.name)
    if info is None or not info.touches_memory:
        return None
    addresses = {*info.reads, *info.writes, *info.atomics}
    return next((value for index, value in enumerate(op.operands) if index not in addresses), None)


def _kind(op: Op) -> str:
    return op.attrs.get("rmw_op", op.attrs.get("kind", ""))
