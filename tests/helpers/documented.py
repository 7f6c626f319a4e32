"""Pages whose console blocks are real: each command is run again, and the page is written anew with what it printed.

A page takes part from a line `<!-- run in FOLDER -->` on: FOLDER is one of the repository, or `a new folder`, in which
blocks of Python, YAML and TOML that begin with a comment naming a file (`# src/kernels.py`) write that file. Run are
`triton-mutlint`, `cat` and `echo $?`; other commands, and what stands below them, are left as they are.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Callable
from pathlib import Path

NEW = "a new folder"
Run = Callable[[list[str]], tuple[int, str]]
"""Runs one command line of the tool in the working directory: its exit code, and what it printed."""

_PLACE = re.compile(r"^<!-- run in (.+) -->$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"# ([\w./-]+\.(?:py|yaml|toml))\n")
_NO_TARGET = {"list", "rule", "rules", "config", "verify", "record", "cache", "completion", "--version", "--help"}
_NEED_TORCH = {"verify", "record"}


def place(page: str) -> str | None:
    """The folder in which a page's commands are run; None where it is not run at all."""
    found = _PLACE.search(page)
    return found and found[1]


def played(page: str, folder: Path, run: Run) -> str:
    """The page with the output that its commands have in that folder, which is the working directory."""
    start = _PLACE.search(page)
    if start is None:
        return page
    session = _Session(folder, run)
    return page[: start.end()] + _BLOCK.sub(session.block, page[start.end() :])


class _Session:
    def __init__(self, folder: Path, run: Run) -> None:
        self._folder = folder
        self._run = run
        self._code = 0

    def block(self, match: re.Match[str]) -> str:
        kind, body = match[1], match[2]
        if kind == "console":
            commands = re.findall(r"^\$ .*\n(?:(?!\$ ).*\n)*", body, re.MULTILINE)
            body = "".join(self._command(command) for command in commands)
        elif title := _TITLE.match(body):
            file = self._folder / title[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body, encoding="utf-8")
        return f"```{kind}\n{body}```"

    def _command(self, shown: str) -> str:
        line = shown.split("\n", 1)[0]
        words = shlex.split(line[2:], comments=True)
        if line == "$ echo $?":
            return f"{line}\n{self._code}\n"
        if words[0] == "cat":
            return f"{line}\n{(self._folder / words[1]).read_text(encoding='utf-8')}"
        if words[0] != "triton-mutlint" or (words[1] in _NEED_TORCH and not importlib.util.find_spec("torch")):
            return shown
        # What is shown is the output on a machine whose GPU is active: where none is, the report says so.
        target = [] if words[1] in _NO_TARGET else ["--target", "cuda:90"]
        self._code, output = self._run([*words[1:], *target])
        return f"{line}\n{output}"
