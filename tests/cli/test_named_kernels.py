"""`file.py::kernel`: what is named is linted, and nothing else of the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary

KERNELS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def fill(out_ptr):
    tl.store(out_ptr, 0.0)


@triton.jit
def twice(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr) * 2)


@torch.library.custom_op("a::fill", mutates_args=())
def fill_op(out: torch.Tensor) -> None:
    fill[(1,)](out)


if True:
    @triton.jit
    def twice(x_ptr, out_ptr):
        tl.store(x_ptr, 1)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.py").write_text(KERNELS)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "o.py").write_text(KERNELS.replace("twice", "thrice"))
    monkeypatch.chdir(tmp_path)


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict]:
    status = boundary.run(["check", "--target", "cuda:90", "--format", "json", *arguments])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["a::fill_op", "fill_op"])
def test_an_op_can_be_named(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("k.py").read_text().replace("a::fill", "a::fill_op") + """

@torch.library.custom_op("a::other", mutates_args=())
def other_op(out: torch.Tensor) -> None:
    fill[(1,)](out)
"""
    Path("ops.py").write_text(text)
    _, report = lint(capsys, f"ops.py::{name}")
    assert ([op["name"] for op in report["ops"]], report["kernels"]) == (["a::fill_op"], [])
    assert [finding["rule"] for finding in report["findings"]] == ["TML103"]
    _, same = lint(capsys, f"ops:{name}")
    assert same == report
    _, none = lint(capsys, "ops.py::a::flil")
    assert none["findings"][0]["message"] == "ops.py defines no kernel `a::flil`"


def test_a_kernel_that_does_not_exist_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    status, report = lint(capsys, "k.py::file")
    assert (status, report["kernels"]) == (1, [])
    (finding,) = report["findings"]
    assert (finding["severity"], finding["message"]) == ("error", "k.py defines no kernel `file`")
    boundary.run(["check", "--isolated", "k.py::file"])
    printed = capsys.readouterr().out
    assert "help: did you mean fill?" in printed
    assert "globals" not in printed
    boundary.run(["check", "--isolated", "k.py::twice:13"])
    assert "help: did you mean twice:" in capsys.readouterr().out


def test_the_ops_of_a_file_are_not_those_of_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    status, report = lint(capsys, "k.py::fill")
    assert (status, report["ops"], report["findings"]) == (0, [], [])
    assert [k["name"] for k in report["kernels"]] == ["fill"]
    status, report = lint(capsys, "k.py")
    assert (status, [o["name"] for o in report["ops"]]) == (1, ["a::fill"])


@pytest.mark.parametrize("written", ["k.py::twice", "other.o:thrice"])
@pytest.mark.parametrize("line", [12, 23])
def test_kernels_of_one_name_are_told_apart_by_line(
    written: str, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    status, report = lint(capsys, f"{written}:{line}")
    assert (status, [(k["name"], k["line"]) for k in report["kernels"]]) == (0, [(written.rpartition(":")[2], line)])


def test_entries_by_line_are_not_stale_where_their_file_is_not_linted(capsys: pytest.CaptureFixture[str]) -> None:
    boundary.run(["init", "k.py", "other", "--spec", "triton-mutlint.yaml"])
    assert "k.py::twice:23:" in Path("triton-mutlint.yaml").read_text()
    capsys.readouterr()
    _, report = lint(capsys, "other")
    assert [f for f in report["findings"] if f["rule"] == "TML904"] == []
    Path("k.py").write_text(KERNELS.replace("twice", "again"))
    _, report = lint(capsys, ".")
    stale = [f["message"] for f in report["findings"] if f["rule"] == "TML904"]
    assert len(stale) == 2
    assert "no kernel is called `k.py::twice:12`" in stale[0]


def test_entries_of_made_kernels_are_not_stale_where_their_file_is_not_linted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:
    Path("made.py").write_text('''import triton
import triton.language as tl


def make(scale):
    @triton.jit
    def kernel(ptr):
        tl.store(ptr, scale)
    return kernel


KERNELS = {"one": make(tl.constexpr(1)), "two": make(tl.constexpr(2))}
''')
    boundary.run(["init", "made.py", "other", "--spec", "triton-mutlint.yaml"])
    assert "KERNELS.one" in Path("triton-mutlint.yaml").read_text()
    capsys.readouterr()
    _, report = lint(capsys, "other")
    assert [f["message"] for f in report["findings"] if f["rule"] == "TML904"] == []


MADE = """\
import triton
import triton.language as tl


def make(flag):
    FLAG = tl.constexpr(flag)

    @triton.jit
    def kernel(x_ptr, y_ptr):
        tl.store(x_ptr if FLAG else y_ptr, 1.0)

    return kernel


class Ops:
    @triton.jit
    def method(x_ptr):
        tl.store(x_ptr, 1.0)


KERNELS = [make(True), make(False)]
"""


def test_a_kernel_has_one_name_which_every_command_takes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("made.py").write_text(MADE)
    names = [kernel["name"] for kernel in lint(capsys, "made.py")[1]["kernels"]]
    assert names == ["KERNELS.0", "KERNELS.1", "method"]
    boundary.run(["list", "made.py", "--format", "json"])
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == names
    for name in names:
        assert [kernel["name"] for kernel in lint(capsys, f"made.py::{name}")[1]["kernels"]] == [name]
        assert boundary.run(["ir", f"made.py::{name}"]) == 0
        assert capsys.readouterr().out.split(",")[0].endswith(f" {name}")


def test_kernels_that_share_a_name_are_told_apart_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert boundary.run(["ir", "k.py"]) == 2
    assert capsys.readouterr().err.strip().endswith("name one kernel: k.py::fill, k.py::twice:12, k.py::twice:23")
    assert boundary.run(["ir", "k.py::twice:23"]) == 0
