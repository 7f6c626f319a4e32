"""Where a file launches its kernels, and what its names are assigned."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from triton_mutlint.source.walking import FIELDS, children

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
    for launch in sorted(_launches(tree), key=_place):
        found.setdefault(launch.kernel, []).append(launch)
    return LaunchIndex(tree, {k: tuple(v) for k, v in found.items()}, assignments(tree.body))


def _place(launch: Launch) -> tuple[int, int, int, int]:
    """Sorts by where launches begin, the outer of nested ones first."""
    call = launch.call
    return call.lineno, call.col_offset, -(call.end_lineno or 0), -(call.end_col_offset or 0)


def _launches(tree: ast.Module) -> Iterator[Launch]:
    """Every launch of the file, in no order; a kernel's body launches nothing."""
    work: list[tuple[ast.AST, Function | None]] = [(tree, None)]
    while work:
        top, function = work.pop()
        stack = list(children(top))
        while stack:
            node = stack.pop()
            cls = node.__class__
            if cls is ast.FunctionDef or cls is ast.AsyncFunctionDef:
                assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                if not any(map(_is_jit, node.decorator_list)):
                    work.append((node, node))
                continue
            if cls is ast.Call:
                assert isinstance(node, ast.Call)
                if name := launched_name(node.func):
                    yield Launch(name, node, function)
            for field_name in FIELDS.get(cls, ()):
                value = getattr(node, field_name)
                if value.__class__ is list:
                    stack.extend(value)
                elif value is not None:
                    stack.append(value)


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
