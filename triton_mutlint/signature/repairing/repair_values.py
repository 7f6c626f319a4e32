"""Error messages about compile-time values and shapes, and what each says to change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_mutlint.kernel_source.evaluate import next_power_of_2
from triton_mutlint.signature.compile_time import SIZES
from triton_mutlint.signature.repairing.probe import Probed
from triton_mutlint.signature.repairing.scene import Change, Scene
from triton_mutlint.types import ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType


def constants(scene: Scene) -> list[tuple[Probed, ConstexprValue]]:
    found = []
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue):
            found.append((target, type_))
    return found


def power_of_2(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target, type_ in constants(scene):
        if isinstance(type_.value, int) and not isinstance(type_.value, bool):
            rounded = next_power_of_2(max(type_.value, 1))
            for size in (rounded, *SIZES[:9]):
                if size != type_.value:
                    yield {target: ConstexprValue(size)}


def larger(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """`Input shapes should have M >= 16`: some block size is too small."""
    everything = constants(scene) + [(Probed(n, (), False), t) for n, t in scene.args.items()
                                      if n in scene.inferred and isinstance(t, ConstexprValue)]  # fmt: skip
    small = {t: ConstexprValue(32) for t, v in everything
             if isinstance(v.value, int) and not isinstance(v.value, bool) and 0 < v.value < 32}  # fmt: skip
    for target, type_ in small.items():
        yield {target: type_}
    if len(small) > 1:
        yield small


def smaller(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    sizes = [(t, v.value) for t, v in constants(scene) if type(v.value) is int and v.value > 4]
    for target, size in sorted(sizes, key=lambda item: -item[1]):
        yield {target: ConstexprValue(4 if size <= 64 else size // 4)}
    everything = {Probed(n, (), False): ConstexprValue(max(t.value // 2, 16)) for n, t in scene.args.items()
                  if n in scene.inferred and isinstance(t, ConstexprValue) and type(t.value) is int and t.value > 16}
    yield everything


def shapes(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Two dimensions that should be one: of a descriptor, or given by a block size."""
    numbers = list(map(int, re.findall(r"\d+", match.group(0))))
    if len(numbers) % 2:
        numbers = numbers[-2:]  # "dimensions at index 0: 64 and 16"
    half = len(numbers) // 2
    pairs = dict.fromkeys((a, b) for a, b in zip(numbers[:half], numbers[half:], strict=True) if a != b)
    for first, second in pairs:
        yield from resized(scene, first, second)
        yield from resized(scene, second, first)


def resized(scene: Scene, have: int, wanted: int) -> Iterator[Change]:
    blocks = {t: scene.type(t) for t in scene.targets(element=True)}
    together = {t: DescriptorType(d.element, tuple(wanted if n == have else n for n in d.block_shape))
                for t, d in blocks.items() if isinstance(d, DescriptorType) and have in d.block_shape}  # fmt: skip
    if together:
        yield together
    for target in scene.targets() + scene.open(t for name in scene.names.values() for t in name):
        type_ = scene.type(target)
        if isinstance(type_, DescriptorType) and have in type_.block_shape:
            whole = tuple(wanted if size == have else size for size in type_.block_shape)
            yield {target: DescriptorType(type_.element, whole)}
            for axis, size in enumerate(type_.block_shape):
                if size == have:
                    shape = (*type_.block_shape[:axis], wanted, *type_.block_shape[axis + 1 :])
                    yield {target: DescriptorType(type_.element, shape)}
        elif isinstance(type_, ConstexprValue) and type(type_.value) is int and type_.value == have:
            yield {target: ConstexprValue(wanted)}


def present(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """A None where a value is needed."""
    for target in scene.targets(element=False) + [Probed(n, (), False) for n in sorted(scene.inferred)]:
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue) and type_.value is None:
            yield {target: ConstexprValue(64)}
            yield {target: PointerType("fp32")}
            yield {target: ScalarType("i32")}


def longer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target in scene.targets(element=False):
        type_ = scene.args.get(target.name)
        if isinstance(type_, TupleType) and not type_.fields and type_.elements and len(type_.elements) < 64:
            yield {Probed(target.name, (), False): TupleType(type_.elements * 2)}
    for target, value in constants(scene):
        if isinstance(value.value, tuple) and value.value and len(value.value) < 16:
            yield {target: ConstexprValue(value.value * 2)}
