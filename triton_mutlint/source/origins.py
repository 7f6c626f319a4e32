"""Whether a function whose decorator fails, and has `jit` in its name, has anything to do with Triton."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from triton_mutlint.source.names import TRITON
from triton_mutlint.source.spaces import Space
from triton_mutlint.source.stubs import Missing, UndecidedError
from triton_mutlint.source.walking import dotted, walk

if TYPE_CHECKING:
    from triton_mutlint.source.namespace import Namespace

_DEPTH = 3  # functions that a decorator calls, and those that these call
_FUNCTIONS = 64  # that are looked at for one decorator


def points_to_triton(namespace: Namespace, node: ast.FunctionDef, decorator: ast.expr) -> bool:
    """Whether the function names something of Triton's, or its decorator leads there.

    A decorator is followed through the first-party functions that it calls; one that is called Triton's counts,
    whatever it is.
    """
    if "triton" in ast.unparse(decorator).lower() or any(is_of_triton(namespace, name) for name in _read(node)):
        return True
    seen: set[FunctionType] = set()
    return any(_leads_there(maker, seen, 0) for maker in _makers(namespace, decorator))


def _read(node: ast.AST) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def is_of_triton(namespace: Namespace, name: str) -> bool:
    """Whether a name is Triton, part of it, or what its modules are commonly called and nothing else."""
    try:
        value = namespace.lookup(name)
    except (Exception, UndecidedError):  # linted code is evaluated
        return name in TRITON
    return _is_triton(value)


def _is_triton(value: Any) -> bool:
    if isinstance(value, Missing):
        return value.mutlint_root.partition(".")[0] in TRITON
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return any(str(m).partition(".")[0] == "triton" for m in (module, type(value).__module__))


def _makers(namespace: Namespace, decorator: ast.expr) -> Iterator[Any]:
    """What the decorator's names stand for: its own, and of `partial(jit, …)` the function's."""
    call = decorator if isinstance(decorator, ast.Call) else None
    for part in [decorator] if call is None else [call.func, *call.args]:
        if chain := dotted(part):
            try:
                yield namespace.evaluate(part)
            except (Exception, UndecidedError):  # linted code is evaluated
                if chain[0] in TRITON:
                    import triton

                    yield triton


def _leads_there(value: Any, seen: set[FunctionType], depth: int) -> bool:
    """Whether `value` is Triton's, or a first-party function that reads something of Triton's, or calls one."""
    if _is_triton(value):
        return True
    if not isinstance(value, FunctionType) or not isinstance(value.__globals__, Space):
        return False
    if value in seen or depth > _DEPTH or len(seen) >= _FUNCTIONS:
        return False
    seen.add(value)
    space, names = cast("Namespace", value.__globals__), _names(value.__code__)
    for name in sorted(names):
        units = space.scope.by_name.get(name, ())
        if name in TRITON and not units:
            return True
        if any(unit.alias is not None or isinstance(unit.node, ast.FunctionDef) for unit in units):
            with contextlib.suppress(Exception, UndecidedError):  # linted code is evaluated
                read = space.lookup(name)
                if any(_leads_there(one, seen, depth + 1) for one in (read, *_jits(read, names))):
                    return True
    return False


def _jits(value: Any, names: set[str]) -> Iterator[Any]:
    """What code that reads a module may take from it for a `jit`."""
    for name in sorted(names) if isinstance(value, ModuleType) else ():
        if "jit" in name.lower():
            with contextlib.suppress(Exception, UndecidedError):  # linted code is evaluated
                yield getattr(value, name)


def _names(code: CodeType) -> set[str]:
    """Global names that code reads, that of its inner functions included."""
    return set(code.co_names).union(*(_names(c) for c in code.co_consts if isinstance(c, CodeType)))
