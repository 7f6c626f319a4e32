"""The verdict on a torch op: what its implementations do with its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from triton_mutlint.host.declarations.fitting import fake_problems
from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.model import Form, Implementation, OpRegistration
from triton_mutlint.host.modules.module import HostFunction
from triton_mutlint.host.op.given import entry, positional
from triton_mutlint.host.state.core import Activation, TooLargeError, World
from triton_mutlint.host.state.effects import ByArgument, Effects
from triton_mutlint.host.state.state import State, outlives_call
from triton_mutlint.host.values.groups import Arguments, Cell, merged, parameters
from triton_mutlint.host.values.values import (
    NOTHING,
    PLAIN,
    CellId,
    FunctionValue,
    ScopeId,
    Sort,
    Value,
    join,
    thing,
)
from triton_mutlint.types import HostEffect, Location, OpArgument, OpMutation, OpReport

_CALLS = 2  # of an op, one after the other, where it leaves something for the next


def analyze_op(op: OpRegistration, world: World | None) -> OpReport:
    """What `op` does to each of its arguments, the union over its implementations.

    `world` is not asked where there are none.
    """
    names = list(op.arguments or _names(op))
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
    found = [_argument(name, i, merged) for i, name in enumerate(names)]
    return OpReport(
        op.name, op.form.value, op.location, op.declaration, tuple(found), tuple(merged.kernels),
        tuple(sorted(merged.gaps)), tuple(merged.unwrapped) if op.form is Form.TRITON_OP else (),
        tuple(merged.unmarked), tuple(fake_problems(op.functions, op.fakes)),
    )


def unfinished(op: OpRegistration, reason: str) -> OpReport:
    """The report on an op that was not followed to its end: nothing is known of its arguments."""
    return analyze_op(replace(op, functions=(), missing=reason, arguments=op.arguments or _names(op)), None)


def _names(op: OpRegistration) -> tuple[str, ...]:
    return tuple(_all_parameters(op.functions[0].node)) if op.functions else ()


def _run(op: OpRegistration, one: Implementation, names: Sequence[str], interpreter: Interpreter) -> None:
    """Interpret one implementation."""
    module, function = one.module, one.node
    scope = ("op", module.display, function.lineno, function.col_offset)
    interpreter.scopes[scope] = None
    start = State(base=interpreter.module_state.heap, scopes=interpreter.scopes)
    try:
        for _ in range(_CALLS):
            state = start.copy()
            _call(op, one, interpreter, state, scope)
            if not state.kept or not unforeseen(state, interpreter.module_state):
                break
            again = left_behind(state, interpreter.module_state)
            if (again.names, again.heap) == (start.names, start.heap):
                break
            start = again
    except (TooLargeError, RecursionError):
        effect = HostEffect(Location(module.display, function.lineno), "its code is too large to be followed",
                            call=getattr(function, "name", "<lambda>"))
        interpreter.effects.gaps[effect] = None
        for name in names:
            interpreter.effects.unknown.setdefault(name, {})[effect] = None


def _call(op: OpRegistration, one: Implementation, interpreter: Interpreter, state: State,
          scope: tuple[object, ...]) -> None:
    """Interpret one call of it."""
    module, function = one.module, one.node
    here = Activation(module, getattr(function, "name", "<lambda>"), scope, None, function, chain=scope)
    interpreter.steps = 0
    interpreter.active[:] = [here]
    interpreter.state, interpreter.here = state, here
    here.entry.update(entry(op, function, scope, state))
    called = interpreter.registered(one)
    if called == thing(FunctionValue(module, function)):
        result = interpreter.run(here)
    else:
        interpreter.here = replace(interpreter.top(module), chain=scope)
        interpreter.active.clear()
        result = interpreter.call(called, _passed(function, here.entry, state), function)
    for effect, value in interpreter.escaped:
        interpreter.effects.gap(effect, state, [value])
    interpreter.escaped.clear()
    returned, maybe = interpreter.effects.returned, interpreter.effects.maybe_returned
    for value in _results([*here.results, result], state):  # not what code that is not understood was given
        maybe.update(dict.fromkeys(value.same | value.maybe))
        returned.update(() if value.mixed else dict.fromkeys(value.same))


def _results(values: Sequence[Value], state: State) -> list[Value]:
    """What an op gives back: a tensor, or tensors in containers of Python."""
    found, seen = [*values], set[CellId]()
    for value in found:
        for cell in value.cells - seen:
            seen.add(cell)
            content = state.cell(cell)
            if content is not None and content.owner is None:
                found.extend((content.rest, *content.fields.values()))
    return found


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


def _all_parameters(function: HostFunction) -> list[str]:
    positional, keyword_only = parameters(function.args)
    variadic = [a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None]
    return [*positional, *keyword_only, *variadic]


def _argument(name: str, index: int, effects: Effects) -> OpArgument:
    ranked: tuple[tuple[OpMutation, ByArgument], ...] = (
        (OpMutation.WRITTEN, effects.written), (OpMutation.MAYBE, effects.maybe), (OpMutation.UNKNOWN, effects.unknown),
    )  # fmt: skip
    mutation, found = next(((m, held) for m, held in ranked if name in held), (OpMutation.UNWRITTEN, {}))
    return OpArgument(name, index, mutation, tuple(sorted(found.get(name, ()))), name in effects.returned,
                      name in effects.maybe_returned)



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
        heap[cell] = _earlier_content(content if before_it is None else merged(before_it, content))
        for value in (content.rest, content.source, *content.fields.values()):
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
               for scope, names in state.names.items() if outlives_call(scope) and scope[0] != "module"
               for name in names)


def _earlier(value: Value) -> Value:
    """What an earlier call had: its arguments, which may be this one's."""
    roots = value.same | value.maybe | value.unsure
    if not roots and value.constant is None:
        return value
    return replace(value, same=NOTHING, maybe=NOTHING, unsure=roots, constant=None)


def _earlier_content(content: Cell) -> Cell:
    fields: Mapping[object, Value] = {key: _earlier(value) for key, value in content.fields.items()}
    return replace(content, fields=fields, rest=_earlier(content.rest))
