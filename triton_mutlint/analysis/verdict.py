"""The union over variants (docs/analysis.md, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from triton_mutlint.analysis.conditions import condition
from triton_mutlint.analysis.effects import VariantEffects
from triton_mutlint.types import (
    EMPTY,
    Access,
    AccessKind,
    ArgType,
    Choices,
    ConstexprValue,
    DescriptorType,
    KernelReport,
    Mutation,
    ParameterKind,
    ParameterReport,
    PointerType,
    Rerun,
    UnanalyzableOp,
)


@dataclass(frozen=True)
class AnalyzedVariant:
    """One variant's flattened arguments (`ptrs.0` for a tuple's element), choices and effects.

    `reruns` says for kernels that are tuned what a second run does to parameters, harmless unless listed.
    """

    arguments: Mapping[str, ArgType]
    choices: Choices
    effects: VariantEffects
    reruns: Mapping[str, Rerun] = EMPTY


def judge(variants: Sequence[AnalyzedVariant], inferred: frozenset[str], reasons: Mapping[str, str],
          positions: Mapping[str, int], complete: bool = True) -> tuple[ParameterReport, ...]:
    """One report per reported parameter, in signature order; `positions` maps parameter to index.

    `complete` says that `variants` are all that there are.
    """
    names = dict.fromkeys(name for variant in variants for name in variant.arguments)
    ordered = sorted(names, key=lambda name: positions[name.split(".")[0]])
    return tuple(_parameter(name, variants, inferred, reasons, positions, complete) for name in ordered)


def _parameter(name: str, variants: Sequence[AnalyzedVariant], inferred: frozenset[str],
               reasons: Mapping[str, str], positions: Mapping[str, int], complete: bool) -> ParameterReport:
    owner = name.split(".")[0]
    types = [v.arguments[name] for v in variants if name in v.arguments]
    accesses = tuple(dict.fromkeys(a for v in variants for a in v.effects.accesses.get(name, ())))
    kinds = {a.kind for a in accesses}
    writing = [v for v in variants if name in v.effects.written]
    if len(writing) == len(variants):
        mutation = Mutation.WRITTEN
    elif writing:
        mutation = Mutation.CONDITIONAL
    elif any(name in v.effects.unknown for v in variants):
        mutation = Mutation.UNKNOWN
    else:
        mutation = Mutation.UNWRITTEN
    when: tuple[str, ...] = ()
    if mutation is Mutation.CONDITIONAL:
        others = [dict(v.choices) for v in variants if all(v is not w for w in writing)]
        when = condition([dict(v.choices) for v in writing], others, complete)
    unsafe = any(v.reruns.get(name, Rerun.SAFE) is not Rerun.SAFE for v in variants)
    return ParameterReport(
        name, positions[owner], *_describe(types), owner in inferred, mutation, when,
        reads=bool(kinds & {AccessKind.READ, AccessKind.ATOMIC}), writes=AccessKind.WRITE in kinds,
        atomics=AccessKind.ATOMIC in kinds, accesses=_sorted(accesses), reason=reasons.get(owner, ""),
        reruns=tuple((v.choices, v.reruns.get(name, Rerun.SAFE)) for v in variants) if unsafe else (),
    )


def _sorted(accesses: Iterable[Access]) -> tuple[Access, ...]:
    return tuple(sorted(accesses, key=lambda a: (a.location, a.kind.value, a.op, a.path)))


def _describe(types: Sequence[ArgType]) -> tuple[ParameterKind, str]:
    """Kind and text of a parameter; a pointer in one variant and None in another is a pointer."""
    texts = " | ".join(dict.fromkeys(str(t) for t in types))
    for arg in types:
        if isinstance(arg, PointerType):
            return ParameterKind.POINTER, texts
        if isinstance(arg, DescriptorType):
            return ParameterKind.DESCRIPTOR, texts
    if all(isinstance(t, ConstexprValue) for t in types):
        absent = all(isinstance(t, ConstexprValue) and t.value is None for t in types)
        return (ParameterKind.NONE if absent else ParameterKind.CONSTEXPR), texts
    return ParameterKind.SCALAR, texts


def merged(base: KernelReport, effects: Sequence[VariantEffects], parameters: tuple[ParameterReport, ...],
           undecided: Iterable[UnanalyzableOp] = ()) -> KernelReport:
    """The report with the parameters' verdicts and what is said of ops in some variant."""
    return replace(
        base, parameters=parameters,
        indirect_writes=tuple(sorted({w for e in effects for w in e.indirect_writes}, key=_order)),
        opaque_ops=tuple(sorted({o for e in effects for o in e.opaque_ops}, key=_order)),
        unanalyzable_ops=tuple(sorted({*undecided, *(u for e in effects for u in e.unanalyzable_ops)}, key=_order)),
    )


def _order(item: object) -> tuple[object, ...]:
    return (item.location, item.op, repr(item))  # type: ignore[attr-defined]  # all three report types have them
