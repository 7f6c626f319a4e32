"""What a call of an op leaves behind for the next one: in module-level containers, objects and closures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from triton_mutlint.host.state.state import State, outlives_call
from triton_mutlint.host.values.cells import Cell, merged
from triton_mutlint.host.values.values import NOTHING, PLAIN, CellId, ScopeId, Sort, Value, join


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
