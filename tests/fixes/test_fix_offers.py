"""What reports say that `--fix` would do: it is what `--fix` does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from triton_mutlint.cli.shell import boundary
from triton_mutlint.config.request import Request
from triton_mutlint.fixes.plan import offers
from triton_mutlint.run.run import run

TUNED = '''\
import triton
import triton.language as tl

größe = "ü"; CONFIGS = [triton.Config({"TILE": 32}), triton.Config({"TILE": 64})]  # triton-mutlint: ignore[TML201] ü


# triton-mutlint: mutates=mean_ptr, n
@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def moments(x_ptr, mean_ptr, count_ptr, n, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.atomic_add(count_ptr, 1.0)
    tl.store(mean_ptr + i, tl.load(mean_ptr + i, mask=i < n) + tl.load(x_ptr + i, mask=i < n), mask=i < n)
'''
CALLED = '''\
import triton
import triton.language as tl

NAMES = ["x_ptr"]


@triton.autotune([triton.Config({"TILE": 32}), triton.Config({"TILE": 64})], key=["n"], restore_value=NAMES[1:])
@triton.jit
def halve(x_ptr, n, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    boundary.run(["check", "--isolated", "--format", "sarif", *arguments])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    return found


def applied(text: str, fixes: list[dict[str, Any]]) -> str:
    """`text` after the replacements of some fixes, as a viewer would make them."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines))]
    edits = {}
    for fix in fixes:
        (change,) = fix["artifactChanges"]
        for one in change["replacements"]:
            region = one["deletedRegion"]
            start = starts[region["startLine"] - 1] + region["startColumn"] - 1
            end = starts[region["endLine"] - 1] + region["endColumn"] - 1
            edits[start, end] = one["insertedContent"]["text"]
    for (start, end), new in sorted(edits.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_fixes_in_sarif_are_the_edits_of_fix(
    folder: Path, newline: str, capsys: pytest.CaptureFixture[str],
) -> None:
    text = TUNED.replace("\n", newline)
    (folder / "k.py").write_bytes(text.encode())
    while fixes := [r["fixes"][0] for r in results(capsys, "k.py") if "fixes" in r]:
        assert {f["artifactChanges"][0]["artifactLocation"]["uri"] for f in fixes} == {"k.py"}
        gained = [f for f in fixes if "add" in f["description"]["text"]]  # what a list loses comes afterwards
        (folder / "k.py").write_bytes(applied((folder / "k.py").read_bytes().decode(), gained or fixes).encode())
    by_hand = (folder / "k.py").read_bytes()
    (folder / "k.py").write_bytes(text.encode())
    boundary.run(["check", "--isolated", "--fix", "k.py"])
    assert (folder / "k.py").read_bytes() == by_hand != text.encode()


def test_the_fix_of_a_spec_is_in_the_spec(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TUNED.replace("# triton-mutlint: mutates=mean_ptr, n\n", "")
    (folder / "k.py").write_text(text.replace("@triton.autotune", "#"))
    (folder / "triton-mutlint.yaml").write_text("version: 1\nkernels:\n  moments: {mutates: [mean_ptr]}\n")
    (found,) = [r for r in results(capsys, "k.py") if r["ruleId"] == "TML101"]
    (change,) = found["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "triton-mutlint.yaml"
    (one,) = change["replacements"]
    assert one["insertedContent"]["text"] == ", count_ptr"
    assert one["deletedRegion"] == {"startLine": 3, "startColumn": 31, "endLine": 3, "endColumn": 31}


def test_what_gains_and_loses_is_all_offered(folder: Path) -> None:
    (folder / "k.py").write_text(TUNED)
    request = Request(("k.py",), folder)
    findings = run(request).findings
    offered = offers(findings, request)
    assert [f.rule for f in findings] == ["TML905", "TML102", "TML301", "TML301", "TML101"]
    assert set(offered) == set(findings)


def test_what_cannot_be_edited_is_not_offered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.py").write_text(CALLED)
    (found,) = results(capsys, "k.py")
    assert found["ruleId"] == "TML301"
    assert "fixes" not in found
    boundary.run(["check", "--isolated", "k.py"])
    assert "[*]" not in capsys.readouterr().out


def test_suppressed_findings_are_not_offered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comment = "# triton-mutlint: ignore[TML301] they are zeros\n"
    text = CALLED.replace(", restore_value=NAMES[1:]", "")
    (folder / "k.py").write_text(text.replace("@triton.auto", f"{comment}@triton.auto"))
    (found,) = results(capsys, "k.py")
    assert found["suppressions"]
    assert "fixes" not in found


def test_standard_input_is_read_as_it_stands_there(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TUNED.encode())))
    found = results(capsys, "-", "--stdin-filename", "unsaved.py")
    assert sum("fixes" in result for result in found) == 5
