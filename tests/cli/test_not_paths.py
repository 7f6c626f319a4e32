"""What is named as if it were Python source and is not: commands, notebooks, compiled kernels."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary

CELL = ["import triton\n", "@triton.jit\n", "def k(x): pass\n"]
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": CELL}], "nbformat": 4})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str) -> int:
    return boundary.run(["check", "--isolated", "--no-cache", *arguments])


@pytest.mark.parametrize("argument", ["my notes.ipynb", "my notes.ipynb::k", "renamed.py"])
def test_a_notebook_is_not_read_as_python(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(argument.partition("::")[0]).write_text(NOTEBOOK, encoding="utf-8")
    assert check(argument) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "error[TML901]" in said
    assert "is a notebook: notebooks are not read" in said
    name = "NOTEBOOK.ipynb" if argument == "renamed.py" else "'my notes.ipynb'"
    assert f"help: lint its code: jupyter nbconvert --to script --stdout {name} | triton-mutlint -" in said


def test_an_empty_notebook_is_one_too_and_a_folder_is_searched_for_python(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.ipynb").write_text("", encoding="utf-8")
    assert check(".") == 0
    assert check("a.ipynb") == 1
    assert "a.ipynb is a notebook" in capsys.readouterr().out


def test_a_notebook_on_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NOTEBOOK.encode())))
    assert check("-") == 2
    said = capsys.readouterr().err
    assert "<stdin> is a notebook: notebooks are not read" in said
    assert "help: lint its code: jupyter nbconvert" in said


def test_python_that_begins_with_a_brace_is_no_notebook() -> None:
    Path("a.py").write_text('{"cells": 1}["cells"]\nprint(1)\n', encoding="utf-8")
    assert check("a.py") == 0


def test_a_cell_under_its_notebooks_name_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x = 1\n")))
    assert check("-", "--stdin-filename", "a.ipynb") == 0


@pytest.mark.parametrize("suffix", ["llir", "ptx"])
def test_what_triton_compiled_is_no_source(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"k.{suffix}").write_text("module {\n}\n", encoding="utf-8")
    assert check(f"k.{suffix}") == 1
    assert "is not Python source but what Triton compiled" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "said"), [
    (["chekc", "src"], "no such file, directory or command: chekc; did you mean the command 'check'?"),
    (["recrod", "x.py"], "did you mean the command 'record'?"),
    (["--no-cache", "list", "x.py"], "the command 'list' stands before its options: triton-mutlint list ..."),
])
def test_a_command_is_told_from_a_path(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert boundary.run(arguments) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("path", ["chekc.py", "src/chekc", "kernels"])
def test_a_path_that_is_not_there_is_a_path(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert boundary.run([path]) == boundary.run(["check", path]) == boundary.run(["check", "chekc"]) == 2
    assert f"error: no such file or directory: {path}" in capsys.readouterr().err


def test_a_file_of_a_like_name_is_meant_before_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rulez").mkdir()
    assert boundary.run(["rulezz"]) == 2
    assert "did you mean rulez?" in capsys.readouterr().err


def test_helpers_alone_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("helper.py").write_text("import triton\n@triton.jit\ndef twice(x):\n    return x * 2\n")
    assert check("helper.py") == 0
    assert capsys.readouterr().out == "no Triton kernels found; 1 helper, analysed where called\n"
