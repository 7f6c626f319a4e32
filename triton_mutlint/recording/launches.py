"""Recorded launches, as they stand under `verify.launches` of a spec, and what they tell of a kernel's parameters.

A recorded run shows some of the values that a parameter takes. All that were seen are written; a flag that was seen
with one value only is shown as a comment and left to inference, so that a write under the other value is still found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from triton_mutlint.spec.as_yaml import WrittenArgument, plain_text

MOST = 16  # launches that a spec keeps of one kernel
Launch = Mapping[str, Any]  # `args`, which leaves out what a spec has no words for; `values`, `shapes`, `grid`
Columns = Mapping[str, tuple[str, ...]]  # what each parameter was, as YAML

_FLAGS = frozenset({"true", "false", "null"})
_ALONE = "no other value was seen: a check tries what else the source takes"
_TOGETHER = "these values were seen, and go together with those of other parameters"
_TAKEN = "None was not seen, and the source takes it"


@dataclass(frozen=True)
class LaunchPlace:
    """Where a kernel stands: `line` is that of its first decorator."""

    file: Path
    name: str
    line: int


def read_notes(text: str) -> dict[LaunchPlace, list[Launch]]:
    """The launches of a program by kernel; lines that are torn (a killed process) are left out."""
    found: dict[LaunchPlace, list[Launch]] = {}
    for line in text.splitlines():
        try:
            note = json.loads(line)
            place = LaunchPlace(Path(note["file"]), note["name"], note["line"])
            launch = {"args": note["args"], **{n: note[n] for n in ("values", "shapes", "grid") if note[n]}}
        except (ValueError, KeyError, TypeError):
            continue
        if place.file.is_file():  # compiled from a text that is gone: nobody can look at it again
            found.setdefault(place, []).append(launch)
    return found


def joined(known: Iterable[Launch], new: Iterable[Launch]) -> list[Launch]:
    """All of them, each signature once, those known first; at most MOST."""
    found: dict[str | None, Launch] = {}
    for launch in (*known, *sorted(new, key=_signature)):
        found.setdefault(_signature(launch), launch)
    return list(found.values())[:MOST]


def _signature(launch: Launch) -> str:
    return str(plain_text(launch.get("args", {})))


# --------------------------------------------------------------------------- what to write under `args`


@dataclass(frozen=True)
class Seen:
    """What the parameters were, and why some are `left` to inference, as comments."""

    columns: Columns
    left: Mapping[str, str]
    taken: Collection[str] = ()  # to which None was added

    @property
    def combinations(self) -> int:
        """How many variants the lists make, which multiply."""
        return prod(len(texts) for name, texts in self.columns.items() if name not in self.left)

    @property
    def arguments(self) -> tuple[WrittenArgument, ...]:
        """The lines that hold."""
        return tuple(WrittenArgument(name, _listed(texts), _TAKEN if name in self.taken else "")
                     for name, texts in self.columns.items() if name not in self.left)

    @property
    def guesses(self) -> tuple[WrittenArgument, ...]:
        """The lines that are comments."""
        return tuple(WrittenArgument(name, _listed(self.columns[name]), why) for name, why in self.left.items())


def _listed(texts: Sequence[str]) -> str:
    """Alternatives as YAML: a list, but for a single one that is none itself."""
    return texts[0] if len(texts) == 1 and not texts[0].startswith("[") else f"[{', '.join(texts)}]"


def columns(launches: Sequence[Launch], left_out: Iterable[str] = ()) -> Columns:
    """What each parameter was in the launches; without those of `left_out` and those that some launch has no words for.

    A type keeps its divisibility only where every launch has it.
    """
    rows = [launch.get("args", {}) for launch in launches]
    names = [n for n in rows[0] if n not in set(left_out) and all(n in row for row in rows)]
    found = {}
    for name in names:
        texts = _distinct(row[name] for row in rows)
        plain = _distinct(re.sub(r":16\b", "", v) if isinstance(v := row[name], str) else v for row in rows)
        found[name] = plain if len(plain) < len(texts) else texts
    return found


def _distinct(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(plain_text(value)) for value in values))


def proposals(seen: Columns, values: Collection[str], open_: Collection[str]) -> Iterator[Seen]:
    """What may be written, the fullest first: lists multiply, and a product may hold what cannot be launched.

    `values` are the compile-time parameters; `open_` are parameters that the source takes several values of.
    """
    alone = {n: _ALONE for n, texts in seen.items()
             if len(texts) == 1 and (texts[0] in _FLAGS or (n in values and n in open_))}
    several = {n: _TOGETHER for n, texts in seen.items() if len(texts) > 1}
    absent = [n for n in seen if n in open_ and n not in values and n not in alone and "null" not in seen[n]]
    yield Seen({**seen, **{n: (*seen[n], "null") for n in absent}}, alone, absent)
    yield Seen(seen, alone)
    yield Seen(seen, {**{n: why for n, why in several.items() if n in values}, **alone})
    yield Seen(seen, {**several, **alone})
    yield Seen(seen, dict.fromkeys(seen, _TOGETHER))
