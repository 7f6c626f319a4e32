"""A reshape that does not fit: which size to change, and to what."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement, zip_longest
from math import prod

from triton_mutlint.kernel_source.evaluate import next_power_of_2
from triton_mutlint.signature.repairing.probe import Probed
from triton_mutlint.signature.repairing.repair_values import constants
from triton_mutlint.signature.repairing.scene import Change, Scene
from triton_mutlint.types import ConstexprValue, DescriptorType

_RESHAPES = ("reshape", "view")
_MOST = 4096  # elements of a guessed dimension


def reshaped(scene: Scene, match: re.Match[str]) -> Iterator[Change]:
    """Triton does not say how many elements there were: probably as many as some block size, or two of them."""
    for target in scene.targets(element=True):
        type_ = scene.type(target)
        rank = len(type_.block_shape) if isinstance(type_, DescriptorType) else 0
        for ones in range(1, rank):
            assert isinstance(type_, DescriptorType)
            yield {target: DescriptorType(type_.element, (*(1,) * ones, *type_.block_shape[ones:]))}
    others = _sizes(scene)
    for pair in zip_longest(_all_fitted(scene, others), _scaled(scene, others)):  # neither is the likelier
        yield from (change for change in pair if change is not None)


def _all_fitted(scene: Scene, others: Mapping[Probed, int]) -> Iterator[Change]:
    for part in scene.parts:
        dims = _dimensions(part.node)
        known = [_size(scene, d) for d in dims]
        if dims and all(known):
            yield from _fitted(scene, dims, [k or 1 for k in known], others)


def _fitted(scene: Scene, dims: list[ast.expr], known: list[int], others: Mapping[Probed, int]) -> Iterator[Change]:
    total = prod(known)
    targets = {t: size for d, size in zip(dims, known, strict=True) if (t := _target(scene, d)) is not None}
    common = [size for size, _ in Counter(others.values()).most_common()]
    pairs = (a * b for a, b in combinations_with_replacement(common[:3], 2))
    for wanted in dict.fromkeys((*common, *pairs)):
        for target, size in targets.items():
            new, rest = divmod(wanted * size, total)
            if not rest and new != size and 0 < new <= _MOST and next_power_of_2(new) == new:
                yield {target: ConstexprValue(new)}
    for target in sorted(others.keys() - targets.keys(), key=_likely):
        if total <= _MOST and others[target] != total:
            yield {target: ConstexprValue(total)}


def _likely(target: Probed) -> tuple[bool, str]:
    """Block sizes are the likeliest dimensions."""
    return "BLOCK" not in target.name.upper(), target.name


def _sizes(scene: Scene) -> dict[Probed, int]:
    """The guessed sizes of the kernel."""
    return {Probed(n, (), False): t.value for n, t in scene.args.items() if n in scene.inferred
            and isinstance(t, ConstexprValue) and type(t.value) is int and 1 < t.value <= _MOST}  # fmt: skip


def _dimensions(node: ast.expr) -> list[ast.expr]:
    """The new shape in `tl.reshape(x, (A, B))`, `tl.reshape(x, A, B)`, `x.reshape(A, B)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RESHAPES):
        return []
    owner = node.func.value
    method = not (isinstance(owner, ast.Name) and owner.id in ("tl", "language"))
    given = [*node.args[0 if method else 1 :], *(k.value for k in node.keywords if k.arg == "shape")]
    if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        return list(given[0].elts)
    return given


def _target(scene: Scene, node: ast.expr) -> Probed | None:
    """The inferred parameter that a dimension is."""
    found = [t for p in scene.parts if p.node is node and isinstance(node, ast.Name) for t in p.targets]
    return found[0] if len(found) == 1 and not found[0].element and found[0].name in scene.inferred else None


def _size(scene: Scene, node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and node.value > 0 else None
    if isinstance(node, ast.BinOp):
        left, right = _size(scene, node.left), _size(scene, node.right)
        if not left or not right:
            return None
        return left * right if isinstance(node.op, ast.Mult) else left // right or None
    found = [t for p in scene.parts if p.node is node and isinstance(node, ast.Name) for t in p.targets]
    type_ = scene.type(found[0]) if len(found) == 1 else None
    value = type_.value if isinstance(type_, ConstexprValue) else None
    return value if type(value) is int and value > 0 else None


def _scaled(scene: Scene, others: Mapping[Probed, int]) -> Iterator[Change]:
    """Whatever may help: twice a size that is not in the line, half of one that is."""
    sizes = {t: v.value for t, v in constants(scene) if type(v.value) is int and v.value > 0}
    whole = prod(sizes.values())
    for target, size in sorted(others.items(), key=lambda item: _likely(item[0])):
        if target not in sizes and size <= 256:
            if size <= 64:
                yield {target: ConstexprValue(size * 2)}
            if size != whole <= _MOST:
                yield {target: ConstexprValue(whole)}
    for target, size in sizes.items():
        for smaller in (size // 2, 1):
            yield {target: ConstexprValue(max(smaller, 1))}
