"""`check --fix` and `check --diff` on real kernels."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.cli.shell import boundary
from triton_mutlint.config.request import Request
from triton_mutlint.fixes.plan import fixable
from triton_mutlint.run.run import run

RULES = FIXTURES / "rules"
BAD = {"TML101": "*", "TML102": "*", "TML301": "[hpwz]*", "TML905": "*"}
HEAD = """\
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})]
NAMES = ["x_ptr"]

"""
HALVE = """
@triton.jit
def halve(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)
"""
TUNED = f'{HEAD}\n@triton.autotune(CONFIGS, key=["n"]){HALVE}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str) -> int:
    return boundary.run(["check", "--isolated", *arguments])


def left(folder: Path, *names: str) -> list[str]:
    return [f.rule for f in run(Request(names, folder)).findings if not f.suppressed]


def files(folder: Path) -> dict[str, bytes]:
    found = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


@pytest.mark.slow
def test_nothing_fixable_is_left_and_a_second_time_changes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad fixtures of the four rules at once, each in a folder of its own with its spec."""
    for fixture in (f for code, pattern in BAD.items() for f in (RULES / code / "bad").glob(f"{pattern}.py")):
        own = folder / f"{fixture.parts[-3]}_{fixture.stem}"
        own.mkdir()
        shutil.copy(fixture, own / "k.py")
        if fixture.with_suffix(".yaml").exists():
            shutil.copy(fixture.with_suffix(".yaml"), own / "triton-mutlint.yaml")
    before, found = files(folder), run(Request((".",), folder)).findings
    asked = fixable(found)
    assert {f.rule for f in asked} == {"TML101", "TML102", "TML301", "TML905"}

    assert check("--diff", ".") == 1
    diff = capsys.readouterr().out
    assert files(folder) == before

    check("--fix", ".")
    assert "not fixed" not in capsys.readouterr().err
    fixed = files(folder)
    remaining = run(Request((".",), folder)).findings
    assert fixable(remaining) == ()
    assert len(remaining) == len(found) - len(asked)
    check("--fix", ".")
    assert files(folder) == fixed

    for name, data in before.items():
        (folder / name).write_bytes(data)
    subprocess.run(["git", "apply", "-p0", "-"], input=diff.encode(), cwd=folder, check=True)
    assert files(folder) == fixed


@pytest.mark.parametrize(("prefix", "encoding", "newline"), [
    (b"", "utf-8", "\n"), (b"", "utf-8", "\r\n"), (b"\xef\xbb\xbf", "utf-8", "\r\n"), (b"", "latin-1", "\n"),
    (b"", "latin-1", "\r\n"),
])
def test_only_the_edited_places_change(prefix: bytes, encoding: str, newline: str, folder: Path) -> None:
    text = f"# -*- coding: {encoding} -*-\n" + TUNED + "\n\nNAME = 'é'  \n\t\nLAST = 1"
    path = folder / "k.py"
    path.write_bytes(prefix + text.replace("\n", newline).encode(encoding))
    path.chmod(0o640)
    assert check("--fix", "k.py") == 0
    expected = text.replace('key=["n"]', 'key=["n"], restore_value=["x_ptr"]')
    assert path.read_bytes() == prefix + expected.replace("\n", newline).encode(encoding)
    assert path.stat().st_mode & 0o777 == 0o640
    assert left(folder, "k.py") == []


@pytest.mark.parametrize(("decorated", "reason"), [
    ("@triton.autotune(CONFIGS, key=['n'], restore_value=NAMES[1:])", "not a list of names"),
    ("@triton.autotune(CONFIGS, key=['n'], restore_value=('n' + '',))", "not a list of names"),
    ("def tuned(f):\n    return triton.autotune(configs=CONFIGS, key=['n'])(f)\n\n@tuned", "by a call that is"),
])
def test_what_is_not_written_out_stays_a_finding_with_its_help(
    decorated: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "k.py").write_text(f"{HEAD}\n{decorated}{HALVE}")
    before = files(folder)
    assert check("--fix", "k.py") == 1
    out, err = capsys.readouterr()
    assert files(folder) == before
    assert f"not fixed k.py:{[*(HEAD + decorated).splitlines()].index(decorated.splitlines()[-1]) + 2} TML301: " in err
    assert reason in err
    assert 'help: name `x_ptr` in `restore_value`' in out
    assert check("--diff", "k.py") == 0


def test_an_optional_pointer_cannot_be_copied_by_older_versions(folder: Path) -> None:
    optional = HALVE.replace("    tl.store", "    if x_ptr is not None:\n        tl.store")
    (folder / "k.py").write_text(f"{HEAD}\n@triton.autotune(CONFIGS, key=['n']){optional}")
    spec = 'version: 1\nkernels:\n  halve: {args: {x_ptr: [null, "*fp32"]}}\n'
    (folder / "triton-mutlint.yaml").write_text(spec)
    findings = run(Request(("k.py",), folder)).findings
    assert "TML301" in {f.rule for f in findings}
    assert fixable(findings) == ()


def test_an_argument_that_a_launch_passes_as_none_is_not_restored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = "\n\ndef first(n):\n    halve[(1,)](None, n)\n"
    (folder / "k.py").write_text(f"{HEAD}\n@triton.autotune(CONFIGS, key=['n']){HALVE}{launch}")
    before = files(folder)
    assert check("--fix", "k.py") == 1
    out, err = capsys.readouterr()
    assert files(folder) == before
    assert "the argument may be None" in err
    assert "in hooks that ask for None" in " ".join(out.split())


def test_several_lists_of_one_decorator_and_one_kernel(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = HALVE.replace("x_ptr, n", "x_ptr, sum_ptr, n_ptr, n") + "    tl.atomic_add(sum_ptr, 1.0)\n"
    decorated = '@triton.autotune(CONFIGS, key=["n"], reset_to_zero=["x_ptr"], restore_value=["BLOCK"])'
    declared = "# triton-mutlint: mutates=x_ptr, n_ptr  # as of today"
    (folder / "k.py").write_text(f"{HEAD}\n{declared}\n{decorated}{body}")
    assert sorted(left(folder, "k.py")) == ["TML101", "TML102", "TML301", "TML301", "TML301"]
    assert check("--fix", "--fail-on", "info", "k.py") == 0
    text = (folder / "k.py").read_text()
    assert '@triton.autotune(CONFIGS, key=["n"], reset_to_zero=[], restore_value=["x_ptr", "sum_ptr"])' in text
    assert "# triton-mutlint: mutates=x_ptr,sum_ptr  # as of today" in text.replace(", ", ",")
    err = capsys.readouterr().err
    assert "5 findings fixed in 1 file" in err
    assert check("--diff", "k.py") == 0


def test_a_spec_and_its_file_are_fixed_together(folder: Path) -> None:
    body = HALVE.replace("mask=i < n)\n", "mask=i < n)  # triton-mutlint: ignore[TML201]\n", 1)
    (folder / "k.py").write_text(HEAD + body)
    (folder / "triton-mutlint.yaml").write_text("version: 1\nkernels:\n  halve:\n    mutates:\n    - n  # ?\n")
    assert check("--fix", "k.py") == 0
    assert (folder / "triton-mutlint.yaml").read_text() == "version: 1\nkernels:\n  halve:\n    mutates:\n    - x_ptr\n"
    assert (folder / "k.py").read_text() == HEAD + HALVE
    assert left(folder, "k.py") == []


def test_an_edit_of_the_spec_that_the_comment_contradicts_is_not_made(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "k.py").write_text(f"{HEAD}\n# triton-mutlint: mutates={HALVE}")
    (folder / "triton-mutlint.yaml").write_text("version: 1\nkernels:\n  halve: {mutates: []}\n")
    before = files(folder)
    assert check("--fix", "k.py") == 1
    assert files(folder) == before
    assert "not fixed k.py:10 TML101: after the edit, TML904 appears" in capsys.readouterr().err


def test_two_kernels_that_share_an_entry_get_the_union(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(HEAD + HALVE)
    other = HALVE.replace("x_ptr", "y_ptr").replace("(y_ptr, n", "(x_ptr, y_ptr, n")
    (folder / "b.py").write_text(HEAD + other)
    (folder / "triton-mutlint.yaml").write_text("version: 1\nkernels:\n  halve: {mutates: [x_ptr]}\n")
    assert check("--fix", "a.py", "b.py") == 0
    assert "halve: {mutates: [x_ptr, y_ptr]}" in (folder / "triton-mutlint.yaml").read_text()
    refused = [line for line in capsys.readouterr().err.splitlines() if line.startswith("not fixed")]
    assert len(refused) == 1
    assert "TML102: after the edit, TML101 appears: `halve` writes `x_ptr`" in refused[0]


def test_suppressed_findings_are_left_alone(folder: Path) -> None:
    comment = "# triton-mutlint: ignore[TML301] ok\n"
    (folder / "k.py").write_text(TUNED.replace("@triton.autotune", f"{comment}@triton.autotune"))
    before = files(folder)
    assert check("--fix", "k.py") == 0
    assert files(folder) == before


def test_standard_input_can_be_shown_but_not_fixed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TUNED.encode())))
    assert check("--diff", "--stdin-filename", "sub/k.py", "-") == 1
    assert capsys.readouterr().out.startswith("--- sub/k.py\n+++ sub/k.py\n@@")
    assert check("--fix", "-") == 2
    assert "--diff shows" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [
    ["--fix", "--diff"], ["--diff", "--format", "json"], ["--diff", "--output", "x"],
    ["--diff", "--update-baseline", "--baseline", "b"],
])
def test_what_does_not_go_together(arguments: list[str], folder: Path) -> None:
    (folder / "k.py").write_text(TUNED)
    assert check(*arguments, "k.py") == 2
    assert sorted(files(folder)) == ["k.py"]


def test_the_rest_is_reported_in_any_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = HALVE.replace("halve", "other").lstrip()
    (folder / "k.py").write_text(f"{TUNED}\n# triton-mutlint: mutates=BLOK\n{other}")
    assert check("--fix", "--fail-on", "warning", "--format", "concise", "k.py") == 1
    out, err = capsys.readouterr()
    assert [line.split()[2] for line in out.splitlines()] == ["TML904"]
    assert [line.split()[2] for line in err.splitlines()[:2]] == ["TML301:", "TML101:"]
    assert "not fixed k.py:14 TML904: `BLOCK` may be meant" in err


def test_exit_zero(folder: Path) -> None:
    (folder / "k.py").write_text(TUNED)
    assert check("--diff", "--exit-zero", "k.py") == 0


WRONG = '''
@triton.autotune(CONFIGS, key=["n"], restore_value=["nope"{more}])
@triton.jit
def halve(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)
'''


@pytest.mark.parametrize(("more", "fixed"), [
    ("", 'restore_value=["x_ptr"]'), (', "x_ptr"', 'restore_value=["x_ptr"]'),
    (', "BLOCK"', 'restore_value=["x_ptr"]'), (', "n"', 'restore_value=["n", "x_ptr"]'),
])
def test_names_that_are_no_parameters_go_out_of_autotunes_lists(
    more: str, fixed: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "k.py").write_text(HEAD + WRONG.replace("{more}", more))
    check("k.py")
    advice = [line for line in capsys.readouterr().out.splitlines() if "restore_value=" in line and "help" in line]
    assert all(fixed in line for line in advice)
    check("--fix", "k.py")
    assert "not fixed" not in capsys.readouterr().err
    assert fixed in (folder / "k.py").read_text()
    assert left(folder, "k.py") == []


def test_the_name_that_may_be_meant_is_not_guessed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + WRONG.replace("{more}", "").replace("nope", "x_prt").replace(" * 0.5", "").replace(
        "tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)", "tl.load(x_ptr + i, mask=i < n)")
    (folder / "k.py").write_text(text)
    check("--fix", "k.py")
    assert "not fixed k.py:8 TML301: `x_ptr` may be meant" in capsys.readouterr().err
    assert (folder / "k.py").read_text() == text


@pytest.mark.parametrize(("names", "fixed"), [("x_ptr, nope", "x_ptr"), ("nope", "x_ptr"), ("x_prt, x_ptr", "x_ptr")])
def test_names_that_are_no_parameters_go_out_of_comments(names: str, fixed: str, folder: Path) -> None:
    text = f"{HEAD}\n# triton-mutlint: mutates={names}{HALVE}"
    (folder / "k.py").write_text(text)
    check("--fix", "k.py")
    assert f"mutates={fixed}\n" in (folder / "k.py").read_text()
    assert left(folder, "k.py") == []


OPS = '''
# triton-mutlint: ignore[TML201] this line goes
# triton-mutlint: mutates=x_ptr
@triton.jit
def set_one(x_ptr):
    tl.store(x_ptr, 1)


@torch.library.custom_op("l::b", mutates_args=("x", "zz"))
def b(x: torch.Tensor) -> None:
    set_one[(1,)](x)


lib = torch.library.Library("l", "DEF")
lib.define("e(Tensor x) -> ()")


@torch.library.impl(lib, "e", "CUDA")
def e(x):
    set_one[(1,)](x)
'''


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_what_no_fix_settles_is_told_with_the_lines_that_the_reader_sees(
    option: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"import torch\n{HEAD}{OPS}"
    (folder / "k.py").write_text(text)
    check(option, "k.py")
    shown = (folder / "k.py").read_text().splitlines()
    assert len(shown) == len(text.splitlines()) - (option == "--fix")
    op = next(i for i, line in enumerate(shown, 1) if "l::b" in line)
    schema = next(i for i, line in enumerate(shown, 1) if "lib.define" in line)
    err = capsys.readouterr().err
    assert f"not fixed k.py:{op} TML105: what was meant is not known" in err
    assert f"not fixed k.py:{schema} TML103: schemas are not edited" in err


def test_a_file_that_cannot_be_written_does_not_stop_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (folder / name).write_text(TUNED)
    refused, access = str(folder / "b.py"), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != refused and access(path, mode))
    assert check("--fix", "--no-cache", ".") == 1
    assert "cannot write b.py: it is read-only" in capsys.readouterr().err
    assert (folder / "b.py").read_text() == TUNED
    assert all("restore_value" in (folder / name).read_text() for name in ("a.py", "c.py"))
