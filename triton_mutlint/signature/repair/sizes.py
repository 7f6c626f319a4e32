"""Error messages about compile-time values and shapes, and what each says to change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod

from triton_mutlint.kernel_source.evaluate import next_power_of_2
from triton_mutlint.signature.evidence import SIZES
from triton_mutlint.signature.repair.scene import Change, Probed, Scene
from triton_mutlint.types import ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

_MOST = 4096  # elements of a guessed dimension


def _inside(scene: Scene) -> dict[Probed, int]:
    """The guessed sizes in the line."""
    sizes = scene.sizes()
    return {t: sizes[t] for t in scene.targets(element=False) if t in sizes}


def power_of_2(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target, have in _inside(scene).items():
        for size in (next_power_of_2(have), *SIZES[:9]):
            if size != have:
                yield {target: ConstexprValue(size)}


def smaller(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target, size in sorted(_inside(scene).items(), key=lambda item: -item[1]):
        if size > 4:
            yield {target: ConstexprValue(4 if size <= 64 else size // 4)}
    yield {target: ConstexprValue(max(size // 2, 16)) for target, size in scene.sizes().items() if size > 16}


def shapes(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Two dimensions that should be one: of a descriptor, or given by a block size."""
    numbers = list(map(int, re.findall(r"\d+", match.group(0))))
    if len(numbers) % 2:
        numbers = numbers[-2:]  # "dimensions at index 0: 64 and 16"
    half = len(numbers) // 2
    for first, second in dict.fromkeys(zip(numbers[:half], numbers[half:], strict=True)):
        if first != second:
            yield from _resized(scene, first, second)
            yield from _resized(scene, second, first)


def _resized(scene: Scene, have: int, wanted: int) -> Iterator[Change]:
    for target in dict.fromkeys([*scene.targets(), *scene.around()]):
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


def reshaped(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Triton does not say how many elements there were: probably as many as some block size, or two of them."""
    inside = _inside(scene)
    others = {t: size for t, size in scene.sizes().items() if t not in inside and 1 < size <= _MOST}
    total = prod(inside.values())
    common = [size for size, _ in Counter([*inside.values(), *others.values()]).most_common(3)]
    for wanted in dict.fromkeys((*common, *(a * b for a, b in combinations_with_replacement(common, 2)))):
        for target, size in inside.items():
            new, rest = divmod(wanted * size, total)
            if not rest and new != size and 0 < new <= _MOST and next_power_of_2(new) == new:
                yield {target: ConstexprValue(new)}
    for target in sorted(others, key=lambda t: ("BLOCK" not in t.name.upper(), t.name)):  # the likeliest dimensions
        yield from ({target: ConstexprValue(size)} for size in (total, 2 * others[target]) if size <= _MOST)
    for target, size in inside.items():
        yield from ({target: ConstexprValue(less)} for less in (max(size // 2, 1), 1))


def present(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """A None where a value is needed."""
    for target in scene.targets(element=False) + [Probed(n) for n in sorted(scene.inferred)]:
        type_ = scene.type(target)
        if isinstance(type_, ConstexprValue) and type_.value is None:
            yield {target: ConstexprValue(64)}
            yield {target: PointerType("fp32")}
            yield {target: ScalarType("i32")}


def longer(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    for target in scene.targets(element=False):
        type_ = scene.type(target)
        if isinstance(type_, TupleType) and not type_.fields and 0 < len(type_.elements) < 64:
            yield {target: TupleType(type_.elements * 2)}
        elif isinstance(type_, ConstexprValue) and isinstance(type_.value, tuple) and 0 < len(type_.value) < 16:
            yield {target: ConstexprValue(type_.value * 2)}
