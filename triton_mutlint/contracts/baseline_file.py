"""Reading and writing baseline files: JSON, sorted, an entry a line, so that diffs and merges are small."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from triton_mutlint.contracts.baseline import Accepted, Baseline, Kind
from triton_mutlint.process.inputs import read
from triton_mutlint.types import UsageError

VERSION = 1
_NAMES = ("file", "kernel", "op", "rule", "parameter")  # in order; those that are empty are left out


def dump(counts: Mapping[Kind, int]) -> str:
    """The text of a baseline: JSON, sorted, an entry a line."""
    rows = [json.dumps(_row(kind, count), ensure_ascii=False) for kind, count in sorted(counts.items())]
    body = ",\n    ".join(rows)
    listed = f"[\n    {body}\n  ]" if rows else "[]"
    return f'{{\n  "version": {VERSION},\n  "findings": {listed}\n}}\n'


def _row(kind: Kind, count: int) -> dict[str, Any]:
    named = {name: value for name in _NAMES if (value := getattr(kind, name))}
    return {**named, "count": count}


def read_baseline(path: Path, shown: str) -> Baseline:
    """Raises UsageError for a file that is missing, unreadable or no baseline."""
    try:
        text = read(path, named=True).decode("utf-8")
        parsed = json.loads(text)
    except FileNotFoundError as error:
        raise UsageError(f"there is no baseline {shown}; --update-baseline writes one") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{shown}:{error.lineno}: this is no baseline: {error.msg}") from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"cannot read the baseline {shown}: {error}") from error
    if not isinstance(parsed, dict) or not isinstance(parsed.get("findings"), list):
        raise UsageError(f"{shown}: this is no baseline: it has no list of findings")
    try:
        return Baseline(shown, path.parent, MappingProxyType(_accepted(parsed, text, shown)))
    except UsageError as error:
        raise UsageError(f"{error}; put it right, or delete the file and write it anew: --update-baseline") from None


def _accepted(parsed: dict[str, Any], text: str, shown: str) -> dict[Kind, Accepted]:
    if parsed.get("version") != VERSION:
        raise UsageError(f"{shown}: unsupported version {parsed.get('version')!r}; this tool reads version {VERSION}")
    lines = _lines(text, shown)
    found: dict[Kind, Accepted] = {}
    for position, row in enumerate(parsed["findings"]):
        kind, count = _entry(row, f"{shown}: findings[{position}]")
        before = found[kind].count if kind in found else 0  # a merge may leave one kind on two lines
        found[kind] = Accepted(before + count, lines.get(kind, 1))
    return found


def _entry(row: Any, place: str) -> tuple[Kind, int]:
    if not isinstance(row, dict):
        raise UsageError(f"{place}: must be an object")
    unknown = sorted(set(row) - {*_NAMES, "count"})
    texts = [row.get(name, "") for name in _NAMES]
    count = row.get("count")
    if unknown:
        raise UsageError(f"{place}: unknown key {unknown[0]!r}")
    if not all(isinstance(text, str) for text in texts) or not row.get("file") or not row.get("rule"):
        raise UsageError(f"{place}: file and rule must be texts, and kernel, op and parameter if given")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(f"{place}: count must be a whole number of at least 1")
    return Kind(*texts), count


def _lines(text: str, shown: str) -> dict[Kind, int]:
    """Where each entry stands, if the file is written an entry a line."""
    return dict(reversed(list(_placed(text, shown))))


def _placed(text: str, shown: str) -> Iterator[tuple[Kind, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith('{"'):
            try:
                kind, _ = _entry(json.loads(line.strip().rstrip(",")), shown)
            except (json.JSONDecodeError, UsageError):
                continue  # another layout than ours
            yield kind, number
