from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.contracts.baseline import (
    Accepted,
    Baseline,
    FindingKind,
    accept,
    counted,
    dump,
    read_baseline,
    unmet,
)
from triton_mutlint.types import Finding, Location, Severity, UsageError

CWD = Path("/project")


def finding(line: int, parameter: str | None = "x", rule: str = "TML101", **changes: object) -> Finding:
    return Finding(rule, "n", Severity.ERROR, "m", Location("a.py", line), "k", parameter=parameter, **changes)


def baseline(**counts: int) -> Baseline:
    entries = {FindingKind("a.py", "k", "", "TML101", name): Accepted(count, 3) for name, count in counts.items()}
    return Baseline("base.json", CWD, entries)


def write(folder: Path, text: str) -> Path:
    path = folder / "base.json"
    path.write_text(text)
    return path


def test_round_trip(tmp_path: Path) -> None:
    counts = counted([finding(1), finding(9), finding(4, None), finding(5, rule="TML202")], tmp_path, tmp_path)
    text = dump(counts)
    assert '{"file": "a.py", "kernel": "k", "rule": "TML101", "parameter": "x", "count": 2}' in text
    assert len(text.splitlines()) == len(counts) + 5
    read = read_baseline(write(tmp_path, text), "base.json")
    assert {kind: entry.count for kind, entry in read.entries.items()} == counts
    lines = text.splitlines()
    for kind, entry in read.entries.items():
        assert f'"rule": "{kind.rule}"' in lines[entry.line - 1]


def test_an_empty_one(tmp_path: Path) -> None:
    assert read_baseline(write(tmp_path, dump({})), "base.json").entries == {}


def test_lines_do_not_matter() -> None:
    for line in (1, 500):
        found, _ = accept(baseline(x=1), [finding(line)], CWD)
        assert [(f.suppressed, f.suppressed_by) for f in found] == [(True, "baseline")]


def test_only_as_many_as_are_accepted() -> None:
    found, used = accept(baseline(x=2), [finding(1), finding(2), finding(3)], CWD)
    assert [f.suppressed for f in found] == [True, True, False]
    assert found[2].related[-1].location == Location("base.json", 3)
    assert "accepts 2" in found[2].related[-1].message
    assert dict(used) == {FindingKind("a.py", "k", "", "TML101", "x"): 2}


def test_what_a_comment_suppresses_is_not_counted() -> None:
    commented = finding(1, suppressed=True, suppressed_by="comment")
    assert counted([commented], CWD, CWD) == {}
    found, used = accept(baseline(x=1), [commented, finding(2)], CWD)
    assert [f.suppressed_by for f in found] == ["comment", "baseline"]
    assert sum(used.values()) == 1


def test_other_parameters_rules_and_kernels_stay_reported() -> None:
    others = [finding(1, "y"), finding(1, None), finding(1, rule="TML102")]
    assert not any(f.suppressed for f in accept(baseline(x=5), others, CWD)[0])


def test_what_is_accepted_in_vain() -> None:
    base = baseline(x=2, y=1)
    _, used = accept(base, [finding(1)], CWD)
    assert [(k.parameter, left) for k, left, _ in unmet(base, used, {"a.py"})] == [("x", 1), ("y", 0)]
    assert list(unmet(base, used, {"b.py"})) == []


def test_a_kind_on_two_lines_adds_up(tmp_path: Path) -> None:
    row = '{"file": "a.py", "rule": "TML904", "count": 1}'
    path = write(tmp_path, f'{{"version": 1, "findings": [\n{row},\n{row}\n]}}')
    assert read_baseline(path, "b").entries == {FindingKind("a.py", "", "", "TML904", ""): Accepted(2, 2)}


@pytest.mark.parametrize(("text", "message"), [
    ("{", "b:1: this is no baseline"),
    ('{"version": 1,\n<<<<<<< HEAD\n', "b:2: this is no baseline"),
    ("[]", "b: this is no baseline"),
    ('{"version": 2, "findings": []}', "b: unsupported version 2"),
    ('{"version": 1, "findings": [1]}', "b: findings[0]: must be an object"),
    ('{"version": 1, "findings": [{"file": "a", "rule": "TML101", "count": 0}]}', "b: findings[0]: count must be"),
    ('{"version": 1, "findings": [{"file": "a", "rule": "TML101", "count": true}]}', "b: findings[0]: count must be"),
    ('{"version": 1, "findings": [{"rule": "TML101", "count": 1}]}', "b: findings[0]: file and rule"),
    ('{"version": 1, "findings": [{"file": "a", "rule": "T", "line": 3, "count": 1}]}', "b: findings[0]: unknown key"),
])
def test_what_is_wrong_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_baseline(write(tmp_path, text), "b")
    assert str(error.value).startswith(message)
    assert ("delete the file" in str(error.value)) != ("is no baseline" in message)


def test_a_missing_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no baseline b; --update-baseline writes one"):
        read_baseline(tmp_path / "none", "b")
