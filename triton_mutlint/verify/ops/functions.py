"""Autograd functions as ops that can be called: what they take, and what their `backward` is given."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import torch

from triton_mutlint.verify.ops.arguments import CallableOp, OpParameter

_NUMBERS = ("bool", "int", "float", "str", "dtype")
_ABOUT_TENSORS = ("save_for_backward", "mark_dirty", "mark_non_differentiable")  # methods of the context
_DEEP = 5  # calls from `forward` on, into which a parameter is followed


def callable_function(owner: Any, pointers: Collection[str] = ()) -> CallableOp:
    """The function `owner.apply`, with arguments by name; `pointers` are those of kernels: `kernel.parameter`."""
    context = int(owner.setup_context is torch.autograd.Function.setup_context)
    listed = list(inspect.signature(owner.forward).parameters.values())[context:]
    takes = [_parameter(p, _Uses(owner.forward, pointers)) for p in listed if p.kind is not p.VAR_KEYWORD]
    defaults = [(p.name, None if p.default is p.empty else p.default, p.kind is p.VAR_POSITIONAL) for p in listed]
    given = list(inspect.signature(owner.backward).parameters.values())[1:]
    gradients = [f"{p.name}[]" if p.kind is p.VAR_POSITIONAL else p.name for p in given]
    call = partial(_apply, owner, defaults)
    return CallableOp(call, call, takes, None, tuple(gradients))


def _apply(owner: Any, takes: list[tuple[str, Any, bool]], **given: Any) -> Any:
    """`apply` takes no arguments by name."""
    passed: list[Any] = []
    last = 0  # of what is given: more would ask `backward` for more gradients
    for name, default, is_rest in takes:
        passed.extend(given.get(name, ()) if is_rest else [given.get(name, default)])
        last = len(passed) if name in given else last
    return owner.apply(*passed[:last])


@dataclass(frozen=True)
class _Uses:
    """What the code of `function` takes its parameters for."""

    function: Any
    pointers: Collection[str]

    def of(self, function: Any, name: str, depth: int) -> Iterator[str]:
        """What kind of thing the code takes a parameter for: "Tensor", "str", "bool", "int" (a kernel's constant)."""
        function = inspect.unwrap(function)
        tree = _tree(function)
        for node in ast.walk(tree) if tree is not None and depth else ():
            parts = [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.Name) and inner.id == name]
            if isinstance(node, ast.Call):
                yield from self._passed(function, node, name, depth)
            elif parts and isinstance(node, ast.Attribute):
                yield "Tensor" if hasattr(torch.Tensor, node.attr) else ""
            elif parts and isinstance(node, ast.Compare):
                yield from ("str" for c in node.comparators if isinstance(c, ast.Constant) and isinstance(c.value, str))
            elif parts and (isinstance(node, (ast.If, ast.IfExp, ast.BoolOp)) or
                            (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))):
                yield "bool"

    def _passed(self, function: Any, call: ast.Call, name: str, depth: int) -> Iterator[str]:
        """The same of what it is passed to: a function of Python, of torch, or a kernel."""
        places: list[int | str] = [i for i, a in enumerate(call.args) if isinstance(a, ast.Name) and a.id == name]
        places += [k.arg for k in call.keywords if isinstance(k.value, ast.Name) and k.value.id == name and k.arg]
        launched = isinstance(call.func, ast.Subscript)
        target = call.func.value if isinstance(call.func, ast.Subscript) else call.func
        callee: Any = _meant(target, function) if places else None
        while launched and hasattr(callee, "fn") and not hasattr(callee, "params"):
            callee = callee.fn  # what tunes a kernel
        is_torch = str(getattr(callee, "__module__", "")).partition(".")[0] == "torch" and places == [0]
        if is_torch or (places and isinstance(target, ast.Attribute) and target.attr in _ABOUT_TENSORS):
            yield "Tensor"
        if launched and hasattr(callee, "params"):
            by_name = {p.name: p for p in callee.params}
            for place in places:
                p = by_name.get(list(by_name)[place] if isinstance(place, int) and place < len(by_name) else str(place))
                if p is not None and p.is_constexpr:
                    yield "int"
                elif p is not None and f"{callee.fn.__name__}.{p.name}" in self.pointers:
                    yield "Tensor"
        elif inspect.isfunction(callee):
            names = list(inspect.signature(callee).parameters)
            for place in places:
                inner = names[place] if isinstance(place, int) and place < len(names) else place
                yield from self.of(callee, str(inner), depth - 1)


def _parameter(p: inspect.Parameter, uses: _Uses) -> OpParameter:
    """One parameter: its kind is what its annotation says, or its default, or what the code does with it."""
    words = [] if p.annotation is p.empty else re.findall(r"\w+", inspect.formatannotation(p.annotation))
    told = [w for w in words if w.endswith("Tensor") or w in _NUMBERS]
    if words:
        kind = next(("Tensor" if w.endswith("Tensor") else w for w in told), "")
    elif p.default is not p.empty and p.default is not None:
        kind = type(p.default).__name__
    else:
        found = set(uses.of(uses.function, p.name, _DEEP))
        kind = next((k for k in ("Tensor", "str", "bool", "int") if k in found), "" if p.default is None else "float")
    is_list = p.kind is p.VAR_POSITIONAL or any(w.lower() in ("list", "tuple", "sequence") for w in words)
    default = None if p.default is p.empty else repr(p.default)
    return OpParameter(p.name, kind, p.default is None or bool({"None", "Optional"} & set(words)), is_list, default)


def _meant(node: ast.expr, function: Any) -> Any:
    """What a dotted name means in a function's module."""
    if isinstance(node, ast.Attribute):
        return getattr(_meant(node.value, function), node.attr, None)
    return getattr(function, "__globals__", {}).get(node.id) if isinstance(node, ast.Name) else None


@lru_cache
def _tree(function: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
