"""Every file of fixtures/bad in one run: each a clear finding or a verdict, and the others go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.cli.shell import boundary

BAD = FIXTURES / "bad"

# What a file's finding must say; files that are not here must be analysed without a finding.
EXPECTED = {
    "binary.py": ("TML901", "null bytes"),
    "constexpr_without_value.py": ("TML902", "startswith"),
    "endless_unrolling.py": ("TML902", "still running after 5 s"),
    "exit_in_needed_constant.py": ("TML901", "WIDTH"),
    "latin1.py": ("TML901", "0xf6"),
    "merge_marks.py": ("TML901", "syntax error"),
    "mixed_indentation.py": ("TML901", "inconsistent use of tabs"),
    "needed_dependency.py": ("TML901", "a_package_that_is_not_installed.kernels.scale_helper"),
    "null_bytes.py": ("TML901", "null bytes"),
    "placeholder_triton.py": ("TML901", "is not Triton's"),
    "recursive_helper.py": ("TML902", "calls itself"),
    "rejected_by_triton.py": ("TML902", "power of 2"),
    "syntax_error.py": ("TML901", "expected ':'"),
    "unbalanced.py": ("TML901", "never closed"),
    "wrong_element_type.py": ("TML902", ""),
}
SKIPPED = {"empty.py", "no_kernels.py"}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bad") / "bad"
    shutil.copytree(BAD, folder)
    command = [sys.executable, "-m", "triton_mutlint", *sorted(p.name for p in folder.glob("*.py")),
               "--format", "json", "--target", "cuda:90", "--timeout", "5"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1, run.stderr
    assert "Traceback" not in run.stderr
    assert "not the tool's output" not in run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    return report


def test_every_file_has_a_finding_or_a_verdict(outcome: dict[str, Any]) -> None:
    failed = {f["file"] for f in outcome["findings"] if f["rule"] in ("TML901", "TML902")}
    analyzed = {k["file"] for k in outcome["kernels"] if k["status"] == "analyzed"}
    files = {p.name for p in BAD.glob("*.py")} - SKIPPED
    assert failed == set(EXPECTED)
    assert files - set(EXPECTED) <= analyzed


@pytest.mark.parametrize("name", EXPECTED)
def test_a_finding_says_what_and_where(outcome: dict[str, Any], name: str) -> None:
    rule, words = EXPECTED[name]
    found = [f for f in outcome["findings"] if f["file"] == name and f["rule"] == rule]
    assert any(words in f["message"] and f["line"] >= 1 for f in found), found


def test_the_sound_kernel_beside_rejected_ones_is_analysed(outcome: dict[str, Any]) -> None:
    kernels = {k["name"]: k["status"] for k in outcome["kernels"] if k["file"] == "rejected_by_triton.py"}
    assert "analyzed" in kernels.values()


def test_kernels_that_call_each_other_are_analysed(outcome: dict[str, Any]) -> None:
    found = {k["name"]: k["mutated"] for k in outcome["kernels"] if k["file"] == "mutual_recursion.py"}
    assert found == {"even": ["x"], "odd": ["y"]}


def test_kernels_that_share_a_name_are_told_apart(outcome: dict[str, Any]) -> None:
    kernels = [k for k in outcome["kernels"] if k["file"] == "same_name_twice.py"]
    assert len({k["line"] for k in kernels}) == len(kernels) >= 2


def test_the_cap_is_stated(outcome: dict[str, Any]) -> None:
    kernel = next(k for k in outcome["kernels"] if k["file"] == "many_variants.py")
    assert kernel["variants"] == {"analyzed": 64, "total": 1600}
    conditions = {p["name"]: p["when"] for p in kernel["parameters"] if p["mutation"] == "conditional"}
    assert conditions == {f"{c}_ptr": [f"W_{c.upper()}=True"] for c in "abcd"}


PIPED = """\
import triton
import triton.language as tl
import zeros
from pipe import helper


@triton.jit
def other(x):
    tl.store(x, helper())


@triton.jit
def opens(x):
    tl.store(x, ZEROS)


ZEROS = len(open("pipe.py").read())
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="takes pipes")
@pytest.mark.parametrize("named", ["pipe.py", "zeros.py", "kernels.py", "."])
def test_pipes_and_devices_are_neither_waited_for_nor_read(
        named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether they are named, searched for what a spec names, imported, or opened by the file itself."""
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zeros.py").symlink_to("/dev/zero")
    (tmp_path / "kernels.py").write_text(PIPED)
    (tmp_path / "triton-mutlint.yaml").write_text("version: 1\nkernels:\n  gone: {args: {y: i32}}\n")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        code = boundary.run([named, "--format", "concise", "--cache-dir", "cache"])
        printed = capsys.readouterr()
        assert (code, printed.err) == (int(named in ("pipe.py", "zeros.py")), "")
        lines = printed.out.splitlines()
        if named in ("pipe.py", "zeros.py"):
            kind = "pipe" if named == "pipe.py" else "device"
            assert lines == [f"{named}:1:1: error: TML901 cannot read {named}: it is a {kind}, not a file"]
        else:
            assert any("`gone`" in line for line in lines)
            assert sum("TML901" in line for line in lines) == 2


@pytest.mark.parametrize(("text", "said"), [
    ("__version__ = '3.1.0'\n", "triton 3.1.0 is not supported: triton-mutlint needs triton >= 3.3"),
    ("raise ImportError('libz is missing')\n", "cannot import triton (libz is missing); install it"),
])
@pytest.mark.parametrize("command", [["check"], ["list"], ["check", "--jobs", "2"]])
def test_a_triton_that_cannot_be_used_is_no_fault_of_the_file(
        tmp_path: Path, text: str, said: str, command: list[str]) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text(text)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import triton\n@triton.jit\ndef k(x):\n    pass\n")
    run = subprocess.run([sys.executable, "-m", "triton_mutlint", *command, "a.py", "b.py"], cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
