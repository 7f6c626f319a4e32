"""Guess the signature of a kernel that no spec describes.

The order of evidence: annotation and default, what launches in the same file plainly pass, what
the body does with a parameter (through helpers), its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from triton_mutlint.kernel_source.folding import next_power_of_2
from triton_mutlint.kernel_source.footprint import given_by
from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.kernel_source.values import MayBe
from triton_mutlint.signature.compile_time import compile_time, needs_constexpr
from triton_mutlint.signature.evidence import SIZES, Dossier, Evidence, Inferred, gather
from triton_mutlint.signature.heuristics import Heuristic
from triton_mutlint.signature.runtime import NONE_VALUE, runtime
from triton_mutlint.spec.values import number_like, value_key
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, Kernel, PointerType, Site

NO_HELPERS: Mapping[str, Kernel] = MappingProxyType({})


def infer(
    kernel: Kernel, known: Mapping[str, ArgType], *, helpers: Mapping[str, Kernel] = NO_HELPERS
) -> Mapping[str, Inferred]:
    """Guesses for every parameter of `kernel` that `known` does not give.

    `helpers` are jit functions by name that the kernel's namespace does not hold.
    """
    evidence = gather(kernel, helpers)
    guesses: dict[str, Inferred] = {}
    for parameter in kernel.parameters:
        if parameter.name not in known:
            guesses[parameter.name] = _guess(evidence.dossiers[parameter.name])
    for name in dict.fromkeys(_asked_for(kernel, evidence.dossiers)):
        guess = guesses.get(name)
        if guess and isinstance(guess.main, (PointerType, DescriptorType)) and len(guess.alternatives) == 1:
            reason = f"{guess.reason}; a heuristic asks whether it is None"
            guesses[name] = Inferred((guess.main, NONE_VALUE), reason)
    guesses = covering(kernel, evidence, guesses, known)
    for name, guess in guesses.items():
        if any(isinstance(a, DescriptorType) for a in guess.alternatives):
            guesses[name] = _shaped(evidence.dossiers[name], guess, guesses, known)
    return guesses


def _guess(dossier: Dossier) -> Inferred:
    if dossier.parameter.is_constexpr or needs_constexpr(dossier.slot):
        return compile_time(dossier)
    return runtime(dossier)


def _asked_for(kernel: Kernel, dossiers: Mapping[str, Dossier]) -> Iterable[str]:
    """The parameters whose None changes a heuristic value that decides what is written."""
    present: dict[str, ArgType] = dict.fromkeys(kernel.parameter_names, PointerType("fp32"))
    for name, function in kernel.heuristics.items():
        if name in dossiers and dossiers[name].slot.matters:
            heuristic = Heuristic(function)
            usual = heuristic.values(present)
            read = [n for n in kernel.parameter_names if n in heuristic.read]
            yield from (n for n in read if usual and heuristic.values({**present, n: NONE_VALUE}) not in ((), usual))


def _shaped(
    dossier: Dossier, guess: Inferred, guesses: Mapping[str, Inferred], known: Mapping[str, ArgType]
) -> Inferred:
    """Give descriptors the block shape that the offsets they are accessed at suggest."""
    def size(name: str) -> int | None:
        type_ = known.get(name) or (guesses[name].main if name in guesses else None)
        value = type_.value if isinstance(type_, ConstexprValue) else None
        return value if isinstance(value, int) and value > 0 else None

    def dimension(axis: int, default: int) -> int:
        for rank in dossier.slot.ranks:
            for name in sorted(rank[axis]) if axis < len(rank) else ():
                if size(name):
                    return size(name) or default
        return 1 if len(scaled) > axis and scaled[axis] is False else default

    ranks = dossier.slot.ranks
    deep = max(map(len, ranks), default=0) > 2
    # of three or more offsets, one that no block size scales counts rows of a batch: a block of one
    scaled = [any(rank[i] for rank in ranks if i < len(rank)) for i in range(9)] if deep else []
    scaled = scaled if any(scaled) else []
    return replace(guess, alternatives=tuple(
        DescriptorType(a.element, tuple(dimension(i, d) for i, d in enumerate(a.block_shape)))
        if isinstance(a, DescriptorType) else a for a in guess.alternatives))


MAX_NAMES = 3  # parameters changed together
MAX_COST = 99  # of what is changed: each parameter costs 1, and the place of its value among those to be tried
MAX_TRIALS = 64  # walks over the source of one kernel
_Stores = frozenset[tuple[str, Site]]
_Domains = Mapping[str, Sequence[ArgType]]


def covering(kernel: Kernel, evidence: Evidence, guesses: Mapping[str, Inferred],
             known: Mapping[str, ArgType]) -> dict[str, Inferred]:
    """The guesses, with alternatives that reach the writes which none of them reaches so far."""
    args = {**known, **{name: guess.main for name, guess in guesses.items()}}
    fixed = [name for name, guess in guesses.items() if isinstance(guess.main, ConstexprValue)]
    source = _Source(kernel, evidence, args)
    reached = source.stores({}) if fixed else frozenset()
    missing = source.possible(fixed) - reached if source.consulted.intersection(fixed) else frozenset()
    found, trials = dict(guesses), iter(range(MAX_TRIALS))
    for widen in (False, True, True):  # the second time with what decides what others lead to
        names = [name for name in fixed if name in source.consulted] if missing else []
        mentioned = (*evidence.learnt.mentioned,) if widen else None
        domains = {name: _domain(found[name].alternatives, mentioned) for name in names}
        for change, _ in zip(_changes(domains), trials, strict=False):
            reached = source.stores(change) & missing
            if reached and widen:
                line = min(site.line for _, site in reached)
                found.update({name: _with(found[name], new, line) for name, new in change.items()})
            missing -= reached
            if not missing:
                break
    for name in source.consulted.intersection(fixed):
        other = _other_side(found[name], evidence.dossiers[name].slot, source)
        found[name] = found[name] if other is None else _with(found[name], other, evidence.dossiers[name].slot.matters)
    return found


def _other_side(guess: Inferred, slot: Slot, source: _Source) -> ArgType | None:
    """A value on the other side of a number that the parameter is compared with, if other writes are reached there.

    A branch on the parameter itself compares it with 0.
    """
    main: Any = guess.main.value if isinstance(guess.main, ConstexprValue) else None
    if not slot.matters or len(guess.alternatives) > 1 or type(main) not in (int, float):
        return None
    numbers = [c for c in (*slot.literals, *slot.bounds, *([0] if slot.branch else [])) if type(c) in (int, float)]
    others = (ConstexprValue(number_like(main, value)) for c in numbers for value in (c, c + 1))
    usual = source.stores({}) if numbers else frozenset()
    return next((other for other in others if source.stores({slot.name: other}) != usual), None)


class _Source:
    """What the source of a kernel may store through, and which parameters decide that.

    Where the kernel is tuned, what it loads from there counts as well: tuning runs it on what it has left.
    """

    def __init__(self, kernel: Kernel, evidence: Evidence, args: Mapping[str, ArgType]) -> None:
        self._walk, self._helper, self._args = evidence.walk, Helper.of(kernel), args
        self._kinds = ("store", "load") if kernel.is_tuned else ("store",)
        self.consulted: set[str] = set()

    def possible(self, names: Sequence[str]) -> _Stores:
        """What may be stored through, whatever the values of these parameters are."""
        return self._stores({name: MayBe(is_open=True, of=frozenset((name,))) for name in names})

    def stores(self, change: Mapping[str, ArgType]) -> _Stores:
        """What may be stored through with the first guesses, but for this change."""
        return self._stores({name: given_by(name, type_) for name, type_ in change.items()})

    def _stores(self, change: Mapping[str, MayBe]) -> _Stores:
        held = {name: change[name] if name in change else given_by(name, type_) for name, type_ in self._args.items()}
        found, asked = self._walk.consulting(self._helper, held)
        self.consulted |= asked
        return frozenset((root, site) for root, sites in found.sites.items() if any(s.kind == "store" for s in sites)
                         for site in sites if site.kind in self._kinds)


def _with(guess: Inferred, new: ArgType, line: int) -> Inferred:
    if value_key(new) in map(value_key, guess.alternatives):
        return guess
    return replace(guess, alternatives=(*guess.alternatives, new),
                   reason=f"{guess.reason}; {new} decides an access at line {line}")


def _changes(domains: _Domains) -> Iterator[dict[str, ArgType]]:
    """Changes of a few parameters together, the nearest to the guesses first: their values' places add up."""
    for cost in range(2, MAX_COST):
        for places in _places(domains, [*domains], cost, MAX_NAMES):
            yield {name: domains[name][place] for name, place in places.items()}


def _places(domains: _Domains, names: Sequence[str], cost: int, most: int) -> Iterator[dict[str, int]]:
    """Which values, by place, cost that much together."""
    if not cost:
        yield {}
    elif names and most:
        yield from _places(domains, names[1:], cost, most)
        for place in range(1, min(cost, len(domains[names[0]]))):
            for others in _places(domains, names[1:], cost - place - 1, most - 1):
                yield {names[0]: place, **others}


def _domain(alternatives: Sequence[ArgType], mentioned: Sequence[Any] | None) -> list[ArgType]:
    """The alternatives, and values of their kind: those near what the source mentions, then usual ones.

    With None for what it mentions, the alternatives alone.
    """
    values = [a.value for a in alternatives if isinstance(a, ConstexprValue) and a.value is not None]
    main = values[0] if values else None
    numbers = [c for c in mentioned or () if isinstance(c, (int, float)) and not isinstance(c, bool)]
    near = [number_like(main, v) for c in numbers for v in (c + 1, c, c - 1)] if isinstance(main, (int, float)) else []
    others: list[Any] = []
    if isinstance(main, bool):
        others = [False, True] if mentioned is not None else []
    elif isinstance(main, int) and mentioned:
        powers = [next_power_of_2(int(c) + 1) for c in numbers if 0 <= c < 1 << 20]
        others = [number_like(main, v) for v in (*SIZES[:5], *powers, *near, *SIZES, 8192, 16384, 65536)]
        others.sort(key=lambda value: value < 0)  # few sizes are negative
    elif isinstance(main, float):
        others = near
    elif isinstance(main, str):
        others = [c for c in mentioned or () if isinstance(c, str)]
    found: dict[object, ArgType] = {}
    for type_ in (*alternatives, *map(ConstexprValue, others)):
        found.setdefault(value_key(type_), type_)
    return [*found.values()]
