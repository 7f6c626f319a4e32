"""What running a kernel again on what it left does to a parameter that it reads and writes.

This is the question of autotuning, asked of one variant whose calls are inlined. The answers are of
two kinds: *settled* parameters come out of a second run as they went in, and *apart* ones look as if
no place that is read is one that is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_mutlint.analysis.constants import SAME_VALUE
from triton_mutlint.analysis.influence import Control, Influence, Site
from triton_mutlint.analysis.lattice import Lattice
from triton_mutlint.analysis.offsets import Offsets
from triton_mutlint.analysis.opaque import EXTERN, INLINE_ASM, OpaqueReader
from triton_mutlint.analysis.solver import Solver
from triton_mutlint.analysis.values import bits
from triton_mutlint.ttir.ir import Module, Op
from triton_mutlint.ttir.ops import lookup
from triton_mutlint.types import ArgOwner, ArgRole

_CASTS = frozenset({*SAME_VALUE, "arith.extf", "arith.truncf", "tt.fp_to_fp", "tt.bitcast"})
_LIMITS = frozenset({"arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf", "arith.maxsi",
                     "arith.minsi", "arith.maxui", "arith.minui", "tt.clampf"})
_WIDTHS = frozenset({"arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "tt.fp_to_fp"})
MAX_STEPS = 200  # from a store back to what decides it; beyond that nothing is claimed
_DIFFERS = frozenset({"ne", "une", "one", "slt", "sgt", "ult", "ugt", "olt", "ogt"})  # x < c implies x != c
_IS = frozenset({"eq", "oeq"})


@dataclass(frozen=True)
class Reruns:
    """Parameters by what a second run does to them; one of neither kind may be corrupted."""

    settled: frozenset[str] = frozenset()
    apart: frozenset[str] = frozenset()


def reruns_of(module: Module, owners: Sequence[ArgOwner], backend: str) -> Reruns:
    """The answers for one variant's module; none where something in it is not understood."""
    entry = module.entry()
    lattice = Lattice(entry.n_args)
    opaque = OpaqueReader(backend)
    addresses = [i for i, owner in enumerate(owners) if owner.role is ArgRole.ADDRESS]
    initial = [lattice.param(i) if i in addresses else lattice.number for i in range(entry.n_args)]
    context = Solver(module, lattice, initial, opaque).solve()
    influence = Influence(entry)
    for site in influence.sites:
        if not _is_followed(site.op, opaque, entry.types):
            return Reruns()
    graph = _Graph(influence, Offsets(entry, influence), lattice, context.values)
    settled = {i for i in addresses if _Parameter(i, graph).is_settled()}
    apart = {i for i in addresses if i not in settled and _Parameter(i, graph).is_apart()}
    return Reruns(*(frozenset(owners[i].parameter for i in found) for found in (settled, apart)))


def _is_followed(op: Op, opaque: OpaqueReader, types: Sequence[str]) -> bool:
    """Whether the op touches no memory but what its row in the table says."""
    if op.name == INLINE_ASM:
        reading = opaque.asm(op, types)
        return reading.understood and not (reading.reads or reading.writes or reading.atomics)
    if op.name == EXTERN:
        return opaque.is_pure(op)
    return lookup(op.name) is not None and op.name != "tt.call"


class _Graph:
    """The entry function with the roots of its values."""

    def __init__(self, influence: Influence, offsets: Offsets, lattice: Lattice, values: Sequence[int]) -> None:
        self.influence, self.offsets, self.lattice, self.values = influence, offsets, lattice, values
        self.loads: dict[int, list[Site]] = {}
        self.changes: list[tuple[Site, frozenset[int]]] = []
        for site in influence.sites:
            info = lookup(site.op.name)
            if info is None or not info.touches_memory:
                continue
            if info.changes:
                self.changes.append((site, self._reached(site.op, info.changes)))
            for index in self._reached(site.op, info.fetches):
                self.loads.setdefault(index, []).append(site)

    def producer(self, value: int) -> Op | None:
        return self.influence.producers.get(value)

    def constant(self, value: int) -> float | None:
        """The number that a value is in every element; None if that is not known."""
        made = self.producer(value)
        while made is not None and made.name in _CASTS:
            made = self.producer(made.operands[0])
        if made is None or made.name != "arith.constant":
            return None
        text = made.attrs.get("value", "").partition(" :")[0].removeprefix("dense<").removesuffix(">")
        try:
            return float({"true": "1", "false": "0"}.get(text, text))
        except ValueError:
            return None

    def _reached(self, op: Op, operands: Sequence[int]) -> frozenset[int]:
        roots = 0
        for index in operands:
            if index < len(op.operands):
                roots |= self.lattice.as_address(self.values[op.operands[index]])
        if roots & self.lattice.unknown:
            roots |= self.lattice.params
        return frozenset(bits(roots & self.lattice.params))


class _Parameter:
    """One argument's memory, and what depends on its earlier contents."""

    def __init__(self, index: int, graph: _Graph) -> None:
        self._index, self._graph = index, graph
        self._dependent: set[int] = set()  # what may depend on a value that was loaded
        self._steps = 0
        self._loads = graph.loads.get(index, [])
        self._stores = [site for site, reached in graph.changes if index in reached]
        self._alone = all(reached == {index} for _, reached in graph.changes if index in reached)

    def is_apart(self) -> bool:
        plain = all(s.op.name == "tt.load" for s in self._loads) and all(s.op.name == "tt.store" for s in self._stores)
        return bool(plain and self._loads and self._stores) and all(
            self._graph.offsets.apart(self._index, load.op, store.op)
            for load in self._loads for store in self._stores)

    def is_settled(self) -> bool:
        """Whether a second run leaves what the first one left, here and in every other parameter.

        It does if nothing else depends on what is read, and either every store puts into a place a value
        that comes from elsewhere, or that place's own value (up to a limit), and nothing read decides
        which; or all stores write one constant, on conditions that only a different value makes true: then
        the second run stores at some of the first one's places, and what is there already.
        """
        if not (self._loads and self._stores) or not self._alone or any(s.op.name != "tt.store" for s in self._stores):
            return False
        self._dependent = self._graph.influence.reached(r for s in self._loads for r in s.op.results)
        influence = self._graph.influence
        if self._dependent & (influence.jumps | influence.waits):
            return False
        if any(self._depends(site) for site, reached in self._graph.changes if self._index not in reached):
            return False
        return all(map(self._keeps, self._stores)) or self._latches()

    def _depends(self, site: Site) -> bool:
        values = {*site.op.operands, *(c.value for c in site.controls)}
        return not values.isdisjoint(self._dependent)

    def _keeps(self, store: Site) -> bool:
        address, value, *mask = store.op.operands
        decided = {address, *mask, *(c.value for c in store.controls)}
        return decided.isdisjoint(self._dependent) and self._is_kept(address, value)

    def _is_kept(self, address: int, value: int) -> bool:
        """Whether a value comes from elsewhere, or is what is at `address`, chosen or limited from elsewhere."""
        if value not in self._dependent:
            return True
        made = self._step(value)
        if made is None:
            return False
        if made.name == "tt.load":
            return self._is_loaded_from(address, made)
        if made.name in _WIDTHS:
            return self._is_kept(address, made.operands[0])
        if made.name == "arith.select":
            condition, *chosen = made.operands
            return condition not in self._dependent and all(self._is_kept(address, v) for v in chosen)
        if made.name in _LIMITS:
            free = [v for v in made.operands if v not in self._dependent]
            return len(free) == len(made.operands) - 1 and all(self._is_kept(address, v) for v in made.operands)
        return False

    def _step(self, value: int) -> Op | None:
        """The op that yields a value, as long as not too many have been asked for."""
        self._steps += 1
        return self._graph.producer(value) if self._steps <= MAX_STEPS else None

    def _is_loaded_from(self, address: int, load: Op) -> bool:
        place, *rest = load.operands
        return self._dependent.isdisjoint((place, *rest)) and self._graph.offsets.same(place, address)

    def _latches(self) -> bool:
        stored = {self._graph.constant(site.op.operands[1]) for site in self._stores}
        if len(stored) != 1 or None in stored:
            return False
        (constant,) = stored
        assert constant is not None
        return all(
            site.op.operands[0] not in self._dependent
            and all(self._differs(v, constant) for v in site.op.operands[2:])
            and all(self._allows(c, constant) for c in site.controls)
            for site in self._stores)

    def _allows(self, control: Control, constant: float) -> bool:
        return control.value not in self._dependent or (control.when_true and self._differs(control.value, constant))

    def _differs(self, condition: int, constant: float) -> bool:
        """Whether a condition is from elsewhere, or true only where what was loaded is not `constant`."""
        if condition not in self._dependent:
            return True
        made = self._step(condition)
        if made is None:
            return False
        if made.name in {"arith.andi", "arith.ori", "tt.splat", "tt.broadcast", "tt.expand_dims"}:
            return all(self._differs(v, constant) for v in made.operands)
        if made.name == "tt.load":  # of a boolean
            return constant == 0 and self._is_loaded(condition)
        if made.name == "arith.trunci":
            return constant == 0 and self._is_loaded(made.operands[0])
        return made.name in {"arith.cmpi", "arith.cmpf"} and self._tells(made, constant)

    def _tells(self, comparison: Op, constant: float) -> bool:
        loaded = [v for v in comparison.operands if self._is_loaded(v)]
        others = [self._graph.constant(v) for v in comparison.operands if v not in self._dependent]
        if len(loaded) != 1 or len(others) != 1 or others[0] is None:
            return False
        predicate = comparison.attrs.get("predicate")
        return predicate in (_DIFFERS if others[0] == constant else _IS)

    def _is_loaded(self, value: int) -> bool:
        """Whether a value is one that was loaded, at a place that is known beforehand."""
        made = self._graph.producer(value) if value in self._dependent else None
        while made is not None and made.name in _CASTS:
            made = self._graph.producer(made.operands[0])
        return made is not None and made.name == "tt.load" and self._dependent.isdisjoint(made.operands)
