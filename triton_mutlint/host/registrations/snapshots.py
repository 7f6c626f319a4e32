"""What values hold at the time of a registration: the containers in them, and the closures of functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from triton_mutlint.host.modules.module import External
from triton_mutlint.host.registrations.things import Registered, has_hole, string
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import ClassValue, FunctionValue, Partial, ScopeId, Thing, Value


def snapshot(values: Iterable[Value | None], state: State, shared: State) -> State:
    """What the containers in some values, and the closures of functions among them, hold now."""
    found = State(scopes=state.scopes)
    pending = [value for value in values if value is not None]
    while pending:
        value = pending.pop()
        for cell in value.cells - found.heap.keys():
            content = state.cell(cell) or Cell()
            fields = {key: _as_op(held) for key, held in content.fields.items()}
            content = found.heap[cell] = replace(content, fields=fields, rest=_as_op(content.rest))
            pending.extend((content.rest, *content.fields.values()))
        for one in value.things:
            if isinstance(one, Partial):
                pending.extend((one.function, *one.positional, *(given for _, given in one.keywords)))
            elif isinstance(one, (FunctionValue, ClassValue)):
                pending.extend(_around(one.scope, found, state, shared))
    return found


def _as_op(value: Value) -> Value:
    """What registering an op gave is that op for the code that calls it later."""
    if not any(isinstance(one, Registered) for one in value.things):
        return value
    return replace(value, things=frozenset(map(_op_itself, value.things)))


def _op_itself(one: Thing) -> Thing:
    name = string(one.event.name) if isinstance(one, Registered) else None
    return one if name is None or has_hole(name) else External(f"torch.ops.{name.replace('::', '.')}")


def _around(scope: ScopeId | None, found: State, state: State, shared: State) -> Iterator[Value]:
    """Take over the names of a scope and of those around it; gives what they hold."""
    while scope is not None and scope not in found.names:
        held = {**shared.names.get(scope, {}), **state.names.get(scope, {})}
        names = found.names[scope] = {name: _as_op(value) for name, value in held.items()}
        yield from names.values()
        scope = state.scopes.get(scope)
