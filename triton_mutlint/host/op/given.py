"""What an op's function is given when the op is called: its arguments, as values to follow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from triton_mutlint.host.declarations.functions import AROUND, CONTAINERS, PLAIN_TYPES, words
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules.module import HostFunction
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Cell, defaults
from triton_mutlint.host.values.values import PLAIN, Sort, Value, constant, given_tensor, join

_LISTS = CONTAINERS - {"Tuple", "tuple"}
_NONE = frozenset({"None", "Optional"})


def positional(function: HostFunction) -> list[ast.arg]:
    """Its parameters that may be passed by position."""
    return [*function.args.posonlyargs, *function.args.args]


def entry(op: OpRegistration, function: HostFunction, scope: tuple[object, ...], state: State) -> dict[str, Value]:
    """What the function's parameters hold when the op is called."""
    takes = function.args
    ordered = positional(function)
    given: dict[str, Value] = {}
    if any(node is function for node in op.keysets) and ordered:
        given[ordered.pop(0).arg] = PLAIN
    by_position = [name for name in op.arguments if name not in op.keyword_only]
    for parameter, name in zip(ordered, by_position or [a.arg for a in ordered], strict=False):
        given[parameter.arg] = _root_of(op, name, parameter, scope, state, _is_none(defaults(takes).get(parameter.arg)))
    left_out = defaults(takes) if op.arguments else {}
    for parameter in (*ordered, *takes.kwonlyargs):
        default = left_out.get(parameter.arg)
        if parameter.arg in given:
            continue
        if isinstance(default, ast.Constant) and parameter.arg not in op.arguments:  # nothing else is ever passed
            given[parameter.arg] = constant(default.value)
        else:
            given[parameter.arg] = _root_of(op, parameter.arg, parameter, scope, state, _is_none(default))
    more = by_position[len(ordered) :]
    by_name = [name for name in op.keyword_only if name not in given]
    for variadic, kind, names in ((takes.vararg, "tuple", more), (takes.kwarg, "dict", by_name)):
        if variadic is None:
            continue
        keys = enumerate(names) if kind == "tuple" else zip(names, names, strict=True)
        fields: dict[object, Value] = {key: _root_of(op, name, None, scope, state) for key, name in keys}
        rest = Value() if op.arguments else _root(variadic.arg, None, scope, state, False)
        size = len(names) if op.arguments and (kind == "tuple" or {*op.given} >= {*names}) else None
        given[variadic.arg] = state.make((*scope, variadic.arg), Cell(fields, rest, size, kind=kind))
    return given


def _is_none(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and default.value is None


def _root_of(op: OpRegistration, name: str, parameter: ast.arg | None, scope: tuple[object, ...],
             state: State, left_out: bool = False) -> Value:
    """An argument; `left_out` if it may be None because that is its default."""
    if name in op.given:
        return given_tensor(name)
    if name in op.lists:
        return state.make((*scope, name), Cell(rest=given_tensor(name)))
    return PLAIN if name in op.plain else _root(
        name, parameter.annotation if parameter is not None else None, scope, state, left_out)


def _root(name: str, annotation: ast.expr | None, scope: tuple[object, ...], state: State, left_out: bool) -> Value:
    """What an op argument is at first: itself."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            annotation = None
    tensor = Value(same=frozenset([name]), kind=Sort.TENSOR)
    if annotation is None:
        return tensor
    held = _word_set(annotation)
    if held - AROUND and held - AROUND <= PLAIN_TYPES:
        return replace(PLAIN, wide=all(_word_set(choice) & _LISTS for choice in _choices(annotation)))
    if not held & _NONE and not left_out and all("Tensor" in word for word in held - AROUND):
        tensor = given_tensor(name)
    if not any("Tensor" in word for word in held):
        tensor = replace(tensor, kind=Sort.TENSOR | Sort.OTHER)
    if held & CONTAINERS:
        made = state.make((*scope, name), Cell(rest=tensor))
        alone = any(not held & CONTAINERS and held - PLAIN_TYPES for held in map(_word_set, _choices(annotation)))
        return join(made, tensor) if alone else made
    return tensor


def _choices(annotation: ast.expr) -> Iterator[ast.expr]:
    """The types of which an argument may be: those of `A | B`, `Union[A, B]`, `Optional[A]`."""
    if isinstance(annotation, ast.BinOp):
        yield from (*_choices(annotation.left), *_choices(annotation.right))
    elif isinstance(annotation, ast.Subscript) and next(words(annotation.value), "") in ("Union", "Optional"):
        listed = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        for one in listed:
            yield from _choices(one)
    else:
        yield annotation


def _word_set(annotation: ast.expr) -> set[str]:
    return set(words(annotation))
