"""What a shell is offered, asked the way click's scripts ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.cli_shell import Shell
from triton_mutlint.cli.shell import boundary
from triton_mutlint.rules import RULES


def offered(shell: Shell, words: str) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(boundary.COMPLETION_VARIABLE, "bash_complete")
        patch.setenv("COMP_WORDS", words)
        patch.setenv("COMP_CWORD", str(words.count(" ")))
        assert shell() == 0
    assert shell.err == ""
    return [line.partition(",")[2] if line.startswith("plain") else line for line in shell.out.splitlines()]


def test_commands_and_files_come_first(shell: Shell) -> None:
    found = offered(shell, "triton-mutlint ")
    assert found[0] == "file,"
    assert {"check", "snapshot", "rule", "config", "completion"} <= set(found)


@pytest.mark.parametrize(("words", "found"), [
    ("triton-mutlint --check-s", ["--check-snapshot"]),
    ("triton-mutlint k.py --update", ["--update-baseline"]),
    ("triton-mutlint check ker", ["file,ker"]),
    ("triton-mutlint snapshot ker", ["file,ker"]),
    ("triton-mutlint snapshot --out", ["--output"]),
    ("triton-mutlint rule tml2", [code for code in sorted(RULES) if code.startswith("TML2")]),
    ("triton-mutlint k.py --ignore TML201,TML1", [f"TML201,{c}" for c in sorted(RULES) if c.startswith("TML1")]),
    ("triton-mutlint --format s", ["sarif"]),
    ("triton-mutlint completion z", ["zsh"]),
])
def test_what_may_come_next(shell: Shell, words: str, found: list[str]) -> None:
    assert offered(shell, words) == found
    assert not shell.requests


@pytest.mark.parametrize(("name", "mark"), [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete ")])
def test_scripts_ask_for_this_program(shell: Shell, name: str, mark: str) -> None:
    assert shell("completion", name) == 0
    assert mark in shell.out
    assert f"{boundary.COMPLETION_VARIABLE}={name}_complete" in shell.out


def test_other_shells_are_refused(shell: Shell) -> None:
    assert shell("completion", "tcsh") == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_in_bash_itself(tmp_path: Path) -> None:
    program = tmp_path / "triton-mutlint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m triton_mutlint "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(triton-mutlint completion bash)"
        COMP_WORDS=(triton-mutlint snap); COMP_CWORD=1
        compopt() { :; }
        _triton_mutlint_completion triton-mutlint
        echo "${COMPREPLY[@]}"
    """
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert (run.stdout, run.stderr) == ("snapshot\n", "")
