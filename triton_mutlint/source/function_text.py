"""What a function takes from those around it, and what its text says of it: whether it may be a jit function, a kernel
or a helper of others.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping, Set
from typing import Any

from triton_mutlint.source.walking import BLOCKS, bound_in, called, dotted, walk

# What Triton's own modules are commonly called wherever they are imported from.
TRITON_NAMES = {"triton": "triton", "tl": "triton.language", "tldevice": "triton.language.extra.libdevice",
                "libdevice": "triton.language.extra.libdevice"}
TRITON = frozenset({*TRITON_NAMES, "gl", "ttgl"})
LANGUAGES = ("triton.language", "triton.experimental.gluon.language")

_SHAPING = frozenset({"reshape", "trans", "permute", "split", "dot"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def returns_value(node: ast.FunctionDef) -> bool:
    """Whether a `return` with a value other than None stands in the function itself."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        child = stack.pop()
        if isinstance(child, ast.Return):
            value = child.value
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                return True
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for block in BLOCKS.get(child.__class__, ()):
                stack.extend(getattr(child, block))
    return False


def takes_blocks(node: ast.FunctionDef) -> bool:
    """Whether a parameter is used as only a tensor of blocks can be (`x[:, None]`, `tl.reshape(x, …)`).

    A launch passes scalars and pointers, which have no dimensions, and tuples, of which one index takes a part:
    only other jit functions call this one.
    """
    names = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    reads = [c for c in walk(node) if isinstance(c, (ast.Subscript, ast.Call))]
    found = {name for child in reads if (name := _block(child)) in names}
    if not found:
        return False
    rebound = {c.id for c in walk(node) if isinstance(c, ast.Name) and isinstance(c.ctx, ast.Store)}
    return bool(found - rebound)


def _block(node: ast.Subscript | ast.Call) -> str:
    """The name that an expression uses as a tensor with dimensions."""
    if isinstance(node, ast.Subscript):
        spread = isinstance(node.slice, ast.Tuple) and any(isinstance(p, ast.Slice) for p in node.slice.elts)
        return node.value.id if spread and isinstance(node.value, ast.Name) else ""
    chain = dotted(node.func)
    if len(chain) != 2 or chain[0] not in TRITON or chain[1] not in _SHAPING or not node.args:
        return ""
    value = node.args[0]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
        value = value.func.value
    return value.id if isinstance(value, ast.Name) else ""


def may_be_jit(node: ast.AST) -> bool:
    """Whether a decorator's own text may make a jit function; the cheap test before evaluating anything."""
    return isinstance(node, ast.FunctionDef) and any(map(mentions_jit, node.decorator_list))


def mentions_jit(decorator: ast.expr) -> bool:
    """`@triton.jit`, `@jit(…)`, `@my_jit`, `@partial(triton.jit, …)`."""
    chain = called(decorator)
    if chain and "jit" in chain[-1].lower():
        return True
    if isinstance(decorator, ast.Call) and chain and chain[-1] == "partial":
        return any("jit" in (dotted(a) or ("",))[-1] for a in decorator.args)
    return False


def called_from_outside(calls: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The functions that another one calls, other than those that call each other and nobody else calls.

    `calls` gives the names that each function may call.
    """
    called = {name for caller, names in calls.items() for name in names if name != caller and name in calls}
    reached = {name: _reached(name, calls) for name in called}
    return frozenset(
        name for name in called
        if any(name in names and caller not in reached[name] for caller, names in calls.items() if caller != name)
    )  # fmt: skip


def _reached(start: str, calls: Mapping[str, frozenset[str]]) -> set[str]:
    reached = {start}
    while more := {name for caller in reached for name in calls.get(caller, ())} - reached:
        reached |= more
    return reached


def closure(function: Any) -> dict[str, Any]:
    """Closure variables that have a value."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    found = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        with contextlib.suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return found


def parameters(args: ast.arguments) -> list[tuple[str, ast.expr | None]]:
    """The names of the parameters, with their defaults."""
    positional = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(positional) - len(args.defaults)), *args.defaults, *args.kw_defaults]
    pairs = [(a.arg, default) for a, default in zip([*positional, *args.kwonlyargs], defaults, strict=True)]
    return [*pairs, *((a.arg, None) for a in (args.vararg, args.kwarg) if a is not None)]


def differ(tree: ast.Module, node: ast.FunctionDef) -> bool:
    """Whether what `node`, somewhere in `tree`, makes depends on an argument of a function around it, or on the round
    of a loop.
    """
    read, end = _read(node), node.end_lineno or node.lineno
    return any(not read.isdisjoint(_varying(outer, node)) for outer in walk(tree)
               if isinstance(outer, (*_FUNCTIONS, *_LOOPS)) and outer.lineno < node.lineno
               and end <= (outer.end_lineno or outer.lineno))


def _varying(outer: ast.AST, kernel: ast.FunctionDef) -> set[str]:
    """The names whose values are those of a function's arguments, or of a round of a loop, or are computed from such,
    conditions included.
    """
    if not isinstance(outer, _FUNCTIONS):
        return {*bound_in(outer)}
    inside = {*walk(kernel)}
    statements = [(_read(node, inside), bound_in(node)) for node in walk(outer)
                  if isinstance(node, ast.stmt) and node is not outer and node not in inside]
    found = {name for name, _ in parameters(outer.args)}
    while more := {name for read, bound in statements if read & found for name in bound} - found:
        found |= more
    return found


def _read(node: ast.AST, but: Set[ast.AST] = frozenset()) -> set[str]:
    return {inner.id for inner in walk(node)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner not in but}
