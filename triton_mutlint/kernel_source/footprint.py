"""The footprint of each variant of a kernel: what its source may touch under that variant's compile-time values."""

from __future__ import annotations

from dataclasses import replace

from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.kernel_source.values import NOTHING, MayBe, Object, of_global
from triton_mutlint.kernel_source.walk import Walk
from triton_mutlint.types import ArgType, ConstexprValue, Footprint, Kernel, ScalarType, TupleType, Variant


def footprints(kernel: Kernel, walk: Walk, variants: tuple[Variant, ...]) -> tuple[Footprint, ...]:
    """The footprint of each variant."""
    helper = Helper.of(kernel)
    plain = {name for name in variants[0].args if all(_is_plain(v.args[name]) for v in variants)}
    known: dict[object, list[tuple[dict[str, object], Footprint]]] = {}
    found = []
    for variant in variants:
        keys: dict[str, object] = {name: _key(type_) for name, type_ in variant.args.items()}
        others = known.setdefault(tuple(keys[name] for name in keys if name not in plain), [])
        like = next((done for asked, done in others if asked.items() <= keys.items()), None)
        if like is None:  # else what was decided by constants is decided as in that one
            like, asked = walk.consulting(helper, {name: given_by(name, type_) for name, type_ in variant.args.items()})
            others.append(({name: keys[name] for name in asked}, like))
        found.append(like)
    return tuple(found)


def _key(type_: ArgType) -> object:
    value = getattr(type_, "value", type_)
    return type(value), repr(value)


def _is_plain(type_: ArgType) -> bool:
    return isinstance(type_, ConstexprValue) and isinstance(type_.value, bool | int | float | str)


def given_by(name: str, type_: ArgType) -> MayBe:
    """What a parameter is in a variant with this type or value."""
    if isinstance(type_, TupleType):
        return elements(name, type_, True)
    if isinstance(type_, ConstexprValue):
        return replace(of_global(type_.value), of=frozenset((name,)))
    return NOTHING if isinstance(type_, ScalarType) else MayBe(frozenset((name,)), is_present=True)


def elements(label: str, type_: TupleType, told: bool) -> MayBe:
    """A tuple: other launches may pass a longer one, unless its type is told."""
    items = []
    for key, element in zip(type_.labels, type_.elements, strict=True):
        part = f"{label}.{key}"
        if isinstance(element, TupleType):
            items.append(elements(part, element, told))
        elif told and isinstance(element, ConstexprValue):
            items.append(of_global(element.value))
        else:
            items.append(MayBe(frozenset((part,)), is_open=not told))
    rest = frozenset[str]() if told else frozenset((label,))
    return MayBe(rest, tuple(items), kinds=(Object(type_),) if type_.fields else ())
