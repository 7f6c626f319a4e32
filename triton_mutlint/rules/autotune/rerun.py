"""What running a kernel again on what it left does to each of its parameters: the question that autotuning asks.

Triton's autotuner runs every config many times on the caller's own tensors before the launch that counts
(`triton/runtime/autotuner.py`, `Autotuner._bench`). A parameter that is only overwritten comes out right; one that the
kernel reads or updates does not, unless it is one of the kinds below.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from triton_mutlint.analysis.constants import SAME_VALUE
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.opaque import EXTERN, INLINE_ASM, OpaqueReader
from triton_mutlint.analysis.solver import Solver
from triton_mutlint.analysis.values import bits
from triton_mutlint.rules.autotune.flow import Stores, StoreSite
from triton_mutlint.rules.autotune.places import CellPlaces
from triton_mutlint.ttir.ir import Module, Op
from triton_mutlint.ttir.ops import lookup
from triton_mutlint.types import ArgOwner, ArgRole, Rerun

_MONOTONE = frozenset({"max", "min", "umax", "umin", "and", "or"})  # the second time they change nothing
_WIDTHS = frozenset({"arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "tt.fp_to_fp"})
_CASTS = _WIDTHS | frozenset(SAME_VALUE) | {"tt.bitcast"}
_LIMITS = frozenset({"arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf", "arith.maxsi",
                     "arith.minsi", "arith.maxui", "arith.minui", "tt.clampf"})
_SUMS = _CASTS | {"arith.addf", "arith.addi", "arith.subf", "arith.subi", "arith.select", "tt.dot"}
_CARRYING = frozenset({"scf.for", "scf.while", "scf.if"})
MAX_STEPS = 200  # from a store back to what it stores; beyond that nothing is claimed


def reruns_of(module: Module, owners: Sequence[ArgOwner], backend: str, wanted: Collection[str]) -> dict[str, Rerun]:
    """What one variant, its calls inlined, does to the parameters `wanted`."""
    entry = module.entry()
    lattice = Lattice(entry.n_args)
    opaque = OpaqueReader(backend)
    addresses = [i for i, owner in enumerate(owners) if owner.role is ArgRole.ADDRESS]
    initial = [lattice.param(i) if i in addresses else lattice.number for i in range(entry.n_args)]
    context = Solver(module, lattice, initial, opaque).solve()
    kernel = _Kernel(Stores(entry), lattice, context.values)
    for site in kernel.flow.sites:
        kernel.note(site, *_touched(site.op, opaque, entry.types))
    places = CellPlaces(entry, kernel.flow)
    return {name: _Memory(i, kernel, places).rerun() for i in addresses if (name := owners[i].parameter) in wanted}


def _touched(op: Op, opaque: OpaqueReader, types: Sequence[str]) -> tuple[Sequence[int], Sequence[int]]:
    """The operands through which an op may read and change memory; all of them where it is not understood."""
    if op.name == INLINE_ASM:
        reading = opaque.asm(op, types)
        if reading.understood:
            return sorted(reading.reads | reading.atomics), sorted(reading.writes | reading.atomics)
    elif op.name == EXTERN and opaque.is_pure(op):
        return (), ()
    elif op.name not in {EXTERN, "tt.call"} and (info := lookup(op.name)) is not None:
        return info.fetches, info.changes
    return range(len(op.operands)), range(len(op.operands))


class _Kernel:
    """The entry function, and which of its ops touch the memory of which argument."""

    def __init__(self, flow: Stores, lattice: Lattice, values: Sequence[int]) -> None:
        self.flow, self._lattice, self._values = flow, lattice, values
        self.fetches: dict[int, list[StoreSite]] = {}
        self.changes: list[tuple[StoreSite, frozenset[int]]] = []

    def note(self, site: StoreSite, fetches: Sequence[int], changes: Sequence[int]) -> None:
        for index in self._reached(site.op, fetches):
            self.fetches.setdefault(index, []).append(site)
        if changes:
            self.changes.append((site, self._reached(site.op, changes)))

    def _reached(self, op: Op, operands: Sequence[int]) -> frozenset[int]:
        roots = 0
        for index in operands:
            if index < len(op.operands):
                roots |= self._lattice.as_address(self._values[op.operands[index]])
        if roots & self._lattice.unknown:
            roots |= self._lattice.params
        return frozenset(bits(roots & self._lattice.params))

    def producer(self, value: int) -> Op | None:
        return self.flow.producers.get(value)

    def constant(self, value: int) -> object:
        """The constant that a value is in every element, as text if it is no plain number; None if it is none."""
        made = self.producer(value)
        while made is not None and made.name in _CASTS:
            made = self.producer(made.operands[0])
        if made is None or made.name != "arith.constant":
            return None
        text = made.attrs.get("value", "").partition(" :")[0].removeprefix("dense<").removesuffix(">")
        try:
            return float({"true": "1", "false": "0"}.get(text, text))
        except ValueError:
            return text

    def is_polled(self, load: StoreSite) -> bool:
        """Whether a load waits for somebody else: a loop reads one place until it ends by what is there."""
        if load.op.name == "tt.atomic_poll":
            return True
        ends = self.flow.waits.keys() & {value for value, _ in load.guards} & self.flow.reached(load.op.results)
        return any(not self._is_moved(load.op.operands[0], self.flow.waits[end]) for end in ends)

    def _is_moved(self, value: int, changed: frozenset[int]) -> bool:
        """Whether a value is computed from what a loop changes."""
        found: set[int] = set()
        stack = [value]
        while stack:
            made = self.producer(value := stack.pop())
            if made is not None and value not in found:
                stack.extend(made.operands)
            found.add(value)
        return not found.isdisjoint(changed)

    def is_added(self, source: int, target: int) -> bool:
        """Whether `target` is `source`, plus or minus something."""
        made = self.producer(target)
        if made is None or made.name in _CARRYING:
            return True
        own = {"tt.dot": 2, "arith.subf": 0, "arith.subi": 0}.get(made.name)
        return made.name in _SUMS and (own is None or made.operands[own] == source)


class _Memory:
    """The memory of one argument, and what depends on its earlier contents."""

    def __init__(self, index: int, kernel: _Kernel, places: CellPlaces) -> None:
        self._index, self._kernel, self._places = index, kernel, places
        self._steps = 0
        fetches = kernel.fetches.get(index, [])
        changes = [site for site, reached in kernel.changes if index in reached]
        blind = [site for site in changes if site in fetches and not self._is_used(site)]
        self._monotone = [s for s in blind if _kind(s.op) in _MONOTONE]
        exchanges = [s for s in blind if _kind(s.op) == "exch"]
        self._stores = [s for s in changes if s not in fetches or s in exchanges]
        self._updates = [s for s in changes if s not in self._stores and s not in self._monotone]
        self._reads = [s for s in fetches if s not in changes]
        self._is_plain = all(map(_is_plain, (s.op for s in (*self._reads, *self._stores))))  # no asm, no call
        self._dependent = kernel.flow.reached(r for s in self._reads for r in s.op.results)

    def rerun(self) -> Rerun:
        if self._updates and self._is_set_back():
            return Rerun.SAFE
        looks = (*self._reads, *self._updates)
        if self._stores and any(map(self._kernel.is_polled, looks)):
            return Rerun.SIGNALS
        is_changed = self._stores or self._updates or self._monotone
        if not is_changed or all(any(store.precedes(look) for store in self._stores) for look in looks):
            return Rerun.SAFE  # what it reads, it wrote
        if self._updates:
            return Rerun.ACCUMULATES
        if self._is_plain and (self._is_settled() or self._is_apart()):
            return Rerun.SAFE
        return Rerun.ACCUMULATES if self._is_plain and self._is_sum() else Rerun.UPDATES

    def _is_used(self, site: StoreSite) -> bool:
        return not self._kernel.flow.used.isdisjoint(site.op.results)

    def _is_set_back(self) -> bool:
        """A lock that is always freed, or a counter that the kernel itself sets back to zero."""
        kernel = self._kernel
        start = {kernel.constant(s.op.operands[1]) if s.op.name == "tt.atomic_cas" else 0.0 for s in self._updates}
        return None not in start and start == {self._stored(s) for s in self._stores}

    def _stored(self, store: StoreSite) -> object:
        """The constant that is stored; None for anything else."""
        return self._kernel.constant(store.op.operands[1]) if _is_plain(store.op) else None

    def _is_apart(self) -> bool:
        """Whether what is read looks as if it was never what is written."""
        return not self._monotone and all(
            self._places.apart(self._index, load.op, store.op) for load in self._reads for store in self._stores)

    def _is_sum(self) -> bool:
        """Whether every store puts back what was there, plus or minus something."""
        return not self._monotone and all(any(
            self._places.same(load.op, store.op)
            and store.op.operands[1] in self._kernel.flow.reached(load.op.results, self._kernel.is_added)
            for load in self._reads) for store in self._stores)

    def _is_settled(self) -> bool:
        """Whether a second run leaves what the first one left, here and in every other parameter.

        It does if nothing else depends on what is read, and every store puts into a place that is known beforehand
        either a value from elsewhere, or that place's own value (up to a limit), and nothing read decides which; or if
        all stores put one constant, whatever decides where.
        """
        if self._monotone or self._dependent & (self._kernel.flow.jumps | self._kernel.flow.waits.keys()):
            return False
        if any(reached != {self._index} and (self._index in reached or not self._is_free(site))
               for site, reached in self._kernel.changes):
            return False
        constants = set(map(self._stored, self._stores))
        one_constant = len(constants) == 1 and None not in constants
        return all(s.op.operands[0] not in self._dependent if one_constant else self._keeps(s) for s in self._stores)

    def _is_free(self, site: StoreSite) -> bool:
        """Whether nothing that is read here decides an op or what it does."""
        return self._dependent.isdisjoint((*site.op.operands, *(value for value, _ in site.guards)))

    def _keeps(self, store: StoreSite) -> bool:
        address, value, *rest = store.op.operands
        decided = (address, *rest, *(v for v, _ in store.guards))
        return self._dependent.isdisjoint(decided) and self._is_kept(store.op, value)

    def _is_kept(self, store: Op, value: int) -> bool:
        """Whether a value comes from elsewhere, or is what is there already, chosen or limited from elsewhere."""
        if value not in self._dependent:
            return True
        made, self._steps = self._kernel.producer(value), self._steps + 1
        if made is None or self._steps > MAX_STEPS:
            return False
        if any(made is s.op for s in self._reads):
            return self._dependent.isdisjoint(made.operands) and self._places.same(made, store)
        free = [v for v in made.operands if v not in self._dependent]
        if made.name == "arith.select" and made.operands[0] in free:
            return all(self._is_kept(store, v) for v in made.operands[1:])
        chosen = made.name in _WIDTHS or (made.name in _LIMITS and len(free) == len(made.operands) - 1)
        return chosen and all(self._is_kept(store, v) for v in made.operands)


def _is_plain(op: Op) -> bool:
    info = lookup(op.name)
    return info is not None and info.touches_memory


def _kind(op: Op) -> str:
    return op.attrs.get("rmw_op", op.attrs.get("kind", ""))
