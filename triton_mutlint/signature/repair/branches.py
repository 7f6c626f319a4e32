"""A name that no branch taken has bound: which of the guesses behind the branches to change."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.kernel_source.dtypes import TL_NAMES
from triton_mutlint.signature.repair.scene import Change, Probed, Scene, as_dtype
from triton_mutlint.source.walking import walk
from triton_mutlint.types import ArgType, ConstexprValue, Kernel, PointerType, ScalarType


def undefined(kernel: Kernel, scene: Scene, name: str, line: int) -> Iterator[Change]:
    """Ways into the branches that bind `name`, then ways around the statement at `line` that reads it."""
    branches = sorted((n for n in walk(kernel.node) if isinstance(n, ast.If)), key=lambda branch: branch.lineno)
    for branch in branches:
        if _binds(branch.body, name):
            yield from _decided(scene, branch.test, True)
    for branch in branches:
        if _binds(branch.orelse, name) and not _binds(branch.body, name):
            yield from _decided(scene, branch.test, False)
    for branch in reversed(branches):
        if branch.lineno <= line <= (branch.end_lineno or branch.lineno):
            inside = any(s.lineno <= line <= (s.end_lineno or 0) for s in branch.body)
            yield from _decided(scene, branch.test, not inside)


def _binds(body: list[ast.stmt], name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for s in body for n in walk(s))


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
        equal = wanted is isinstance(test.ops[0], (ast.Eq, ast.Is))
        for target in _tested(scene, test.left):
            if (new := _compared(scene.type(target), test.comparators[0], equal)) is not None:
                yield {target: new}
    else:
        for target in _tested(scene, test):
            type_ = scene.type(target)
            if isinstance(type_, ConstexprValue) and isinstance(type_.value, (bool, int)):
                yield {target: ConstexprValue(wanted)}


def _compared(type_: ArgType | None, right: ast.expr, equal: bool) -> ArgType | None:
    """A type or value for a parameter so that it equals `right`, or does not."""
    if isinstance(right, ast.Attribute) and right.attr in TL_NAMES and equal:
        return as_dtype(type_, TL_NAMES[right.attr])
    if not isinstance(right, ast.Constant):
        return None
    value = right.value
    if value is None and not equal:
        return type_ if isinstance(type_, PointerType) else PointerType("fp32")
    if value is None and isinstance(type_, ScalarType):
        return None
    other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else "none"
    return ConstexprValue(value if equal else other)


def _tested(scene: Scene, node: ast.expr) -> list[Probed]:
    """The inferred parameters that a test looks at."""
    found: list[Probed] = []
    for name in [n.id for n in walk(node) if isinstance(n, ast.Name)]:
        found += [Probed(name)] if name in scene.args else scene.line.names.get(name, [])
    return scene.open(found)
