"""What is known of what module-level code made: less, where code that runs later may change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.values import UNSEEN, CellId, FunctionValue, Partial, ScopeId, Thing, Value, join

if TYPE_CHECKING:
    from triton_mutlint.host.state.core import World


class Loosening:
    """Forgets what may change."""

    world: World
    module_state: State
    scopes: dict[ScopeId, ScopeId | None]

    def loosen(self, value: Value, changed: bool) -> None:
        """Loosen what a module-level name holds, at any depth; `changed` if code changes it by that name.

        Constants in containers and objects are taken for unknown. If any code changes what a field of that
        name holds, or a name of a function around, so is everything in it.
        """
        state, seen = self.module_state, self.world.shared.loosened
        pending = [(cell, changed) for cell in state.holds(value)]
        things = list(value.things)
        while pending or things:
            if not pending:
                pending.extend(self._around_it(things.pop()))
                continue
            cell, altered = pending.pop()
            content = state.cell(cell)
            if content is None or (cell, altered) in seen or (cell, True) in seen:
                continue
            seen.add((cell, altered))
            for key, held in content.fields.items():
                named = isinstance(key, str) and content.kind == "object" and self.world.modules.is_field_changed(key)
                pending.extend((inner, altered or named) for inner in state.holds(held))
                things.extend(held.things)
            for held in (content.rest, content.source):
                pending.extend((inner, altered) for inner in state.holds(held))
                things.extend(held.things)
            if content.kind != "tuple":
                given = self.world.modules.is_field_given if content.kind == "object" else _never
                fields = {key: join(replace(held, constant=None), UNSEEN) if isinstance(key, str) and given(key)
                          else replace(held, constant=None) for key, held in content.fields.items()}
                content = replace(content, fields=fields, rest=replace(content.rest, constant=None))
                state.store(cell, replace(content.spread(UNSEEN), size=None) if altered else content)

    def _around_it(self, item: Thing) -> Iterator[tuple[CellId, bool]]:
        """The containers that a function made in another holds by name; what names are given anew is not known."""
        if isinstance(item, Partial):
            for held in (item.function, *item.positional, *(value for _, value in item.keywords)):
                for inner in held.things:
                    yield from self._around_it(inner)
        scope = item.scope if isinstance(item, FunctionValue) else None
        state = self.module_state
        while isinstance(item, FunctionValue) and scope is not None and scope not in self.world.shared.opened:
            self.world.shared.opened.add(scope)
            names = state.names.get(scope, {})
            for name, value in names.items():
                altered = name in item.module.changed
                yield from ((cell, altered) for cell in state.holds(value))
                for inner in value.things:
                    yield from self._around_it(inner)
            again = {name: join(value, UNSEEN) for name, value in names.items() if name in item.module.nonlocals}
            if again:
                state.names[scope] = {**names, **again}
            scope = self.scopes.get(scope)


def _never(name: str) -> bool:
    return False
