"""Which verdicts rest on guesses: what the body, as written, may store through, and scalars that may be addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from triton_mutlint.kernel_source.footprint import elements
from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.kernel_source.outside import read_by
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.kernel_source.values import MayBe, either, of_global
from triton_mutlint.kernel_source.walk import Walk
from triton_mutlint.signature.evidence import Dossier, Evidence, gather
from triton_mutlint.signature.variants import launched_only, types_of
from triton_mutlint.source.slicing.statement_text import mentioned
from triton_mutlint.source.slicing.unsettled import unsettled_among
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    Doubts,
    Kernel,
    Plan,
    PointerType,
    ScalarType,
    TupleType,
)

_NUMBER = re.compile(r"\b(int|float|bool|u?int\d+|float\d+|bfloat16|[iuf]\d+|fp\d+|bf16)(_t)?\b")
_OTHER = re.compile(r"\*|[Tt]ensor|[Pp]ointer|ptr")


def with_unsettled(kernel: Kernel, plan: Plan, helpers: Mapping[str, Kernel]) -> Plan:
    """The plan, with the names outside that may have other values at a launch than now, and that may decide something.

    What a heuristic computes from them counts as guessed, and what configs give that a function may change.
    """
    evidence = gather(kernel, helpers)
    computed = {n: [(home, name) for home, name, _ in read_by(f)] for n, f in kernel.heuristics.items()}
    used = frozenset(name for read in computed.values() for _, name in read)
    given = {p.name: MayBe(frozenset((p.name,)), is_open=True) for p in kernel.parameters}

    def decides(names: Set[str]) -> bool:
        now, then = (Walk(evidence.program, n).of(Helper.of(kernel), given) for n in (frozenset[str](), names))
        return now != then or not used.isdisjoint(names)

    every = [*evidence.read, *(one for read in computed.values() for one in read)]
    names = unsettled_among(every, kernel.source, decides)
    guessed = {n for n, read in computed.items() if not names.isdisjoint(name for _, name in read)}
    if kernel.configs:
        named = [(kernel.namespace, name) for part in kernel.node.decorator_list for name in mentioned(part)]
        is_changed = unsettled_among(named, kernel.source, lambda _: False)
        guessed |= {name for config in kernel.configs for name in config.kwargs} if is_changed else set()
    return replace(plan, unsettled=names, assumed=plan.assumed | guessed)


def doubts(kernel: Kernel, plan: Plan, helpers: Mapping[str, Kernel]) -> Doubts:
    """What the guesses in `plan` leave open, and the names that may have other values at a launch."""
    evidence = gather(kernel, helpers)
    learnt = evidence.learnt
    stores: dict[str, int] = {}
    addresses: dict[str, int] = {}
    kept: dict[str, int] = {}
    behind: dict[str, int] = {}
    narrow: set[str] = set()
    numbers: set[str] = set()
    measured = learnt.distances and any(d.slot.measured for d in evidence.dossiers.values())
    source = Walk(evidence.program, plan.unsettled) if plan.unsettled else evidence.walk
    possible = source.of(Helper.of(kernel), held_by(kernel, plan, evidence))
    stored, put, loads = (possible.lines(kind) for kind in ("store", "keep", "load"))
    indirect = min(possible.indirect.values(), default=0)
    slots = {f"*{name}": dossier.slot for name, dossier in evidence.dossiers.items()}
    through = [slots.get(root.partition(".")[0]) for root in stored if root.startswith("*")]
    is_made = any(s is None or s.holds_addresses for s in through) or any(s.called for s in slots.values())
    reached = possible.indirect if is_made else {}  # of an index nobody makes an address
    for name, type_ in _types(plan):
        dossier = evidence.dossiers[name]
        for label, slot, element in _flat(name, dossier.slot, type_):
            slot = slot or Slot(name)
            guessed = isinstance(element, ScalarType) and name in plan.inferred and not _told(dossier)
            line = stored.get(label) or stored.get(name) or (indirect if {label, name} & put.keys() else 0)
            blank = guessed and _is_blank(slot) and not isinstance(dossier.parameter.default, int | float)
            if line and (blank or _memory(element, dossier)):
                stores[label] = line
            if slot.table and (found := {f"*{label}", f"*{name}", "*"} & reached.keys()):
                behind[label] = min(reached[root] for root in found)
            if guessed and isinstance(element, ScalarType):
                addresses[label] = _addressed(slot, measured, learnt.indirect)
                if slot.kept and slot.to_int:
                    kept[label] = slot.kept
                if _narrow(element, slot):
                    narrow.add(label)
                if _is_number(slot, may_be_address=bool(slot.kept) and learnt.pointers):
                    numbers.add(label)
    kinds = (ConstexprValue, TupleType, *((DescriptorType,) if possible.asks("size") else ()))
    typed = learnt.typed and bool(plan.inferred | plan.assumed)
    is_open = bool(plan.unsettled) or typed or possible.asks("type") or _decides(plan, kinds)
    values = tuple(n for n in kernel.parameter_names if n in plan.inferred | plan.assumed
                   and any(isinstance(v.args[n], ConstexprValue) for v in plan.variants))
    return Doubts(stores, addresses, is_open, frozenset(narrow), kept, learnt.pointers, frozenset(numbers),
                  values, frozenset({*loads, *put}), behind, plan.unsettled)


def _is_blank(slot: Slot) -> bool:
    """Whether nothing that is done with a parameter says that it is a number: functions that are passed may do more."""
    said = slot.integer or slot.floating or slot.number or slot.scalar or slot.shape
    return not (said or (not slot.handed and (slot.direct or slot.to_int or slot.arithmetic)))


def _is_number(slot: Slot, may_be_address: bool = False) -> bool:
    """Whether the uses of a parameter leave no doubt that it is no pointer: nor an address, if it may be one."""
    certain = bool(slot.floating or slot.number or slot.shape)
    return certain or (bool(slot.integer or slot.scalar) and not may_be_address)


def _types(plan: Plan) -> Iterator[tuple[str, ArgType]]:
    """What each parameter is: for those that are a tuple in some variant, in each of them."""
    for name, first in plan.variants[0].args.items():
        types = types_of(plan, name)
        yield from ((name, t) for t in types if t is first or any(isinstance(t, TupleType) for t in types))


def held_by(kernel: Kernel, plan: Plan, evidence: Evidence) -> dict[str, MayBe]:
    """What the parameters hold: addresses, or what they are said to be at compile time, in all variants of `plan`."""
    held, launched = {}, launched_only(kernel)
    for parameter in kernel.parameters:
        name = parameter.name
        types = types_of(plan, name)
        values = [t.value for t in types if isinstance(t, ConstexprValue)]
        told = name not in plan.inferred | plan.assumed
        slot = evidence.dossiers[name].slot
        known = told or isinstance(parameter.default, int | float) or not _is_blank(slot)
        is_scalar = parameter.is_constexpr or (known and all(isinstance(t, ScalarType) for t in types))
        root = frozenset[str]() if is_scalar else frozenset((name,))
        if len(types) == 1 and isinstance(types[0], TupleType):
            held[name] = elements(name, types[0], told)
        elif told and len(values) == len(types) == 1:
            held[name] = of_global(values[0])
        else:
            objects = [replace(of_global(v), said=None, kinds=()) for v in values]  # of any class
            held[name] = either(MayBe(root, is_open=not told, is_launched=name in launched), *objects)
    return held


def _memory(type_: ArgType, dossier: Dossier) -> bool:
    """Whether a parameter is a pointer or descriptor, or a run-time one left out that could have been."""
    absent = isinstance(type_, ConstexprValue) and type_.value is None and not dossier.parameter.is_constexpr
    return absent or isinstance(type_, (PointerType, DescriptorType))


def _addressed(slot: Slot, measured: bool, indirect: int) -> int:
    """The line at which a scalar is used as only an address need be, if any.

    `measured` says that somewhere the distance between an address and something in memory is taken.
    """
    if slot.addressed or not slot.to_int:
        return slot.addressed
    return slot.to_int if measured or (slot.kept and indirect) or slot.distant else 0


def _narrow(type_: ScalarType, slot: Slot) -> bool:
    """Whether a scalar is guessed as a number that cannot be an address, for want of evidence."""
    if type_.name in ("i64", "u64"):
        return False
    return type_.name.startswith(("i", "u")) or bool(slot.to_int or slot.kept)


def _decides(plan: Plan, kinds: tuple[type, ...]) -> bool:
    """Whether arguments of `kinds` are guessed, or variants left out."""
    guessed = any(isinstance(v.args[n], kinds) for n in plan.inferred | plan.assumed for v in plan.variants)
    return guessed or len(plan.variants) < plan.total


def _told(dossier: Dossier) -> bool:
    """Whether an annotation or a launch settles that a scalar is one."""
    annotation = dossier.parameter.annotation
    annotated = _NUMBER.search(annotation) is not None and _OTHER.search(annotation) is None
    return annotated or dossier.passed(int, float, bool) is not None


def _flat(name: str, slot: Slot | None, type_: ArgType) -> Iterator[tuple[str, Slot | None, ArgType]]:
    """The reported parameters of one argument, each with the slot that has its facts."""
    if not isinstance(type_, TupleType):
        yield name, slot, type_
        return
    for index, (label, element) in enumerate(zip(type_.labels, type_.elements, strict=True)):
        yield from _flat(f"{name}.{label}", _child(slot, label, index), element)


def _child(slot: Slot | None, label: str, index: int) -> Slot | None:
    """The slot of an element; one whose facts hold for every element, or for the whole, if there is none."""
    if slot is None or slot.stored:
        return slot
    found = [slot.children[key] for key in (label, index, "*") if key in slot.children]
    return next((s for s in found if s.stored or s.addressed), found[0] if found else None)


def as_pointers(args: Mapping[str, ArgType], names: frozenset[str]) -> dict[str, ArgType]:
    """The arguments with pointers for the named scalars (`p`, `ptrs.0`)."""
    return {name: _replaced(name, type_, names, PointerType("i8")) for name, type_ in args.items()}


def as_wide(args: Mapping[str, ArgType], names: frozenset[str]) -> dict[str, ArgType]:
    """The arguments with integers that can carry an address for the named scalars."""
    return {name: _replaced(name, type_, names, ScalarType("i64")) for name, type_ in args.items()}


def _replaced(label: str, type_: ArgType, names: frozenset[str], new: ArgType) -> ArgType:
    if isinstance(type_, ScalarType) and label in names:
        return new
    if not isinstance(type_, TupleType):
        return type_
    elements = [_replaced(f"{label}.{key}", e, names, new) for key, e in zip(type_.labels, type_.elements, strict=True)]
    return TupleType(tuple(elements), type_.fields, type_.cls)
