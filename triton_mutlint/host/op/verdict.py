"""The verdict on a torch op: what its implementations do with its arguments, and what these are when it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from triton_mutlint.host.declarations.fitting import fake_problems
from triton_mutlint.host.declarations.functions import AROUND, CONTAINERS, PLAIN_TYPES, words
from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.model import Form, Implementation, OpRegistration
from triton_mutlint.host.modules.module import HostFunction
from triton_mutlint.host.registrations.functions import differentiate, gradients
from triton_mutlint.host.state.core import Activation, TooLargeError, World
from triton_mutlint.host.state.effects import ByArgument, Effects
from triton_mutlint.host.state.state import State, outlives_call
from triton_mutlint.host.values.groups import Arguments, Cell, defaults, merged
from triton_mutlint.host.values.values import (
    NOTHING,
    PLAIN,
    CellId,
    FunctionValue,
    ScopeId,
    Sort,
    Value,
    constant,
    join,
    thing,
)
from triton_mutlint.types import HostEffect, Location, OpArgument, OpMutation, OpReport

_LISTS = CONTAINERS - {"Tuple", "tuple"}
_NONE = frozenset({"None", "Optional"})


def given_tensor(name: str) -> Value:
    """An argument that is a tensor, and never None."""
    return Value(same=frozenset([name]), kind=Sort.TENSOR, some=True)


def positional(function: HostFunction) -> list[ast.arg]:
    """Its parameters that may be passed by position."""
    return [*function.args.posonlyargs, *function.args.args]


def entry(op: OpRegistration, one: Implementation, scope: tuple[object, ...], state: State) -> dict[str, Value]:
    """What the function's parameters hold when the op is called."""
    takes = one.node.args
    ordered = positional(one.node)
    given: dict[str, Value] = {}
    if one.takes_keys and ordered:
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
    held = set(words(annotation))
    if held - AROUND and held - AROUND <= PLAIN_TYPES:
        return replace(PLAIN, wide=all(set(words(choice)) & _LISTS for choice in _choices(annotation)),
                       some=not held & _NONE and not left_out)
    if not held & _NONE and not left_out and all("Tensor" in word for word in held - AROUND):
        tensor = given_tensor(name)
    if not any("Tensor" in word for word in held):
        tensor = replace(tensor, kind=Sort.TENSOR | Sort.OTHER)
    if held & CONTAINERS:
        made = state.make((*scope, name), Cell(rest=tensor))
        alone = any(not held & CONTAINERS and held - PLAIN_TYPES for held in map(set, map(words, _choices(annotation))))
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


_CALLS = 2  # of an op, one after the other, where it leaves something for the next


def analyze_op(op: OpRegistration, world: World | None) -> OpReport:
    """What `op` does to each of its arguments, over all its implementations; `world` is asked only if it has one."""
    names = [*(op.arguments or _names(op)), *gradients(op)]
    merged = Effects()
    if op.functions:
        assert world is not None, "an implementation is interpreted in a world"
        for one in op.functions:
            interpreter = Interpreter(world)
            interpreter.effects, interpreter.given = merged, frozenset(op.given)
            _run(op, one, names, interpreter)
    else:
        merged.gaps[HostEffect(op.location, op.missing or "its implementation was not found", call=op.name)] = None
        for name in names:
            merged.unknown.setdefault(name, {}).update(merged.gaps)
    merged.settle()
    return OpReport(
        op.name, op.form.value, op.location, op.declaration,
        tuple(_argument(name, i, merged) for i, name in enumerate(names)), tuple(merged.kernels),
        tuple(sorted(merged.gaps)), tuple(merged.unwrapped) if op.form is Form.TRITON_OP else (),
        tuple(merged.unmarked), tuple(fake_problems(op.functions, op.fakes)),
    )


def unfinished(op: OpRegistration, reason: str) -> OpReport:
    """The report on an op that was not followed to its end: nothing is known of its arguments."""
    return analyze_op(replace(op, functions=(), missing=reason, arguments=op.arguments or _names(op)), None)


def _names(op: OpRegistration) -> tuple[str, ...]:
    """The parameters of its first function."""
    if not op.functions:
        return ()
    takes = op.functions[0].node.args
    return tuple(a.arg for a in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs, takes.vararg, takes.kwarg) if a)


def _run(op: OpRegistration, one: Implementation, names: Sequence[str], interpreter: Interpreter) -> None:
    """Interpret one implementation."""
    module, function = one.module, one.node
    interpreter.scopes[scope := ("op", module.display, function.lineno, function.col_offset)] = None
    start = State(base=interpreter.module_state.heap, scopes=interpreter.scopes)
    try:
        for number in range(_CALLS):
            state = start.copy()
            results = _call(op, one, interpreter, state, scope)
            if not number:  # what a later call returns takes what an earlier one left
                interpreter.effects.give_back(_results(results, state))
            if not state.kept or not unforeseen(state, interpreter.module_state):
                break
            again = left_behind(state, interpreter.module_state)
            if (again.names, again.heap) == (start.names, start.heap):
                break
            start = again
    except (TooLargeError, RecursionError):
        at = Location(module.display, function.lineno)
        effect = HostEffect(at, "its code is too large to be followed", call=op.name)
        interpreter.effects.gaps[effect] = None
        for name in names:
            interpreter.effects.unknown.setdefault(name, {})[effect] = None


def _call(op: OpRegistration, one: Implementation, interpreter: Interpreter, state: State,
          scope: tuple[object, ...]) -> list[Value]:
    """Interpret one call of it; what it returns."""
    module, function = one.module, one.node
    here = Activation(module, getattr(function, "name", "<lambda>"), scope, None, function, chain=scope)
    interpreter.steps, interpreter.active[:] = 0, [here]
    interpreter.state, interpreter.here = state, here
    here.entry.update(entry(op, one, scope, state))
    called = interpreter.registered(one)
    if called == thing(FunctionValue(module, function)):
        result = interpreter.run(here)
    else:
        interpreter.here = replace(interpreter.top(module), chain=scope)
        interpreter.active.clear()
        result = interpreter.call(called, _passed(function, here.entry, state), function)
        differentiate(op, interpreter, function)
    for cell in [cell for cell in state.heap if cell not in state.base]:
        interpreter.special(Value(cells=frozenset([cell])), "__del__", (), function)
    for effect, value in interpreter.escaped:
        interpreter.effects.gap(effect, state, [value])
    interpreter.escaped.clear()
    return [*here.results, result]


def _results(values: Sequence[Value], state: State) -> list[Value]:
    """What an op gives back: a tensor, or tensors in containers of Python."""
    return list(state.held_in(values, lambda content: content.held() if content.owner is None else ()))


def _passed(function: HostFunction, given: Mapping[str, Value], state: State) -> Arguments:
    """How an op's arguments are passed to what implements it, given what the parameters of `function` hold."""
    takes = function.args
    ordered = [given[a.arg] for a in positional(function)]
    named = {a.arg: given[a.arg] for a in takes.kwonlyargs}
    rest: list[Value | None] = [None, None]
    for i, variadic in enumerate((takes.vararg, takes.kwarg)):
        for content in state.contents(given[variadic.arg]) if variadic is not None else ():
            rest[i] = content.rest if content.rest != Value() else None
            if i:
                named.update({str(key): value for key, value in content.fields.items()})
            else:
                ordered.extend(content.fields.values())
    return Arguments(tuple(ordered), named, star=rest[0], double_star=rest[1])


def _argument(name: str, index: int, effects: Effects) -> OpArgument:
    ranked: tuple[tuple[OpMutation, ByArgument], ...] = (
        (OpMutation.WRITTEN, effects.written), (OpMutation.MAYBE, effects.maybe), (OpMutation.UNKNOWN, effects.unknown))
    mutation, found = next(((m, held[name]) for m, held in ranked if name in held), (OpMutation.UNWRITTEN, {}))
    return OpArgument(name, index, mutation, tuple(sorted(found)),
                      name in effects.returned, name in effects.maybe_returned)


def left_behind(state: State, shared: State) -> State:
    """The state that another call finds after one that ended in `state`, or after none.

    The arguments of the earlier call are others than those of the next, but may be the same tensors.
    `shared` is the state of module-level code.
    """
    names: dict[ScopeId, dict[str, Value]] = {}
    for scope, held in state.names.items():
        if outlives_call(scope):
            before = shared.names.get(scope, {})
            names[scope] = {name: join(_earlier(value), before.get(name, Value())) for name, value in held.items()}
    heap: dict[CellId, Cell] = {}
    pending = [cell for cell in state.heap if cell in state.base and state.heap[cell] is not state.base[cell]]
    pending.extend(cell for held in names.values() for value in held.values() for cell in state.holds(value))
    while pending:
        cell = pending.pop()
        content = state.heap.get(cell)
        if cell in heap or content is None:
            continue
        before_it = state.base.get(cell)
        left = content if before_it is None else merged(before_it, content)
        fields: dict[object, Value] = {key: _earlier(value) for key, value in left.fields.items()}
        heap[cell] = replace(left, fields=fields, rest=_earlier(left.rest))
        for value in (content.source, *content.held()):
            pending.extend(state.holds(value))
    return State(names, heap, state.base, True, state.scopes)


def unforeseen(state: State, shared: State) -> bool:
    """Whether a call left something of which the next one would not say already that it is not known."""
    for cell, content in state.heap.items():
        before = state.base.get(cell)
        if before is None or before is content or before.rest.kind & Sort.OTHER:
            continue
        changed = [key for key, value in content.fields.items() if before.fields.get(key) != value]
        if content.rest != before.rest or not all(before.fields.get(key, PLAIN).kind & Sort.OTHER for key in changed):
            return True
    return any(not shared.names.get(scope, {}).get(name, PLAIN).kind & Sort.OTHER
               for scope, names in state.names.items() if outlives_call(scope) for name in names)


def _earlier(value: Value) -> Value:
    """What an earlier call had: its arguments, which may be this one's."""
    roots = value.same | value.maybe | value.unsure
    if not roots and value.constant is None:
        return value
    return replace(value, same=NOTHING, maybe=NOTHING, unsure=roots, constant=None)
