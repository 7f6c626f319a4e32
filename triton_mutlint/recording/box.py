"""Which argument lists of a spec say what was launched and nothing else.

A spec's lists multiply: that a flag was true with a bias and false without must not become four variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from triton_mutlint.recording.launches import Launch, general

Box = dict[str, tuple[str, ...]]
_STARTS = 8  # launches that are tried to begin with


def box(launches: Sequence[Launch], left_out: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """Alternatives per parameter whose product was launched in full: the most that one launch grows to.

    Parameters of `left_out`, and those that some launch has no words for, are not in it. A type keeps its
    divisibility only where every launch has it.
    """
    return _box(launches, left_out)[0]


def independent(launches: Sequence[Launch], left_out: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """The part of the box that holds everything that was launched; what is left to inference depends on more."""
    best, rows = _box(launches, left_out)
    columns = {name: {row[i] for row in rows} for i, name in enumerate(best)}
    return {name: texts for name, texts in best.items() if set(texts) == columns[name]}


def _box(launches: Sequence[Launch], left_out: Iterable[str]) -> tuple[Box, list[tuple[str, ...]]]:
    names = [n for n, _ in launches[0].args if n not in set(left_out)]
    names = [n for n in names if all(n in dict(launch.args) for launch in launches)]
    rows = _rows(launches, names)
    grown = [_grow(start, rows, names) for start in rows[:_STARTS]]
    best = max(grown, key=lambda one: prod(map(len, one.values())))
    return best, rows


def _rows(launches: Sequence[Launch], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The launches as rows of texts, each once, in which a type is divisible in all rows or in none."""
    rows = [[dict(launch.args)[n] for n in names] for launch in launches]
    for column in range(len(names)):
        texts = {row[column] for row in rows}
        if len({general(text) for text in texts}) < len(texts):
            for row in rows:
                row[column] = general(row[column])
    return list(dict.fromkeys(map(tuple, rows)))


def _grow(start: tuple[str, ...], rows: Sequence[tuple[str, ...]], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """More alternatives for one parameter after the other, as long as every combination was launched."""
    there = set(rows)
    held: list[tuple[str, ...]] = [(text,) for text in start]
    for column in range(len(names)):
        order = list(dict.fromkeys(row[column] for row in rows))
        for text in order:
            wider = [*held[:column], (*held[column], text), *held[column + 1 :]]
            if text not in held[column] and all(one in there for one in product(*wider)):
                held = wider
        held[column] = tuple(sorted(held[column], key=order.index))
    return dict(zip(names, held, strict=True))
