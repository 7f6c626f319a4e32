"""Kernels in files and folders whose names are not ASCII, and text that is not ASCII before what is reported."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from triton_mutlint.cli.shell import boundary

ACCEPTED = """\
import triton
import triton.language as tl


@triton.jit
def scatter(addrs, x):
    "größe"; p = tl.load(addrs).to(tl.pointer_type(tl.float32))
    "größe"; tl.store(p, tl.load(x))  # ü triton-mutlint: ignore[TML101]  # triton-mutlint: ignore[TML202] ours
"""


@pytest.fixture(params=["kü.py", "jürgen/k.py", "長い 😀/k.py"])
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    found: str = request.param
    Path(found).parent.mkdir(exist_ok=True)
    Path(found).write_text(ACCEPTED, encoding="utf-8")
    return found


def check(*arguments: str) -> int:
    return boundary.run(["check", "--isolated", "--no-cache", "--target", "cuda:90", *arguments])


def test_accesses_are_in_the_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(name, "--format", "json")
    report = json.loads(capsys.readouterr().out)
    (kernel,) = report["kernels"]
    (write,) = kernel["indirect_writes"]
    column = 1 + len('    "größe"; '.encode())
    assert (write["file"], write["line"], write["column"]) == (name, 8, column)
    frame = kernel["parameters"][0]["accesses"][0]["path"][0]
    assert (frame["function"], frame["file"]) == ("scatter", name)


def test_a_suppression_holds_and_is_left_alone(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(name, "--format", "json")
    found = {f["rule"]: f["suppressed"] for f in json.loads(capsys.readouterr().out)["findings"]}
    assert found == {"TML202": True}
    check(name, "--fix")
    assert Path(name).read_text(encoding="utf-8") == ACCEPTED


def test_an_idle_suppression_after_other_letters_is_taken_out(name: str) -> None:
    idle = '    "ü"  # größer  # triton-mutlint: ignore[TML202] idle\n'
    Path(name).write_text(ACCEPTED + idle, encoding="utf-8")
    check(name, "--fix")
    assert Path(name).read_text(encoding="utf-8") == ACCEPTED + '    "ü"  # größer\n'


def test_sarif_counts_characters(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(name, "--format", "sarif")
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    place: dict[str, Any] = run["results"][0]["locations"][0]["physicalLocation"]
    start = 1 + len('    "größe"; ')
    assert place["region"] == {"startLine": 8, "startColumn": start, "endColumn": start + len("tl.store")}


def test_the_caret_stands_under_the_call_and_under_the_comment(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    idle = '    "ü"  # größer  # triton-mutlint: ignore[TML202] idle\n'
    Path(name).write_text(ACCEPTED + idle, encoding="utf-8")
    check(name, "--color", "never")
    lines = capsys.readouterr().out.splitlines()
    marked = [(line, mark) for line, mark in pairwise(lines) if mark.strip(" |") == "^"]
    shown = {line[mark.index("^") :][:10] for line, mark in marked}
    assert {"tl.store(p", "# triton-m"} <= shown
