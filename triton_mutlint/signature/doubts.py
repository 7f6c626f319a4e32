"""Which verdicts rest on guesses: what the body, as written, may store through, and scalars that may be addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triton_mutlint.model import (
    ArgType,
    ConstexprValue,
    Doubts,
    LoadedKernel,
    PointerType,
    ScalarType,
    SignaturePlan,
    TupleType,
)
from triton_mutlint.signature.evidence import Dossier, gather
from triton_mutlint.signature.facts import Slot

_TELLING = ("int", "float", "bool", "address")  # launch evidence that settles that a scalar is one


def doubts(kernel: LoadedKernel, plan: SignaturePlan, helpers: Mapping[str, LoadedKernel]) -> Doubts:
    """What the guesses in `plan` leave open."""
    evidence = gather(kernel, helpers, ())
    stores: dict[str, int] = {}
    addresses: dict[str, int] = {}
    for name, type_ in plan.variants[0].args.items():
        dossier = evidence.dossiers[name]
        for label, slot, element in _flat(name, dossier.slot, type_):
            if slot is not None and slot.stored:
                stores[label] = slot.stored
            if isinstance(element, ScalarType) and name in plan.inferred and not _told(dossier):
                addresses[label] = slot.addressed if slot is not None else 0
    return Doubts(stores, addresses, evidence.typed or _decides(plan))


def _decides(plan: SignaturePlan) -> bool:
    """Whether compile-time values are guessed, or left out."""
    guessed = any(isinstance(v.args[n], ConstexprValue) for n in plan.inferred for v in plan.variants)
    return guessed or len(plan.variants) < plan.total


def _told(dossier: Dossier) -> bool:
    return dossier.passed(*_TELLING) is not None or bool(dossier.parameter.annotation)


def _flat(name: str, slot: Slot | None, type_: ArgType) -> Iterator[tuple[str, Slot | None, ArgType]]:
    """The reported parameters of one argument, each with the slot that has its facts."""
    if not isinstance(type_, TupleType):
        yield name, slot, type_
        return
    for index, element in enumerate(type_.elements):
        label = type_.fields[index] if type_.fields else str(index)
        yield from _flat(f"{name}.{label}", _child(slot, label, index), element)


def _child(slot: Slot | None, label: str, index: int) -> Slot | None:
    """The slot of an element; one whose facts hold for every element, or for the whole, if there is none."""
    if slot is None or slot.stored:
        return slot
    found = [slot.children[key] for key in (label, index, "*") if key in slot.children]
    return next((s for s in found if s.stored or s.addressed), found[0] if found else None)


def as_pointers(args: Mapping[str, ArgType], names: frozenset[str]) -> dict[str, ArgType]:
    """The arguments with pointers for the named scalars (`p`, `ptrs.0`)."""
    return {name: _pointed(name, type_, names) for name, type_ in args.items()}


def _pointed(label: str, type_: ArgType, names: frozenset[str]) -> ArgType:
    if isinstance(type_, ScalarType) and label in names:
        return PointerType("i8")
    if not isinstance(type_, TupleType):
        return type_
    labels = type_.fields or tuple(map(str, range(len(type_.elements))))
    elements = [_pointed(f"{label}.{key}", e, names) for key, e in zip(labels, type_.elements, strict=True)]
    return TupleType(tuple(elements), type_.fields, type_.cls)
