"""A name that no branch taken has bound: which of the guesses behind the branches to change."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.kernel_source.dtype_names import TL_NAMES
from triton_mutlint.signature.repairing.probe import Probed
from triton_mutlint.signature.repairing.scene import Change, Scene, as_dtype
from triton_mutlint.source.walking import walk
from triton_mutlint.types import ArgType, ConstexprValue, Kernel, PointerType, ScalarType


def undefined(kernel: Kernel, scene: Scene, name: str, line: int) -> Iterator[Change]:
    """Ways into the branches that bind `name`, then ways around the statement at `line` that reads it."""
    branches = [node for node in walk(kernel.node) if isinstance(node, ast.If)]
    binding = [b for b in branches if any(_binds(s, name) for s in b.body)]
    others = [b for b in branches if b not in binding and any(_binds(s, name) for s in b.orelse)]
    for branch in sorted(binding, key=lambda b: b.lineno):
        yield from _decided(scene, branch.test, True)
    for branch in sorted(others, key=lambda b: b.lineno):
        yield from _decided(scene, branch.test, False)
    around = [b for b in branches if b.lineno <= line <= (b.end_lineno or b.lineno)]
    for branch in sorted(around, key=lambda b: -b.lineno):
        yield from _decided(scene, branch.test, not any(s.lineno <= line <= (s.end_lineno or 0) for s in branch.body))


def _binds(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in walk(statement))


def _decided(scene: Scene, test: ast.expr, wanted: bool) -> Iterator[Change]:
    """Changes of one parameter, or two, that may make `test` come out as `wanted`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _decided(scene, test.operand, not wanted)
    elif isinstance(test, ast.BoolOp):
        parts = [list(_decided(scene, part, wanted)) for part in test.values]
        for part in parts:
            yield from part
        if len(parts) == 2:
            yield from ({**a, **b} for a in parts[0] for b in parts[1])
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _compared(scene, test.left, test.ops[0], test.comparators[0], wanted)
    else:
        for target in _targets(scene, test):
            type_ = scene.type(target)
            if isinstance(type_, ConstexprValue) and isinstance(type_.value, (bool, int)):
                yield {target: ConstexprValue(wanted)}


def _compared(scene: Scene, left: ast.expr, op: ast.cmpop, right: ast.expr, wanted: bool) -> Iterator[Change]:
    equal = wanted is isinstance(op, (ast.Eq, ast.Is))
    dtype = TL_NAMES.get(right.attr, "") if isinstance(right, ast.Attribute) else ""
    for target in _targets(scene, left):
        type_ = scene.type(target)
        if dtype and equal:
            new = as_dtype(type_, dtype)
            if new is not None:
                yield {target: new}
        elif isinstance(right, ast.Constant):
            value = right.value if equal else _other(right.value, type_)
            if not (value is None and isinstance(type_, ScalarType)):
                yield {target: value if isinstance(value, PointerType) else ConstexprValue(value)}


def _other(value: object, type_: ArgType | None) -> object:
    """Something that does not equal `value`, and suits the parameter."""
    if value is None:
        return type_ if isinstance(type_, PointerType) else PointerType("fp32")
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else "none"


def _targets(scene: Scene, node: ast.expr) -> list[Probed]:
    """The inferred parameters that a test looks at."""
    names = [n.id for n in walk(node) if isinstance(n, ast.Name)]
    found: dict[Probed, None] = {}
    for name in names:
        if name in scene.args:
            found[Probed(name, (), False)] = None
        else:
            found.update(dict.fromkeys(scene.names.get(name, [])))
    return scene.open(found)
