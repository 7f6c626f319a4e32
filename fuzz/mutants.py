"""The analysis broken in one place at a time.

Three sorts: rows of the effects table and of the asm tables that are gone or wrong, transfer functions and
handlers that do nothing or too much, and single statements and conditions of the analysis' functions.
Each is applied in a forked process, which then ends: nothing is put back.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from triton_mutlint.analysis import (
    conditions,
    contexts,
    effects,
    lattice,
    opaque,
    printed,
    single,
    solver,
    static,
    transfer,
    values,
    verdict,
)
from triton_mutlint.ttir import asm, asm_gcn, asm_ptx, asm_steps, ops
from triton_mutlint.ttir.ops import Flow, OpInfo

CODE = (transfer, single, solver, lattice, values, printed, contexts, effects, opaque, verdict, conditions, static,
        asm, asm_ptx, asm_gcn, asm_steps)
HANDLERS = ("_branches", "_for", "_while", "_combine", "_map", "_call", "_branch", "split", "inline_asm",
            "extern", "displace", "pure", "memory_op", "unknown")  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One fault to plant; `apply` raises Unfit where it cannot be planted in a running process."""

    name: str
    apply: Callable[[], None]


class Unfit(Exception):  # noqa: N818  # no error: the mutant is passed over
    """The change does not fit the function: it would have other free variables."""


def mutants() -> Iterator[Mutant]:
    """Every mutant, the same ones in the same order each time."""
    yield from _rows()
    yield from _functions()
    yield from _asm_tables()
    for module in CODE:
        yield from _statements(module)


# ---------------------------------------------------------------------- tables


def _rows() -> Iterator[Mutant]:
    for row in ops.rows():
        yield Mutant(f"ops: no row {row.name}", partial(_set_row, row.name, None))
        for field in ("reads", "writes", "atomics"):
            if getattr(row, field):
                without: Any = {field: ()}
                yield Mutant(f"ops: {row.name} without {field}", partial(_set_row, row.name, replace(row, **without)))
        if row.reads:
            changed = replace(row, reads=(), writes=row.reads)
            yield Mutant(f"ops: {row.name} writes what it reads", partial(_set_row, row.name, changed))
        if not row.touches_memory and row.flow is not Flow.SPECIAL:
            other = Flow.ALL if row.flow is Flow.NONE else Flow.NONE
            yield Mutant(f"ops: {row.name} flow {other.value}", partial(_set_row, row.name, replace(row, flow=other)))


def _set_row(name: str, row: OpInfo | None) -> None:
    """Change the table, and what other modules made of it when they were imported."""
    if row is None:
        del ops._TABLE[name]
    else:
        ops._TABLE[name] = row
    transfer.PURE.pop(name, None)
    if row is not None and (function := transfer.function_of(row)) is not None:
        transfer.PURE[name] = function
    quiet = frozenset(r.name for r in ops.rows() if not r.touches_memory)
    effects.QUIET = quiet - {opaque.INLINE_ASM, opaque.EXTERN, "tt.call"}


def _asm_tables() -> Iterator[Mutant]:
    for module in (asm_ptx, asm_gcn):
        for name, table in vars(module).items():
            if name.startswith("_") and name[1].isupper() and isinstance(table, (set, frozenset, dict, tuple)):
                for entry in sorted(table, key=str):
                    yield Mutant(f"{module.__name__.rpartition('.')[2]}: {name} without {entry}",
                                 partial(_drop, module, name, entry))


def _drop(module: types.ModuleType, name: str, entry: object) -> None:
    table = getattr(module, name)
    if isinstance(table, dict):
        setattr(module, name, {k: v for k, v in table.items() if k != entry})
    else:
        setattr(module, name, type(table)(e for e in table if e != entry))


def _functions() -> Iterator[Mutant]:
    for name, function in vars(transfer).items():
        if inspect.isfunction(function) and not name.startswith("_") and function is not transfer.function_of:
            for other in (transfer.number, transfer.join):
                if other is not function:
                    yield Mutant(f"transfer: {name} is {other.__name__}", partial(_replace_transfer, name, other))
    for name in HANDLERS:
        yield Mutant(f"solver: {name} does nothing", partial(setattr, solver.Solver, name, _nothing))


def _nothing(*_: object) -> None:
    """In place of a handler."""


def _replace_transfer(name: str, other: Callable[..., int]) -> None:
    function = getattr(transfer, name)
    setattr(transfer, name, other)
    tables: tuple[dict[Any, Any], ...] = (transfer.BY_OP, transfer.BY_FLOW, transfer.BY_CONSTANT, transfer.PURE)
    for table in tables:
        table.update({key: other for key, value in table.items() if value is function})


# ---------------------------------------------------------------------- statements


def _statements(module: types.ModuleType) -> Iterator[Mutant]:
    """One statement gone, one condition decided, or one operand of a union gone."""
    tree = ast.parse(inspect.getsource(module))
    short = module.__name__.rpartition(".")[2]
    for path, function in _definitions(tree.body, ""):
        for number, (label, _) in enumerate(_edits(function)):
            yield Mutant(f"{short}.{path}: {label}", partial(_recompile, module, path, number))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield f"{prefix}{node.name}", node


Edit = Callable[[], None]


def _edits(function: ast.FunctionDef) -> Iterator[tuple[str, Edit]]:
    """Changes of a function's tree, each to be made on its own copy."""
    for node in ast.walk(function):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                for index, item in enumerate(value):
                    yield from _edits_of(item, partial(value.__setitem__, index))
            elif isinstance(value, ast.AST):
                yield from _edits_of(value, partial(setattr, node, field))


def _edits_of(node: Any, put: Callable[[Any], None]) -> Iterator[tuple[str, Edit]]:
    text = f"line {getattr(node, 'lineno', 0)}: "
    if isinstance(node, (ast.AugAssign, ast.Continue)) or (
            isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)):
        yield f"{text}without `{ast.unparse(node)}`", partial(put, ast.copy_location(ast.Pass(), node))
    elif isinstance(node, (ast.If, ast.IfExp)):
        for value in (True, False):
            constant = ast.copy_location(ast.Constant(value), node.test)
            yield f"{text}`{ast.unparse(node.test)}` is {value}", partial(setattr, node, "test", constant)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd)):
        for side in ("left", "right"):
            kept = getattr(node, side)
            yield f"{text}`{ast.unparse(node)}` is `{ast.unparse(kept)}`", partial(put, kept)
    elif isinstance(node, ast.BoolOp):
        for kept in node.values:
            yield f"{text}`{ast.unparse(node)}` is `{ast.unparse(kept)}`", partial(put, kept)


def _recompile(module: types.ModuleType, path: str, number: int) -> None:
    """Give a function of a module the code that edit `number` makes of it."""
    tree = ast.parse(inspect.getsource(module))
    function = dict(_definitions(tree.body, ""))[path]
    for index, (_, edit) in enumerate(_edits(function)):
        if index == number:
            edit()
            break
    code = _code_of(compile(copy.deepcopy(tree), module.__file__ or path, "exec"), path.split("."))
    target = _function_at(module, path)
    if code.co_freevars != target.__code__.co_freevars:
        raise Unfit
    target.__code__ = code


def _code_of(code: types.CodeType, path: list[str]) -> types.CodeType:
    for name in path:
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    return code


def _function_at(module: types.ModuleType, path: str) -> Any:
    found: Any = module
    for name in path.split("."):
        found = vars(found)[name]
    if hasattr(found, "cache_clear"):
        found.cache_clear()
    for attribute in ("__wrapped__", "__func__", "func", "fget"):
        found = getattr(found, attribute, None) or found
    if not inspect.isfunction(found):
        raise Unfit
    return found
