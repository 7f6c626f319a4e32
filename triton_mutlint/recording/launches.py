"""Recorded launches, as they stand under `verify.launches` of a spec, and what they tell of a kernel's parameters.

A recorded run shows some of the values that a parameter takes. All that were seen are written; a flag that was seen
with one value only is shown as a comment and left to inference, so that a write under the other value is still found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_mutlint.spec.as_yaml import WrittenArgument, listed, plain_text
from triton_mutlint.spec.entries import Settled

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


def read_op_notes(text: str) -> dict[str, list[Launch]]:
    """The calls of a program by op, as the texts of their arguments."""
    found: dict[str, list[Launch]] = {}
    for line in text.splitlines():
        try:
            note = json.loads(line)
            found.setdefault(note["op"], []).append(note["call"])
        except (ValueError, KeyError, TypeError):
            continue
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


def _settled(seen: Columns, left: Mapping[str, str], taken: Collection[str] = ()) -> Settled:
    """What the parameters were, those `left` to inference as comments; None was added to those `taken`."""
    return Settled(tuple(WrittenArgument(name, listed(texts), _TAKEN if name in taken else "")
                         for name, texts in seen.items() if name not in left),
                   tuple(WrittenArgument(name, listed(seen[name]), why) for name, why in left.items()))


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


def proposals(seen: Columns, values: Collection[str], open_: Collection[str]) -> Iterator[Settled]:
    """What may be written, the fullest first: lists multiply, and a product may hold what cannot be launched.

    `values` are the compile-time parameters; `open_` are parameters that the source takes several values of.
    """
    alone = {n: _ALONE for n, texts in seen.items()
             if len(texts) == 1 and (texts[0] in _FLAGS or (n in values and n in open_))}
    several = {n: _TOGETHER for n, texts in seen.items() if len(texts) > 1}
    absent = [n for n in seen if n in open_ and n not in values and n not in alone and "null" not in seen[n]]
    yield _settled({**seen, **{n: (*seen[n], "null") for n in absent}}, alone, absent)
    yield _settled(seen, alone)
    yield _settled(seen, {**{n: why for n, why in several.items() if n in values}, **alone})
    yield _settled(seen, {**several, **alone})
    yield _settled(seen, dict.fromkeys(seen, _TOGETHER))
