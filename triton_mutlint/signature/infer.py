"""Guess the signature of a kernel that no spec describes.

The order of evidence: annotation and default, autotune configs, what launches in the same file plainly pass, what
the body does with a parameter (through helpers), its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from triton_mutlint.kernel_source.learned.constraints import Constraint
from triton_mutlint.signature.compile_time import candidates, compile_time, needs_constexpr
from triton_mutlint.signature.evidence import Dossier, gather
from triton_mutlint.signature.inferred import Inferred
from triton_mutlint.signature.optional import optional_by_heuristics, with_none
from triton_mutlint.signature.reaching import reach, value_of
from triton_mutlint.signature.runtime import runtime
from triton_mutlint.signature.solving import solve
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, Kernel

NO_HELPERS: Mapping[str, Kernel] = MappingProxyType({})


def infer(
    kernel: Kernel,
    known: Mapping[str, ArgType],
    *,
    helpers: Mapping[str, Kernel] = NO_HELPERS,
) -> Mapping[str, Inferred]:
    """Guesses for every parameter of `kernel` that `known` does not give.

    `helpers` are jit functions by name that the kernel's namespace does not hold.
    """
    evidence = gather(kernel, helpers)
    guesses: dict[str, Inferred] = {}
    for parameter in kernel.parameters:
        if parameter.name not in known:
            dossier = evidence.dossiers[parameter.name]
            guesses[parameter.name] = _tuned(kernel, parameter.name) or _guess(dossier)
    for name in optional_by_heuristics(kernel, evidence.dossiers, known) & guesses.keys():
        guesses[name] = with_none(guesses[name])
    _satisfy(evidence.learnt.constraints, guesses, known)
    reach(evidence.learnt.reaches, evidence.learnt.constraints, guesses, known)
    for name, guess in guesses.items():
        if any(isinstance(a, DescriptorType) for a in guess.alternatives):
            guesses[name] = _shaped(evidence.dossiers[name], guess, guesses, known)
    return guesses


def _guess(dossier: Dossier) -> Inferred:
    if dossier.parameter.is_constexpr or needs_constexpr(dossier.slot):
        return compile_time(dossier)
    return runtime(dossier)


def _tuned(kernel: Kernel, name: str) -> Inferred | None:
    """The values that the autotune configs give."""
    if kernel.autotune is None:
        return None
    values: list[ConstexprValue] = []
    for config in kernel.autotune.configs:
        if name in config.kwargs:
            value = ConstexprValue(config.kwargs[name])
            if value not in values:
                values.append(value)
    return Inferred(tuple(values), f"autotune configs, line {kernel.autotune.line}") if values else None


def _satisfy(
    constraints: Sequence[Constraint], guesses: dict[str, Inferred], known: Mapping[str, ArgType]
) -> None:
    """Change the main guesses so that what the body asserts holds; drop alternatives that cannot."""
    if not constraints:
        return
    values = {name: value_of(type_) for name, type_ in known.items()}
    values.update((name, value_of(guess.main)) for name, guess in guesses.items())
    domains = {n: candidates(g) for n, g in guesses.items() if isinstance(g.main, ConstexprValue)}
    for name, value in solve(constraints, values, domains).items():
        values[name] = value
        guesses[name] = _promoted(guesses[name], value)
    for name, guess in guesses.items():
        if len(guess.alternatives) > 1:
            kept = [a for a in guess.alternatives[1:] if not _broken(constraints, {**values, name: value_of(a)}, name)]
            guesses[name] = Inferred((guess.main, *kept), guess.reason)


def _broken(constraints: Sequence[Constraint], values: Mapping[str, Any], name: str) -> bool:
    return any(name in (c.violated(values) or ()) for c in constraints)


def _promoted(guess: Inferred, value: Any) -> Inferred:
    first = next((a for a in guess.alternatives if isinstance(a, ConstexprValue) and a.value is value), None)
    rest = [a for a in guess.alternatives if a is not first]
    if first is None:
        first, rest = ConstexprValue(value), rest[1:]
    return Inferred((first, *rest), f"{guess.reason}; {value!r} meets what the body asserts")


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
    alternatives = tuple(
        DescriptorType(a.element, tuple(dimension(i, d) for i, d in enumerate(a.block_shape)))
        if isinstance(a, DescriptorType)
        else a
        for a in guess.alternatives
    )
    return replace(guess, alternatives=alternatives)
