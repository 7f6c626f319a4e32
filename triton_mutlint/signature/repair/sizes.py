"""Error messages about compile-time values and shapes, and what each says to change."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product, zip_longest
from math import prod

from triton_mutlint.kernel_source.evaluate import next_power_of_2
from triton_mutlint.signature.evidence import SIZES
from triton_mutlint.signature.repair.scene import Change, Probed, Scene
from triton_mutlint.types import ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

_RESHAPES = ("reshape", "view")
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


def as_another(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """A descriptor has another shape, which the message does not give (Triton before 3.7): another's, or a square."""
    blocks = [type_.block_shape for type_ in scene.args.values() if isinstance(type_, DescriptorType)]
    for target in scene.targets():
        type_ = scene.type(target)
        if isinstance(type_, DescriptorType):
            rank = len(type_.block_shape)
            shapes_ = (*(shape for shape in blocks if len(shape) == rank), *((size,) * rank for size in (16, *SIZES)))
            for shape in dict.fromkeys(shapes_):
                if shape != type_.block_shape:
                    yield {target: DescriptorType(type_.element, shape)}


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
    others = {target: size for target, size in scene.sizes().items() if 1 < size <= _MOST}
    for pair in zip_longest(_fitted(scene, others), _scaled(scene, others)):  # neither is the likelier
        yield from (change for change in pair if change is not None)


def _fitted(scene: Scene, others: Mapping[Probed, int]) -> Iterator[Change]:
    """Sizes with which the new shape has as many elements as some sizes say, or sizes that are as many as it has."""
    common = [size for size, _ in Counter(others.values()).most_common(3)]
    wanted = dict.fromkeys((*common, *(a * b for a, b in combinations_with_replacement(common, 2))))
    for dims in filter(None, (_dimensions(node) for node, _ in scene.line.parts)):
        total = prod(_size(scene, d) for d in dims)
        if not total:
            continue
        inside = {t: others[t] for t in scene.behind(d for d in dims if isinstance(d, ast.Name)) if t in others}
        for elements, (target, size) in product(wanted, inside.items()):
            new, rest = divmod(elements * size, total)
            if not rest and new != size and 0 < new <= _MOST and next_power_of_2(new) == new:
                yield {target: ConstexprValue(new)}
        yield from ({t: ConstexprValue(total)} for t in _likeliest(others) if t not in inside and total <= _MOST)


def _scaled(scene: Scene, others: Mapping[Probed, int]) -> Iterator[Change]:
    """Whatever may help: twice a size that is not in the line, half of one that is."""
    inside = _inside(scene)
    whole = prod(inside.values())
    for target in _likeliest(others):
        if target not in inside and others[target] <= 256:
            doubled = [2 * others[target]] if others[target] <= 64 else []
            yield from ({target: ConstexprValue(size)} for size in (*doubled, whole) if size <= _MOST)
    for target, size in inside.items():
        yield from ({target: ConstexprValue(less)} for less in (max(size // 2, 1), 1))


def _likeliest(sizes: Mapping[Probed, int]) -> list[Probed]:
    """Block sizes are the likeliest dimensions."""
    return sorted(sizes, key=lambda target: ("BLOCK" not in target.name.upper(), target.name))


def _dimensions(node: ast.expr) -> Sequence[ast.expr]:
    """The new shape in `tl.reshape(x, (A, B))`, `tl.reshape(x, A, B)`, `x.reshape(A, B)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RESHAPES):
        return ()
    owner = node.func.value
    is_method = not (isinstance(owner, ast.Name) and owner.id in ("tl", "language"))
    given = [*node.args[0 if is_method else 1 :], *(k.value for k in node.keywords if k.arg == "shape")]
    return given[0].elts if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else given


def _size(scene: Scene, node: ast.expr) -> int:
    """A dimension, where it is a number or is made of sizes; else 0."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else 0
    if isinstance(node, ast.BinOp):
        left, right = _size(scene, node.left), _size(scene, node.right)
        return left * right if isinstance(node.op, ast.Mult) else left // right if right else 0
    found = [t for part, targets in scene.line.parts if part is node and isinstance(node, ast.Name) for t in targets]
    type_ = scene.type(found[0]) if len(found) == 1 else None
    value = type_.value if isinstance(type_, ConstexprValue) else None
    return value if type(value) is int and value > 0 else 0


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
