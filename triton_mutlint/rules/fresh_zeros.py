"""Whether every launch that a file shows hands a kernel zeros for a parameter.

If so, `reset_to_zero` gives the kernel what its callers give it, and costs no copy as `restore_value` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.signature.launch_index import Function, Launch, index
from triton_mutlint.signature.launches import bound
from triton_mutlint.types import Kernel

_ZEROS = frozenset({"zeros", "zeros_like", "new_zeros"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def gets_zeros(kernel: Kernel, parameter: str) -> bool:
    """Whether the file launches `kernel`, each time with zeros that nobody has touched since they were made."""
    launches = index(kernel.tree).launches.get(kernel.name, ())
    return bool(launches) and all(_passes_zeros(launch, kernel.parameter_names, parameter) for launch in launches)


def _passes_zeros(launch: Launch, names: tuple[str, ...], parameter: str) -> bool:
    passed = dict(bound(launch.call, names)).get(parameter)
    if passed is None:
        return False
    if not isinstance(passed, ast.Name):
        return _makes_zeros(passed)
    return launch.function is not None and _is_fresh(passed.id, launch.call, launch.function)


def _is_fresh(name: str, call: ast.Call, function: Function) -> bool:
    """Whether `name` holds untouched zeros where `call` stands: assigned once, used for nothing else before."""
    bindings = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and
                not isinstance(n.ctx, ast.Load)]
    if len(bindings) != 1 or any(a.arg == name for a in ast.walk(function.args) if isinstance(a, ast.arg)):
        return False
    made = [n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AnnAssign)) and bindings[0] in _targets(n)]
    if len(made) != 1 or made[0].value is None or not _makes_zeros(made[0].value):
        return False
    if any(_within(loop, call) and not _within(loop, made[0]) for loop in ast.walk(function)
           if isinstance(loop, _LOOPS)):
        return False
    return not any(use.lineno < call.lineno for use in _whole_uses(function, name) if not _within(call, use))


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _makes_zeros(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in _ZEROS


def _whole_uses(function: Function, name: str) -> Iterator[ast.Name]:
    """Where the tensor itself is used, not only its stride, shape, dtype and the like."""
    questions = {id(n.value) for n in ast.walk(function) if isinstance(n, ast.Attribute) and _asks(n.attr)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) \
                and id(node) not in questions:
            yield node


def _asks(attribute: str) -> bool:
    return attribute in {"stride", "shape", "size", "dtype", "device", "numel", "dim", "ndim", "is_contiguous",
                         "element_size", "is_cuda"}


def _within(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))
