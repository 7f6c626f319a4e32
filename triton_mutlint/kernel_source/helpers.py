"""Jit functions as they are found: the kernel itself, and the helpers that it calls."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triton_mutlint.kernel_source.objects import UNKNOWN, named_and_home, own
from triton_mutlint.kernel_source.operations import ANY, PURE, stores
from triton_mutlint.kernel_source.slots import NO_TRACE
from triton_mutlint.kernel_source.values import NOTHING, Env, MayBe, mixed, of_global
from triton_mutlint.source.function_text import closure
from triton_mutlint.source.slicing.spaces import node_of
from triton_mutlint.types import Kernel


@dataclass(frozen=True, eq=False)
class Helper:
    """A jit function as found: its definition, the globals its names are looked up in, and its parameters' defaults."""

    node: ast.FunctionDef
    namespace: Mapping[str, Any]
    file: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)  # as far as they are known

    @classmethod
    def of(cls, kernel: Kernel) -> Helper:
        """The kernel itself, as if it were called."""
        return cls(kernel.node, kernel.namespace, str(kernel.path))


def bound_arguments(helper: Helper, args: list[MayBe], named: Mapping[str, MayBe]) -> Env:
    """What the parameters of a helper hold in a call."""
    formal = helper.node.args
    positional = (*formal.posonlyargs, *formal.args)
    rest = replace(mixed(named.values()) if ANY in named else NOTHING, is_open=True)
    told = {} if ANY in named else helper.defaults
    env = {a.arg: of_global(told[a.arg]) if a.arg in told else rest for a in (*positional, *formal.kwonlyargs)}
    env.update(zip((a.arg for a in positional), args, strict=False))
    env.update((name, value) for name, value in named.items() if name in env)
    if formal.vararg is not None:
        left = args[len(positional):]
        env[formal.vararg.arg] = mixed((rest, *left)) if ANY in named else MayBe(items=tuple(left))
    if formal.kwarg is not None:
        env[formal.kwarg.arg] = replace(mixed(named.values()), is_open=True)
    return env


def any_of(value: MayBe, named: Mapping[str, MayBe]) -> MayBe:
    """What any parameter may get of arguments whose places are not known: nothing says what is done with one alone."""
    return replace(mixed((value, named.get(ANY, NOTHING))), trace=NO_TRACE)


class Program:
    """The jit functions that one kernel can call."""

    def __init__(self, functions: Mapping[str, Helper]) -> None:
        self._functions = functions  # by name: for what the namespace does not hold
        self._helpers: dict[int, tuple[Any, Helper | None]] = {}

    def helper(self, target: Any, name: str = "") -> Helper | None:
        """The helper that a called object is; None for Triton's own functions and what is not jit."""
        if target is UNKNOWN:
            return self._functions.get(name)
        cached = self._helpers.get(id(target))
        if cached is None:
            cached = self._helpers[id(target)] = (target, self._find(target))
        return cached[1]

    def _find(self, target: Any) -> Helper | None:
        jit, function = target, own(target, "fn")
        for _ in range(6):
            if function is None or hasattr(type(jit), "parse"):
                break
            jit, function = function, own(function, "fn")
        name, home = named_and_home(function)
        if function is None or (home.startswith("triton.") and (name in PURE or stores(name))):
            return None
        node = definition(jit, function)
        if node is None:
            return None
        code = getattr(function, "__code__", None)
        return Helper(node, namespace_of(function), getattr(code, "co_filename", ""), _defaults(function))


def namespace_of(function: Any) -> Mapping[str, Any]:
    """Where the names of a function are looked up: in those it was defined in, too."""
    outside, held = getattr(function, "__globals__", {}), closure(function)
    return ChainMap(held, outside) if held else outside


def _defaults(function: Any) -> Mapping[str, Any]:
    """What a function's parameters hold where a call leaves them out."""
    code, given = getattr(function, "__code__", None), getattr(function, "__defaults__", None) or ()
    names = getattr(code, "co_varnames", ())[: getattr(code, "co_argcount", 0)]
    named = getattr(function, "__kwdefaults__", None) or {}
    return {**dict(zip(reversed(names), reversed(given), strict=False)), **named}


def definition(jit: Any, function: Any) -> ast.FunctionDef | None:
    if (known := node_of(function)) is not None:  # read already, with its file
        return known
    lines, start = getattr(jit, "raw_src", None), getattr(jit, "starting_line_number", None)
    try:
        if not isinstance(lines, list) or not isinstance(start, int):
            lines, start = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return None
    ast.increment_lineno(tree, start - 1)
    return next((n for n in tree.body if isinstance(n, ast.FunctionDef)), None)
