"""Where a file launches its kernels (`k[grid](x, x.stride(0), BLOCK=64)`), and what it plainly says there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from triton_mutlint.kernel_source.objects import UNKNOWN, member, own, plain
from triton_mutlint.source.jit.launched import launched
from triton_mutlint.source.outline import Function, outline
from triton_mutlint.types import Kernel

_MAX_SITES = 12  # launches of one kernel that are read
_TYPES = {"int": int, "float": float, "bool": bool}


@dataclass(frozen=True, eq=False)
class Launch:
    """One launch call, and the function it stands in."""

    call: ast.Call
    function: Function | None


@dataclass(frozen=True, eq=False)
class LaunchIndex:
    """All launches of one file by kernel name, and the file's simple constants."""

    launches: Mapping[str, tuple[Launch, ...]]
    constants: Mapping[str, ast.expr | None]


@dataclass(frozen=True)
class Passed:
    """What a launch passes: a plain value, a dtype or a function; UNKNOWN where only the type is known."""

    type: type
    value: Any
    line: int


@lru_cache(maxsize=64)
def index(tree: ast.Module) -> LaunchIndex:
    """Find every launch of a file (keyed by the tree's identity); one of several kernels is one of each."""
    file = outline(tree)
    around = {call: function.node for function in file.functions for call in function.calls}
    found: dict[str, list[Launch]] = {}
    for call in sorted(file.calls, key=_place):
        for name in launched(call):
            found.setdefault(name, []).append(Launch(call, around.get(call)))
    return LaunchIndex({k: tuple(v) for k, v in found.items()}, assignments(tree.body))


def _place(call: ast.Call) -> tuple[int, int, int, int]:
    """Sorts by where calls begin, the outer of nested ones first."""
    return call.lineno, call.col_offset, -(call.end_lineno or 0), -(call.end_col_offset or 0)


def bound(call: ast.Call, parameters: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """Parameters and the expressions passed for them; stops at a starred argument."""
    for name, expression in zip(parameters, call.args, strict=False):
        if isinstance(expression, ast.Starred):
            break
        yield name, expression
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg in parameters:
            yield keyword.arg, keyword.value


# --------------------------------------------------------------------------- what is passed


def passed(kernel: Kernel) -> dict[str, tuple[Passed, ...]]:
    """What the launches in the kernel's own file plainly pass for each parameter, each value once."""
    file = index(kernel.tree)
    found: dict[str, list[Passed]] = {}
    for launch in file.launches.get(kernel.name, ())[:_MAX_SITES]:
        names = {**file.constants, **(assignments(launch.function.body) if launch.function else {})}
        for name, expression in bound(launch.call, kernel.parameter_names):
            for type_, value in _values(expression, launch, names, kernel.namespace, set()):
                seen = found.setdefault(name, [])
                if not any(s.type is type_ and s.value == value for s in seen):
                    seen.append(Passed(type_, value, launch.call.lineno))
    return {name: tuple(values) for name, values in found.items()}


def _values(node: ast.expr, launch: Launch, names: Mapping[str, ast.expr | None], namespace: Mapping[str, Any],
            seen: set[str]) -> Iterator[tuple[type, Any]]:
    """The types and values that an expression may have, as far as it is a literal or a name for something known.

    `seen` are the names that were followed: each is followed once.
    """
    def inside(*nodes: ast.expr) -> Iterator[tuple[type, Any]]:
        for part in nodes:
            yield from _values(part, launch, names, namespace, seen)

    if isinstance(node, ast.IfExp):
        yield from inside(node.body, node.orelse)
    elif isinstance(node, ast.BinOp):
        left, right = ({type_ for type_, _ in inside(side)} for side in (node.left, node.right))
        if left and right and left | right <= {int, float}:  # else one of them may be a tensor
            yield float if float in left | right or isinstance(node.op, ast.Div) else int, UNKNOWN
    elif isinstance(node, ast.Name) and (annotated := _annotated(launch, node.id)) is not None:
        yield annotated, UNKNOWN
    elif isinstance(node, ast.Name) and (assigned := names.get(node.id)) is not None:
        if node.id not in seen:
            seen.add(node.id)
            yield from inside(assigned)
    elif (value := _known(node, namespace)) is not UNKNOWN:
        yield type(value), value


def _known(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        value = _looked_up(node, namespace)
        return value if own(value, "arg_names") is not None else plain(value)


def _looked_up(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """The object that a dotted name stands for; only modules and classes are looked into."""
    if isinstance(node, ast.Attribute):
        owner = _looked_up(node.value, namespace)
        return member(owner, node.attr) if isinstance(owner, (ModuleType, type)) else UNKNOWN
    return namespace.get(node.id, UNKNOWN) if isinstance(node, ast.Name) else UNKNOWN


def _annotated(launch: Launch, name: str) -> type | None:
    """The type of a parameter of the launching function."""
    spec = launch.function.args if launch.function else None
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs) if spec else ():
        if argument.arg == name and isinstance(argument.annotation, ast.Name):
            return _TYPES.get(argument.annotation.id)
    return None


# --------------------------------------------------------------------------- what names are assigned


def assignments(body: Sequence[ast.stmt]) -> dict[str, ast.expr | None]:
    """Names that statements assign: to the expression when there is one only, else to None."""
    found: dict[str, ast.expr | None] = {}
    for statement in body:
        for node in _statements(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    _assigned(target, node.value, found)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                _assigned(node.target, node.value, found)
            elif isinstance(node, (ast.For, ast.AugAssign)):
                _assigned(node.target, None, found)
    return found


def _statements(statement: ast.stmt) -> Iterator[ast.AST]:
    yield statement
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody", "handlers"):
        for child in getattr(statement, name, ()) or ():
            if isinstance(child, (ast.stmt, ast.ExceptHandler)):
                yield from _statements(child)  # type: ignore[arg-type]


def _assigned(target: ast.expr, value: ast.expr | None, found: dict[str, ast.expr | None]) -> None:
    if isinstance(target, ast.Name):
        found[target.id] = value if target.id not in found else _either(found[target.id], value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        for i, item in enumerate(target.elts):
            _assigned(item, values[i] if i < len(values) else None, found)


def _either(first: ast.expr | None, second: ast.expr | None) -> ast.expr | None:
    """Two assignments of one name: one expression that may be either, as long as both are known."""
    if first is None or second is None:
        return None
    test = ast.Name("", ast.Load())
    return ast.copy_location(ast.IfExp(test, first, second), first)
