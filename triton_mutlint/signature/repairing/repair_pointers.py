"""Error messages about the element types of pointers and descriptors, and what each says to change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from triton_mutlint.kernel_source.dtype_names import bits
from triton_mutlint.kernel_source.dtypes import canonical_dtype
from triton_mutlint.signature.repairing.probe import Probed
from triton_mutlint.signature.repairing.scene import Change, Scene, as_dtype, dtype_of
from triton_mutlint.types import DescriptorType, PointerType

BLOCKS = (16, 32, 128, 256, 8, 64, 512, 1024)
DEFAULT = "fp32"  # the element type of which nothing is known: the first to give way


def one_element(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`initial value for `p` is of type pointer<fp32>, but ... pointer<int32>`: one of the two is wrong."""
    first, second = (_element(match.group(g)) for g in ("a", "b"))
    name = match.groupdict().get("name") or ""
    near = [*scene.open(scene.names.get(name, [])), *scene.targets()]
    if not (first and second) or first == second:
        return
    everything = [Probed(name, (), True) for name in sorted(scene.inferred)]
    pairs = ((second, first), (first, second)) if second == DEFAULT else ((first, second), (second, first))
    around = scene.open(t for targets in scene.names.values() for t in targets)
    for have, wanted in pairs:
        yield from _changed(scene, near or around, wanted, have)
        if have == DEFAULT:
            yield from _changed(scene, everything, wanted, have)
    for have, wanted in pairs:
        yield from _changed(scene, around, wanted, have)


def together(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """What a name holds before and after, of types that the message does not tell: all elements of one of theirs."""
    near = _holders(scene, scene.open(scene.names.get(match.group("name"), [])))
    have = sorted({dtype_of(scene.type(t)) for t in near}, key=lambda dtype: dtype == DEFAULT)
    for wanted in have if len(have) > 1 else ():
        changes = {t: as_dtype(scene.type(t), wanted) for t in near if dtype_of(scene.type(t)) != wanted}
        yield {target: type_ for target, type_ in changes.items() if type_ is not None}


def as_value(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """What is stored has one type (`b`) and what it is stored to another (`a`), and nothing is converted."""
    have, wanted = _element(match.group("a")), _element(match.group("b"))
    for one, other in ((have, wanted), (wanted, have)):
        if one and other and one != other:
            yield from _changed(scene, scene.targets(), other, one)


def sized(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """What is stored has not the shape of a descriptor's blocks; Triton does not say which it has."""
    for target in _holders(scene, scene.targets()):
        type_ = scene.type(target)
        for size in BLOCKS if isinstance(type_, DescriptorType) else ():
            assert isinstance(type_, DescriptorType)
            yield {target: DescriptorType(type_.element, tuple(d if d == 1 else size for d in type_.block_shape))}


def one_shape(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Descriptors that one name holds in turn, of blocks of two shapes: all get one of these."""
    first, second = (tuple(map(int, match.group(g).split("x"))) for g in ("a", "b"))
    everything = [Probed(name, (), True) for name in sorted(scene.inferred)]
    for wanted, have in ((first, second), (second, first)) if first != second else ():
        types = {t: scene.type(t) for t in _holders(scene, everything)}
        found: Change = {t: DescriptorType(type_.element, wanted) for t, type_ in types.items()
                         if isinstance(type_, DescriptorType) and type_.block_shape == have}  # fmt: skip
        if found:
            yield found


def wider(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Atomics that take no narrow elements, or compare with something else than they find."""
    for wanted in ("i32", "i64"):
        for target in _holders(scene, scene.targets()):
            if dtype_of(scene.type(target)) != wanted:
                yield from _changed(scene, [target], wanted, dtype_of(scene.type(target)))


def _changed(scene: Scene, targets: Iterable[Probed], wanted: str, have: str) -> Iterator[Change]:
    """Elements `have` of the targets become `wanted`: all together, then each alone."""
    found: Change = {t: new for t in _holders(scene, targets) if dtype_of(scene.type(t)) == have
                     if (new := as_dtype(scene.type(t), wanted)) is not None}  # fmt: skip
    if found:
        yield found
    if len(found) > 1:
        yield from ({target: type_} for target, type_ in found.items())


def _holders(scene: Scene, targets: Iterable[Probed]) -> list[Probed]:
    """The targets that point to elements."""
    found = dict.fromkeys(Probed(t.name, t.path, True) for t in targets)
    return [t for t in found if isinstance(scene.type(t), (PointerType, DescriptorType))]


def _element(text: str) -> str:
    """The element type that a message names: `int32`, `f32`."""
    name = canonical_dtype(re.sub(r"^f(\d)", r"fp\1", text.removeprefix("s"))) or ""
    return name if bits(name) else ""
