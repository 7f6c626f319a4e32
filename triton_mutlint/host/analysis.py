"""The verdict on a torch op: what its implementations do with its arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from triton_mutlint.host.arguments import Arguments, parameters
from triton_mutlint.host.calls import Interpreter
from triton_mutlint.host.core import STEPS, Activation, TooLargeError, World
from triton_mutlint.host.effects import ByArgument, Effects
from triton_mutlint.host.model import Form, HostFunction, OpRegistration
from triton_mutlint.host.modules import HostModule
from triton_mutlint.host.persisting import left_behind, unforeseen
from triton_mutlint.host.state import State
from triton_mutlint.host.values import PLAIN, Cell, FunctionValue, Kind, Value, constant, join, thing
from triton_mutlint.host.worth import REGISTERS, last_name
from triton_mutlint.model import HostEffect, Location, OpArgument, OpMutation, OpReport

_PLAIN_TYPES = frozenset({
    "int", "float", "bool", "str", "complex", "bytes", "None", "dtype", "device", "layout", "SymInt", "Scalar",
    "Number", "memory_format",
    "Literal", "ScalarType", "constexpr", "Generator", "number",
})  # fmt: skip
_CONTAINERS = frozenset({"List", "list", "Tuple", "tuple", "Sequence", "Iterable", "TensorList", "Collection"})
_CALLS = 2  # of an op, one after the other, where it leaves something for the next
_FLAGS = 3  # of an op, at most, that are tried one way and the other
_AROUND = _CONTAINERS | {"Optional", "Union"}


def analyze_op(op: OpRegistration, world: World | None) -> OpReport:
    """What `op` does to each of its arguments, the union over its implementations.

    `world` is not asked where there are none.
    """
    names = list(op.arguments or _names(op))
    merged, returned = Effects(), set[str]()
    if op.functions:
        assert world is not None, "an implementation is interpreted in a world"
        merged, returned = _followed(op, names, world)
    else:
        merged.gaps[HostEffect(op.location, op.missing or "its implementation was not found")] = None
        for name in names:
            merged.unknown.setdefault(name, {}).update(merged.gaps)
    merged.settle()
    found = [_argument(name, i, merged, returned) for i, name in enumerate(names)]
    return OpReport(
        op.name, op.form.value, op.location, op.declaration, tuple(found), tuple(merged.kernels), not merged.gaps,
        tuple(sorted(merged.gaps)), tuple(merged.unwrapped) if op.form is Form.TRITON_OP else (),
        tuple(merged.unmarked),
    )


def _followed(op: OpRegistration, names: Sequence[str], world: World) -> tuple[Effects, set[str]]:
    """What the code does. Where that is less than what it declares, it is followed again with more held fast.

    Once for each choice of its flags, as one flag may decide on what a kernel is given and on whether
    the kernel writes it; and for bare launches as when it is traced, which is when they matter.
    """
    merged, returned, steps = _effects(op, names, world, {})
    declared = op.declaration.names
    flags = list(dict.fromkeys(a.arg for _, f in op.functions for a in (*_positional(f), *f.args.kwonlyargs)
                               if _is_flag(a)))
    more = declared is not None and {*merged.written, *merged.maybe} - {*declared}
    if more and len(flags) <= _FLAGS:
        together = [flags] if steps << len(flags) < STEPS else [[flag] for flag in reversed(flags)]
        for chosen in together[: max(1, (STEPS - steps) // (2 * steps + 1))] if flags and steps < STEPS // 2 else ():
            refined = _refined(op, names, world, chosen)
            if _wrote(refined) <= _wrote(merged) and len(refined.gaps) <= len(merged.gaps):
                merged = refined
    if op.form is Form.TRITON_OP and merged.unwrapped:
        traced, _, _ = _effects(op, names, world.traced(), {}, tracing=True)
        merged.unwrapped = traced.unwrapped
    return merged, returned


def _wrote(effects: Effects) -> int:
    return len({*effects.written, *effects.maybe})


def _refined(op: OpRegistration, names: Sequence[str], world: World, flags: Sequence[str]) -> Effects:
    """What the code does, the union over the choices of some flags."""
    refined = Effects()
    for chosen in product((False, True), repeat=len(flags)):
        held = {flag: constant(value) for flag, value in zip(flags, chosen, strict=True)}
        _effects(op, names, world, held, refined)
    return refined


def _is_flag(argument: ast.arg) -> bool:
    return isinstance(argument.annotation, ast.Name) and argument.annotation.id == "bool"


def _effects(op: OpRegistration, names: Sequence[str], world: World, held: Mapping[str, Value],
             merged: Effects | None = None, tracing: bool = False) -> tuple[Effects, set[str], int]:
    """What the implementations do, the arguments that they may return, and the statements it took."""
    merged = merged if merged is not None else Effects()
    returned: set[str] = set()
    steps = 0
    for module, function in op.functions:
        interpreter = Interpreter(world)
        interpreter.effects, interpreter.tracing = merged, tracing
        returned |= _run(op, module, function, names, interpreter, held)
        steps += interpreter.steps
    return merged, returned, steps


def unfinished(op: OpRegistration, reason: str) -> OpReport:
    """The report on an op that was not followed to its end: nothing is known of its arguments."""
    return analyze_op(replace(op, functions=(), missing=reason, arguments=op.arguments or _names(op)), None)


def _names(op: OpRegistration) -> tuple[str, ...]:
    return tuple(_all_parameters(op.functions[0][1])) if op.functions else ()


def _run(op: OpRegistration, module: HostModule, function: HostFunction, names: Sequence[str],
         interpreter: Interpreter, held: Mapping[str, Value]) -> set[str]:
    """Interpret one implementation, with what its flags are held to be; the arguments that its results may be."""
    scope = ("op", module.display, function.lineno, function.col_offset)
    interpreter.scopes[scope] = None
    returned: set[str] = set()
    start = State(base=interpreter.module_state.heap, scopes=interpreter.scopes)
    try:
        for _ in range(_CALLS):
            state = start.copy()
            returned |= _call(op, module, function, interpreter, held, state, scope)
            if not state.kept or not unforeseen(state, interpreter.module_state):
                break
            again = left_behind(state, interpreter.module_state)
            if (again.names, again.heap) == (start.names, start.heap):
                break
            start = again
    except (TooLargeError, RecursionError):
        effect = HostEffect(Location(module.display, function.lineno), "its code is too large to be followed")
        interpreter.effects.gaps[effect] = None
        for name in names:
            interpreter.effects.unknown.setdefault(name, {})[effect] = None
        return set()
    return returned


def _call(op: OpRegistration, module: HostModule, function: HostFunction, interpreter: Interpreter,
          held: Mapping[str, Value], state: State, scope: tuple[object, ...]) -> set[str]:
    """Interpret one call of it; the arguments that it returns for certain."""
    here = Activation(module, getattr(function, "name", "<lambda>"), scope, None, function, chain=scope)
    interpreter.steps = 0
    interpreter.active[:] = [here]
    here.entry.update(_entry(op, function, scope, state))
    here.entry.update({name: value for name, value in held.items() if name in here.entry})
    decorated = _decorated(module, function, interpreter)
    if decorated == thing(FunctionValue(module, function)):
        result = interpreter.run(here, state)
    else:
        named = {a.arg: here.entry[a.arg] for a in function.args.kwonlyargs}
        given = tuple(here.entry[a.arg] for a in _positional(function))
        top = replace(interpreter.top(module), chain=scope)
        interpreter.active.clear()
        result = interpreter.call(decorated, Arguments(given, named), function, state, top)
    for effect, value in interpreter.escaped:
        interpreter.effects.gap(effect, state, [value])
    interpreter.escaped.clear()
    same, _ = state.reach([result])
    return set(same)


def _decorated(module: HostModule, function: HostFunction, interpreter: Interpreter) -> Value:
    """The function that is registered: as its own decorators leave it, those aside that register it."""
    value = thing(FunctionValue(module, function))
    for decorator in reversed(getattr(function, "decorator_list", [])):
        if not REGISTERS.search(last_name(decorator)):
            value = interpreter.decorated(decorator, value, interpreter.module_state, interpreter.top(module))
    return value


def _positional(function: HostFunction) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args]


def _all_parameters(function: HostFunction) -> list[str]:
    positional, keyword_only = parameters(function.args)
    variadic = [a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None]
    return [*positional, *keyword_only, *variadic]


def _root_of(op: OpRegistration, name: str, annotation: ast.expr | None, scope: tuple[object, ...],
             state: State) -> Value:
    return PLAIN if name in op.plain else _root(name, annotation, scope, state)


def _root(name: str, annotation: ast.expr | None, scope: tuple[object, ...], state: State) -> Value:
    """What an op argument is at first: itself."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            annotation = None
    tensor = Value(same=frozenset([name]), kind=Kind.TENSOR)
    if annotation is None:
        return tensor
    words = set(_words(annotation))
    if words - _AROUND and words - _AROUND <= _PLAIN_TYPES:
        return PLAIN
    if not any("Tensor" in word for word in words):
        tensor = replace(tensor, kind=Kind.TENSOR | Kind.OTHER)
    if words & _CONTAINERS:
        made = state.make((*scope, name), Cell(rest=tensor))
        alone = any(not words & _CONTAINERS and words - _PLAIN_TYPES for words in map(_word_set, _choices(annotation)))
        return join(made, tensor) if alone else made
    return tensor


def _choices(annotation: ast.expr) -> Iterator[ast.expr]:
    """The types of which an argument may be: those of `A | B`, `Union[A, B]`, `Optional[A]`."""
    if isinstance(annotation, ast.BinOp):
        yield from (*_choices(annotation.left), *_choices(annotation.right))
    elif isinstance(annotation, ast.Subscript) and next(_words(annotation.value), "") in ("Union", "Optional"):
        listed = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        for one in listed:
            yield from _choices(one)
    else:
        yield annotation


def _word_set(annotation: ast.expr) -> set[str]:
    return set(_words(annotation))


def _words(annotation: ast.expr) -> Iterator[str]:
    """The names of the types in an annotation, without those of the modules that they are taken from."""
    if isinstance(annotation, ast.Name):
        yield annotation.id
    elif isinstance(annotation, ast.Attribute):
        yield annotation.attr
    elif isinstance(annotation, ast.Constant):
        if isinstance(annotation.value, str):
            yield from re.findall(r"\w+", annotation.value)
        elif annotation.value is None:
            yield "None"
    elif isinstance(annotation, ast.Subscript) and next(_words(annotation.value), "") == "Literal":
        yield "Literal"
    else:
        for child in ast.iter_child_nodes(annotation):
            if isinstance(child, ast.expr):
                yield from _words(child)


def _entry(op: OpRegistration, function: HostFunction, scope: tuple[object, ...], state: State) -> dict[str, Value]:
    """What the function's parameters hold when the op is called."""
    takes = function.args
    ordered = _positional(function)
    given: dict[str, Value] = {}
    if any(node is function for node in op.keysets) and ordered:
        given[ordered.pop(0).arg] = PLAIN
    by_position = [name for name in op.arguments if name not in op.keyword_only]
    for parameter, name in zip(ordered, by_position or [a.arg for a in ordered], strict=False):
        given[parameter.arg] = _root_of(op, name, parameter.annotation, scope, state)
    for parameter in (*ordered, *takes.kwonlyargs):
        if parameter.arg not in given:
            given[parameter.arg] = _root_of(op, parameter.arg, parameter.annotation, scope, state)
    more = by_position[len(ordered) :]
    by_name = [name for name in op.keyword_only if name not in given]
    for variadic, kind, names in ((takes.vararg, "tuple", more), (takes.kwarg, "dict", by_name)):
        if variadic is None:
            continue
        keys = enumerate(names) if kind == "tuple" else zip(names, names, strict=True)
        fields: dict[object, Value] = {key: _root_of(op, name, None, scope, state) for key, name in keys}
        rest = Value() if op.arguments else _root(variadic.arg, None, scope, state)
        size = len(names) if op.arguments and kind == "tuple" else None
        given[variadic.arg] = state.make((*scope, variadic.arg), Cell(fields, rest, size, kind=kind))
    return given


def _argument(name: str, index: int, effects: Effects, returned: set[str]) -> OpArgument:
    ranked: tuple[tuple[OpMutation, ByArgument], ...] = (
        (OpMutation.WRITTEN, effects.written), (OpMutation.MAYBE, effects.maybe), (OpMutation.UNKNOWN, effects.unknown),
    )  # fmt: skip
    for mutation, found in ranked:
        if name in found:
            return OpArgument(name, index, mutation, tuple(sorted(found[name])), name in returned)
    return OpArgument(name, index, OpMutation.UNWRITTEN, (), name in returned)
