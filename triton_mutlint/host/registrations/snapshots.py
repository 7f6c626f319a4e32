"""What values hold at the time of a registration: the containers in them, and the closures of functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import ClassValue, FunctionValue, Partial, ScopeId, Value


def snapshot(values: Iterable[Value | None], state: State, shared: State) -> State:
    """What the containers in some values, and the closures of functions among them, hold now."""
    found = State(scopes=state.scopes)
    pending = [value for value in values if value is not None]
    while pending:
        value = pending.pop()
        for cell in value.cells - found.heap.keys():
            content = found.heap[cell] = state.cell(cell) or Cell()
            pending.extend((content.rest, *content.fields.values()))
        for one in value.things:
            if isinstance(one, Partial):
                pending.extend((one.function, *one.positional, *(given for _, given in one.keywords)))
            elif isinstance(one, (FunctionValue, ClassValue)):
                pending.extend(_around(one.scope, found, state, shared))
    return found


def _around(scope: ScopeId | None, found: State, state: State, shared: State) -> Iterator[Value]:
    """Take over the names of a scope and of those around it; gives what they hold."""
    while scope is not None and scope not in found.names:
        names = found.names[scope] = {**shared.names.get(scope, {}), **state.names.get(scope, {})}
        yield from names.values()
        scope = state.scopes.get(scope)
