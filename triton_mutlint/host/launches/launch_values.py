"""The values that a launch passes: which of them are known, and what they rule out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from triton_mutlint.host.declarations.functions import parameters
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments, defaults
from triton_mutlint.host.values.values import KernelValue, Sort, Value
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import (
    ConstexprValue,
    KernelReport,
    LaunchArgument,
    Mutation,
    ParameterKind,
    ParameterReport,
)


def fixed(verdict: KernelReport, given: Mapping[str, Value], meaning: Callable[[str], Value]) -> dict[str, str]:
    """The compile-time values that the launch itself fixes, as reports print them, where they were analysed.

    `meaning` says what a name stands for in the kernel's file.
    """
    values = {p.name: p.type.split(" | ") for p in verdict.parameters if p.kind is ParameterKind.CONSTEXPR}
    if any(", " in value for several in values.values() if len(several) > 1 for value in several):
        return {}  # conditions are not told apart then
    texts = {name: _text(given[name], several, meaning) for name, several in values.items() if name in given}
    return {name: text for name, text in texts.items() if text in values[name]}


def _text(value: Value, several: Sequence[str], meaning: Callable[[str], Value]) -> str:
    """How reports print a value, if it is one of several: a jit function by a name of it."""
    if value.constant is not None:
        return str(ConstexprValue(value.constant[1]))
    is_function = len(value.things) == 1 and all(isinstance(t, KernelValue) for t in value.things)
    return next((text for text in several if is_function and meaning(text) == value), "")


def switched_off(parameter: ParameterReport, fixed: Mapping[str, str]) -> bool:
    """Whether no analysed variant with the values that the launch fixes writes the parameter."""
    if parameter.mutation is not Mutation.CONDITIONAL:
        return False
    conditions = [dict(part.split("=", 1) for part in when.split(", ") if "=" in part) for when in parameter.when]
    return all(any(needed.get(name, text) != text for name, text in fixed.items()) for needed in conditions)


def fixes_a_branch(kernel: ast.FunctionDef, given: Mapping[str, Value]) -> bool:
    """Whether a launch passes, or leaves at its default, a flag or number that the kernel tests."""
    left = {name: default.value for name, default in defaults(kernel.args).items()
            if name not in given and isinstance(default, ast.Constant)}
    passed = {name: value.constant[1] for name, value in given.items() if value.constant is not None}
    known = {name for name, value in {**left, **passed}.items() if isinstance(value, (bool, int))}
    run_time = known - {a.arg for a in parameters(kernel) if a.annotation is not None and "constexpr" in
                        ast.unparse(a.annotation)}
    tests = (node.test for node in ast.walk(kernel) if isinstance(node, (ast.If, ast.IfExp)))
    return bool(run_time) and any(
        isinstance(name, ast.Name) and name.id in run_time for test in tests for name in ast.walk(test))


def without_what_heuristics_set(kernel: ast.FunctionDef, arguments: Arguments) -> Arguments:
    """The arguments of a launch without those by name that a heuristic gives another value."""
    written = (e for d in kernel.decorator_list if isinstance(d, ast.Call) and dotted(d.func)[-1:] == ("heuristics",)
               for e in (*d.args, *(k.value for k in d.keywords)) if isinstance(e, ast.Dict))
    names = {key.value for values in written for key in values.keys if isinstance(key, ast.Constant)}
    return replace(arguments, named={n: v for n, v in arguments.named.items() if n not in names})


def told(value: Value, state: State) -> LaunchArgument:
    """What is known of an argument."""
    if value.constant is not None:
        return LaunchArgument(constant=value.constant)
    alone = not value.kind and not value.roots
    if alone and not value.cells and len(value.things) == 1:
        (one,) = value.things
        if isinstance(one, KernelValue) and one.node in one.module.tree.body:  # a factory's products share a `def`
            return LaunchArgument(function=(str(one.module.path), one.node.name, one.node.lineno))
    contents = state.contents(value)
    if alone and not value.things and len(value.cells) == len(contents) == 1 and contents[0].kind == "tuple":
        listed = contents[0].listed() if contents[0].owner is None else None
        if listed is not None:
            return LaunchArgument(items=tuple(told(element, state) for element in listed))
    simple = not value.things and not value.cells
    return LaunchArgument(
        is_tensor=simple and value.kind == Sort.TENSOR, is_present=simple and value.some,
        is_number=simple and value.kind == Sort.PLAIN and not value.roots,
    )
