"""Guess the signature of a kernel that no spec describes.

The order of evidence: annotation and default, what launches in the same file plainly pass, what
the body does with a parameter (through helpers), its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from triton_mutlint.signature.compile_time import compile_time, needs_constexpr
from triton_mutlint.signature.covering import covering
from triton_mutlint.signature.evidence import Dossier, Inferred, gather
from triton_mutlint.signature.heuristics import Heuristic
from triton_mutlint.signature.runtime import NONE_VALUE, runtime
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, Kernel, PointerType

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
