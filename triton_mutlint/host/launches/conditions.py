"""Which of a kernel's analysed variants a launch may be, by what is known of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import defaults
from triton_mutlint.host.values.values import KernelValue, Sort, Value
from triton_mutlint.types import (
    ConstexprValue,
    KernelReport,
    LaunchArgument,
    Mutation,
    ParameterKind,
    ParameterReport,
)


def possible(verdict: KernelReport, given: Mapping[str, Value], tuned: Mapping[str, tuple[Value, ...] | None],
             meaning: Callable[[str], Value]) -> dict[str, frozenset[str]]:
    """Of the analysed values and types, those that a launch may have, for the parameters of which something is known.

    `meaning` says what a name stands for in the kernel's file.
    """
    analysed = {p.name: p.type.split(" | ") for p in verdict.parameters}
    constexpr = {p.name for p in verdict.parameters if p.kind is ParameterKind.CONSTEXPR}
    if any(", " in value for name in constexpr if len(analysed[name]) > 1 for value in analysed[name]):
        return {}  # conditions are not told apart then
    found: dict[str, frozenset[str]] = {}
    for name, several in analysed.items():
        values = tuned.get(name)
        if values is not None:
            found[name] = frozenset(_text(value, several, meaning) for value in values) & frozenset(several)
        elif name in tuned:
            continue
        elif name in given and name in constexpr:
            found[name] = frozenset([_text(given[name], several, meaning)]) & frozenset(several)
        elif name in given and given[name].is_constant(None):
            found[name] = frozenset(["None"]) & frozenset(several)
        elif name in given and given[name].some:
            found[name] = frozenset(several) - {"None"}
    return {name: texts for name, texts in found.items() if texts}


def is_odd(parameter: ParameterReport, value: Value) -> bool:
    """Whether a launch passes another value than those that were analysed, which are not guessed."""
    if parameter.kind is not ParameterKind.CONSTEXPR or parameter.inferred or value.things:
        return False
    return value.constant is None or str(ConstexprValue(value.constant[1])) not in parameter.type.split(" | ")


def _text(value: Value, several: Sequence[str], meaning: Callable[[str], Value]) -> str:
    """How reports print a value, if it is one of several: a jit function by a name of it."""
    if value.constant is not None:
        return str(ConstexprValue(value.constant[1]))
    is_function = len(value.things) == 1 and all(isinstance(t, KernelValue) for t in value.things)
    return next((text for text in several if is_function and meaning(text) == value), "")


def switched_off(parameter: ParameterReport, held: Mapping[str, frozenset[str]]) -> bool:
    """Whether no analysed variant with the values that a launch may have writes the parameter."""
    if parameter.mutation is not Mutation.CONDITIONAL:
        return False
    conditions = [dict(part.split("=", 1) for part in when.split(", ") if "=" in part) for when in parameter.when]
    return all(any(name in held and text not in held[name] for name, text in needed.items()) for needed in conditions)


def fixes_a_branch(kernel: ast.FunctionDef, given: Mapping[str, Value]) -> bool:
    """Whether a launch passes, or leaves at its default, a flag or number that the kernel tests."""
    left = {name: default.value for name, default in defaults(kernel.args).items()
            if name not in given and isinstance(default, ast.Constant)}
    passed = {name: value.constant[1] for name, value in given.items() if value.constant is not None}
    known = {name for name, value in {**left, **passed}.items() if isinstance(value, (bool, int))}
    constexpr = {a.arg for a in ast.walk(kernel.args) if isinstance(a, ast.arg) and a.annotation is not None
                 and "constexpr" in ast.unparse(a.annotation)}
    run_time = known - constexpr
    tests = (node.test for node in ast.walk(kernel) if isinstance(node, (ast.If, ast.IfExp)))
    return bool(run_time) and any(
        isinstance(name, ast.Name) and name.id in run_time for test in tests for name in ast.walk(test))


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
