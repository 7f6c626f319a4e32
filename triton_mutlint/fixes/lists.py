"""Lists of names, wherever they are written: which names they gain and lose, and how they are written then."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence

from triton_mutlint.fixes.edit import CannotFixError, Edit, replaced
from triton_mutlint.types import Change

Span = tuple[int, int]


def changed(names: Iterable[str], changes: Iterable[Change]) -> list[str]:
    """`names` without those that go, and with those that come where the signature has them.

    A name comes last where those present are in no order.
    """
    changes = tuple(changes)
    order = max((c.order for c in changes), key=len, default=())
    gone = {c.name for c in changes if not c.add}
    kept = [name for name in names if name not in gone]
    added = {c.name for c in changes if c.add}.difference(kept)
    for name in sorted(added, key=lambda name: (_rank(name, order), name)):
        ranks = [_rank(other, order) for other in kept]
        kept.insert(bisect(ranks, _rank(name, order)) if ranks == sorted(ranks) else len(kept), name)
    return kept


def _rank(name: str, order: Sequence[str]) -> int:
    """The place in the signature; a tuple's name stands for its first element."""
    same = (i for i, parameter in enumerate(order) if parameter == name or parameter.startswith(f"{name}."))
    return next(same, len(order))


def rewritten(text: str, inside: Span, spans: Sequence[Span], items: Sequence[str], is_tuple: bool = False,
              ) -> tuple[Edit, ...]:
    """The edit that writes `items` in place of those at `spans`, on one line or one a line as they are now.

    `inside` is what stands between the brackets. Raises CannotFixError where there is more than items and commas.
    """
    start, end = inside
    spans = spans or [(start, start)]
    starts, ends = [*(first for first, _ in spans), end], [start, *(last for _, last in spans)]
    lead, *gaps, tail = (text[before:after] for before, after in zip(ends, starts, strict=True))
    if lead.strip() or tail.strip() not in ("", ",") or any(gap.strip() != "," for gap in gaps):
        raise CannotFixError("more than commas stands between the names")
    comma = (len(items) == 1 or "\n" in tail) if is_tuple else "," in tail
    separator = gaps[0] if gaps else f",{lead or ' '}"
    new = f"{lead}{separator.join(items)}{',' if comma else ''}{tail.replace(',', '')}" if items else ""
    return replaced(text, start, end, new)
