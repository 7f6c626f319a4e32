"""The baseline: how many findings of each kind a project has accepted for now.

Counted by file, kernel, rule and parameter, never by line: code above a finding may move. Files are JSON, sorted, an
entry a line, so that diffs and merges are small.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from triton_mutlint.contracts.portable import portable, read_committed
from triton_mutlint.types import Finding, Location, Related, UsageError

BY_BASELINE = "baseline"
VERSION = 1
_NAMES = ("file", "kernel", "op", "rule", "parameter")  # in order; those that are empty are left out


@dataclass(frozen=True, order=True)
class FindingKind:
    """What findings are counted by; `file` is relative to the baseline's folder."""

    file: str
    kernel: str
    op: str
    rule: str
    parameter: str


@dataclass(frozen=True)
class Accepted:
    """How many findings of one kind are accepted, and the line that says so."""

    count: int
    line: int = 0


@dataclass(frozen=True)
class Baseline:
    """`file` as it is shown in reports; paths in `entries` are relative to `folder`."""

    file: str
    folder: Path
    entries: Mapping[FindingKind, Accepted]


def kind_of(finding: Finding, cwd: Path, folder: Path) -> FindingKind:
    """What a finding of a run in `cwd` counts as in a baseline that lies in `folder`."""
    file = portable(finding.location.file, cwd, folder)
    return FindingKind(file, finding.kernel or "", finding.op or "", finding.rule, finding.parameter or "")


def accept(baseline: Baseline, findings: Iterable[Finding], cwd: Path) -> tuple[list[Finding], Counter[FindingKind]]:
    """The findings with those accepted marked as suppressed, and how many were accepted of each kind.

    Of more findings of a kind than are accepted, the last ones are reported, with a note on that.
    """
    used: Counter[FindingKind] = Counter()
    result = []
    for finding in findings:
        kind = kind_of(finding, cwd, baseline.folder)
        entry = baseline.entries.get(kind)
        if finding.suppressed or entry is None:
            result.append(finding)
        elif used[kind] < entry.count:
            used[kind] += 1
            result.append(replace(finding, suppressed=True, suppressed_by=BY_BASELINE))
        else:
            note = f"the baseline accepts {entry.count} like this; there are more now, of which this comes last"
            related = (*finding.related, Related(note, Location(baseline.file, entry.line)))
            result.append(replace(finding, related=related))
    return result, used


def counted(findings: Iterable[Finding], cwd: Path, folder: Path) -> dict[FindingKind, int]:
    """How many findings there are of each kind, those suppressed in the source or spec left out."""
    return dict(Counter(
        kind_of(f, cwd, folder) for f in findings if not f.suppressed or f.suppressed_by == BY_BASELINE))


def kept(baseline: Baseline, covered: Collection[str]) -> dict[FindingKind, int]:
    """What is accepted in files that a run did not look at."""
    return {kind: entry.count for kind, entry in baseline.entries.items() if kind.file not in covered}


def unmet(
    baseline: Baseline, used: Mapping[FindingKind, int], covered: Collection[str]
) -> Iterator[tuple[FindingKind, int, Location]]:
    """Each kind of which a covered file holds fewer findings than are accepted: how many, and where that stands."""
    for kind, entry in baseline.entries.items():
        if kind.file in covered and used.get(kind, 0) < entry.count:
            yield kind, used.get(kind, 0), Location(baseline.file, entry.line)


def dump(counts: Mapping[FindingKind, int]) -> str:
    """The text of a baseline: JSON, sorted, an entry a line."""
    rows = [json.dumps(_row(kind, count), ensure_ascii=False) for kind, count in sorted(counts.items())]
    body = ",\n    ".join(rows)
    listed = f"[\n    {body}\n  ]" if rows else "[]"
    return f'{{\n  "version": {VERSION},\n  "findings": {listed}\n}}\n'


def _row(kind: FindingKind, count: int) -> dict[str, Any]:
    named = {name: value for name in _NAMES if (value := getattr(kind, name))}
    return {**named, "count": count}


def read_baseline(path: Path, shown: str) -> Baseline:
    """Raises UsageError for a file that is missing, unreadable or no baseline."""
    text = read_committed(path, "baseline", shown, "--update-baseline")
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{shown}:{error.lineno}: this is no baseline: {error.msg}") from error
    except RecursionError as error:
        raise UsageError(f"cannot read the baseline {shown}: {error}") from error
    if not isinstance(parsed, dict) or not isinstance(parsed.get("findings"), list):
        raise UsageError(f"{shown}: this is no baseline: it has no list of findings")
    try:
        return Baseline(shown, path.parent, _accepted(parsed, text, shown))
    except UsageError as error:
        raise UsageError(f"{error}; put it right, or delete the file and write it anew: --update-baseline") from None


def _accepted(parsed: dict[str, Any], text: str, shown: str) -> dict[FindingKind, Accepted]:
    if parsed.get("version") != VERSION:
        raise UsageError(f"{shown}: unsupported version {parsed.get('version')!r}; this tool reads version {VERSION}")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith('{"file"')]
    found: dict[FindingKind, Accepted] = {}
    for position, row in enumerate(parsed["findings"]):
        kind, count = _entry(row, f"{shown}: findings[{position}]")
        before = found[kind].count if kind in found else 0  # a merge may leave one kind on two lines
        line = found[kind].line if before else lines[position] if len(lines) == len(parsed["findings"]) else 1
        found[kind] = Accepted(before + count, line)  # where the file is written an entry a line
    return found


def _entry(row: Any, place: str) -> tuple[FindingKind, int]:
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
    return FindingKind(*texts), count
