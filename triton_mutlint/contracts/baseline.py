"""The baseline: how many findings of each kind a project has accepted for now.

Counted by file, kernel, rule and parameter, never by line: code above a finding may move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from triton_mutlint.contracts.portable import portable
from triton_mutlint.types import Finding, Location, Related

BY_BASELINE = "baseline"


@dataclass(frozen=True, order=True)
class Kind:
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
    entries: Mapping[Kind, Accepted] = field(default_factory=lambda: MappingProxyType({}))


def kind_of(finding: Finding, cwd: Path, folder: Path) -> Kind:
    """What a finding of a run in `cwd` counts as in a baseline that lies in `folder`."""
    file = portable(finding.location.file, cwd, folder)
    return Kind(file, finding.kernel or "", finding.op or "", finding.rule, finding.parameter or "")


def accept(baseline: Baseline, findings: Iterable[Finding], cwd: Path) -> tuple[list[Finding], Counter[Kind]]:
    """The findings with those accepted marked as suppressed, and how many were accepted of each kind.

    Of more findings of a kind than are accepted, the last ones are reported, with a note on that.
    """
    used: Counter[Kind] = Counter()
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


def counted(findings: Iterable[Finding], cwd: Path, folder: Path) -> dict[Kind, int]:
    """How many findings there are of each kind, those suppressed in the source or spec left out."""
    return dict(Counter(
        kind_of(f, cwd, folder) for f in findings if not f.suppressed or f.suppressed_by == BY_BASELINE))


def kept(baseline: Baseline, covered: Collection[str]) -> dict[Kind, int]:
    """What is accepted in files that a run did not look at."""
    return {kind: entry.count for kind, entry in baseline.entries.items() if kind.file not in covered}


def unmet(
    baseline: Baseline, used: Mapping[Kind, int], covered: Collection[str]
) -> Iterator[tuple[Kind, int, Location]]:
    """Each kind of which a covered file holds fewer findings than are accepted: how many, and where that stands."""
    for kind, entry in baseline.entries.items():
        if kind.file in covered and used.get(kind, 0) < entry.count:
            yield kind, used.get(kind, 0), Location(baseline.file, entry.line)
