"""Where a file launches its kernels, and what its names are assigned."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Launch:
    """One launch call, and the function it stands in."""

    kernel: str
    call: ast.Call
    function: Function | None


@dataclass(frozen=True, eq=False)
class LaunchIndex:
    """All launches of one file by kernel name, and the file's simple constants."""

    tree: ast.Module
    launches: Mapping[str, tuple[Launch, ...]]
    constants: Mapping[str, ast.expr | None] = field(default_factory=dict)


@lru_cache(maxsize=64)
def index(tree: ast.Module) -> LaunchIndex:
    """Find every `name[grid](...)` of a file (keyed by the tree's identity)."""
    found: dict[str, list[Launch]] = {}
    for call, function in _calls(tree, None):
        name = launched_name(call.func)
        if name:
            found.setdefault(name, []).append(Launch(name, call, function))
    return LaunchIndex(tree, {k: tuple(v) for k, v in found.items()}, assignments(tree.body))


def _calls(node: ast.AST, function: Function | None) -> Iterator[tuple[ast.Call, Function | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not any(_is_jit(d) for d in child.decorator_list):  # a kernel's body launches nothing
                yield from _calls(child, child)
            continue
        if isinstance(child, ast.Call):
            yield child, function
        yield from _calls(child, function)


def _is_jit(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) == "jit"


def launched_name(function: ast.expr) -> str:
    """The kernel's name in `k[grid]`, `module.k[grid]`, `wrap_triton(k)[grid]`, `k.warmup`; else ""."""
    if isinstance(function, ast.Attribute) and function.attr in ("warmup", "run"):
        return name_of(function.value)
    return name_of(function.value) if isinstance(function, ast.Subscript) else ""


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call) and len(node.args) == 1 and "wrap_triton" in ast.unparse(node.func):
        return name_of(node.args[0])
    return ""


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
            of_shape = None
            if isinstance(value, ast.Attribute) and value.attr == "shape":
                of_shape = ast.copy_location(ast.Subscript(value, ast.Constant(i), ast.Load()), value)
            _assigned(item, values[i] if i < len(values) else of_shape, found)


def _either(first: ast.expr | None, second: ast.expr | None) -> ast.expr | None:
    """Two assignments of one name: one expression that may be either, as long as both are known."""
    if first is None or second is None:
        return None
    test = ast.Name("", ast.Load())
    return ast.copy_location(ast.IfExp(test, first, second), first)
