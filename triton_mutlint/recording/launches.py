"""Recorded launches as data: how they come from a program's notes, and how they stand in a spec."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_mutlint.spec.as_yaml import long_name, plain_text, scalar_text

MOST = 16  # launches that a spec keeps of one kernel
_DIVISIBLE = re.compile(r":16\b")


@dataclass(frozen=True)
class Launch:
    """One launch: every argument as the YAML of a spec, what is noted of values and sizes, and the grid.

    `args` leaves out what a spec has no words for.
    """

    args: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, int | float | bool], ...] = ()
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    grid: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        return self.args


@dataclass(frozen=True)
class Place:
    """Where a kernel stands: `line` is that of its first decorator."""

    file: Path
    name: str
    line: int


def read_notes(text: str) -> dict[Place, list[Launch]]:
    """The launches of a program by kernel; lines that are torn (a killed process) are left out."""
    found: dict[Place, list[Launch]] = {}
    for line in text.splitlines():
        try:
            note = json.loads(line)
            place = Place(Path(note["file"]), note["name"], note["line"])
            launch = _launch(note)
        except (ValueError, KeyError, TypeError):
            continue
        if place.file.is_file():  # compiled from a text that is gone: nobody can look at it again
            found.setdefault(place, []).append(launch)
    return found


def _launch(note: Mapping[str, Any]) -> Launch:
    args = [(name, text) for name, arg in note["args"].items() if (text := _text(arg)) is not None]
    return Launch(tuple(args), tuple(note["values"].items()),
                  tuple((name, tuple(shape)) for name, shape in note["shapes"].items()), tuple(note["grid"] or ()))


def _text(arg: Mapping[str, Any]) -> str | None:
    """An argument as a spec says it."""
    if "type" in arg:
        return scalar_text(arg["type"])
    if "dtype" in arg:
        return f"{{ref: tl.{long_name(arg['dtype'])}}}"
    if "ref" in arg:
        return f"{{ref: {arg['ref']}}}"
    return plain_text(arg["value"]) if "value" in arg else None


# --------------------------------------------------------------------------- in a spec


def joined(known: Iterable[Launch], new: Iterable[Launch]) -> tuple[Launch, ...]:
    """All of them, each signature once, those known first; at most MOST."""
    found: dict[object, Launch] = {}
    for launch in (*known, *sorted(new, key=lambda launch: launch.args)):
        found.setdefault(launch.key, launch)
    return tuple(found.values())[:MOST]


def launch_text(launch: Launch) -> str:
    """A launch as it stands in the list `verify.launches`, on one line."""
    noted = {"values": dict(launch.values), "shapes": {n: list(s) for n, s in launch.shapes}, "grid": list(launch.grid)}
    parts = [f"args: {{{', '.join(f'{n}: {text}' for n, text in launch.args)}}}"]
    parts += [f"{name}: {plain_text(value)}" for name, value in noted.items() if value]
    return f"{{{', '.join(parts)}}}"


def launches_of(given: Iterable[Mapping[str, Any]]) -> Iterator[Launch]:
    """The launches that an entry's `verify` holds, as plain values."""
    for one in given:
        yield Launch(
            tuple((n, str(plain_text(v))) for n, v in one.get("args", {}).items()),
            tuple(one.get("values", {}).items()),
            tuple((n, tuple(s) if isinstance(s, list) else (s,)) for n, s in one.get("shapes", {}).items()),
            tuple(one.get("grid", ())),
        )


def general(text: str) -> str:
    """A type without what its values were divisible by."""
    plain = _DIVISIBLE.sub("", text)
    return plain if plain == text else scalar_text(plain.strip('"'))


