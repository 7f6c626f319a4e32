"""Which names a list gains and loses, and where in it they belong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from triton_mutlint.types import Change


@dataclass(frozen=True)
class Wanted:
    """The names to put into one list, in the order of the signature, and those to take out."""

    added: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()

    @classmethod
    def of(cls, changes: Iterable[Change]) -> Wanted:
        changes = tuple(changes)
        order = max((c.order for c in changes), key=len, default=())
        added = dict.fromkeys(c.name for c in changes if c.add)
        removed = frozenset(c.name for c in changes if not c.add)
        ranked = sorted(added, key=lambda name: _rank(name, order))
        return cls(tuple(ranked), removed, order)

    def missing(self, present: Collection[str]) -> tuple[str, ...]:
        """The names to add that are not there yet."""
        return tuple(name for name in self.added if name not in present)

    def place(self, name: str, present: Sequence[str]) -> int:
        """The index before which `name` goes among `present`: that of the first that comes after it.

        At the end, where those present are in no order.
        """
        ranks = [_rank(other, self.order) for other in present]
        if ranks != sorted(ranks):
            return len(present)
        own = _rank(name, self.order)
        return next((i for i, rank in enumerate(ranks) if rank > own), len(present))


def _rank(name: str, order: Sequence[str]) -> int:
    """The place in the signature; a tuple's name stands for its first element."""
    for index, parameter in enumerate(order):
        if parameter == name or parameter.startswith(f"{name}."):
            return index
    return len(order)
