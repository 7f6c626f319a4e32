"""How the containers of a state came about, so that only those that changed are looked at where states meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from triton_mutlint.host.values.values import CellId


@dataclass(frozen=True, eq=False, slots=True)
class Mark:
    """A heap at one time: what it held at the mark `before`, but for `cells`."""

    before: Mark | None = None
    cells: tuple[CellId, ...] = ()

    def back(self) -> Iterator[Mark]:
        mark: Mark | None = self
        while mark is not None:
            yield mark
            mark = mark.before

    def changed(self, other: Mark, covered: frozenset[Mark]) -> Iterable[CellId] | None:
        """The cells in which heaps with these marks may differ, the last changed last; None if any may be among them.

        What the heaps with the marks `covered` held is in the one with this mark.
        """
        found, ours, others = dict[CellId, None](), set[Mark | None](), set[Mark | None]()
        for mine, theirs in zip_longest(self.back(), other.back()):
            ours.add(mine)
            others.add(theirs)
            if theirs in covered or theirs in ours or mine in others:
                return reversed(found)
            found.update(dict.fromkeys(cell for mark in (mine, theirs) if mark for cell in mark.cells[::-1]))
        return None
