"""The sessions that the README and docs/ show are what the tool prints.

`UPDATE_GOLDENS=1 pytest tests/test_documented.py` writes the outputs anew; read the difference.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.documented import NEW, place, played
from tests.helpers.places import ROOT
from triton_mutlint.cli.shell import boundary
from triton_mutlint.rules import RULES

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PLAYED = [page for page in PAGES if place(page.read_text(encoding="utf-8"))]


def test_the_first_run_the_tutorial_and_the_ops_are_played() -> None:
    assert {page.name for page in PLAYED} >= {"README.md", "tutorial.md", "torch-ops.md"}


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.name)
def test_what_a_page_shows_is_what_is_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    text = page.read_text(encoding="utf-8")
    where = place(text)
    folder = tmp_path if where == NEW else ROOT / str(where)
    (tmp_path / ".git").mkdir()  # as `git init` does: the project's root
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    def run(arguments: list[str]) -> tuple[int, str]:
        if arguments[0] == "verify":  # it sets Triton up for a whole process
            command = [sys.executable, "-m", "triton_mutlint", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True,
                                  env={**os.environ, "PYTHONPATH": str(ROOT)})
            return done.returncode, done.stdout + done.stderr
        code = boundary.run(arguments)
        printed = capsys.readouterr()
        assert code in (0, 1), printed.err  # pages show no misuse
        return code, printed.out + printed.err

    found = played(text, folder, run)
    if os.environ.get("UPDATE_GOLDENS"):
        page.write_text(found, encoding="utf-8")
        text = found
    assert found == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w./-]+\.md)\)", index))
    assert linked >= {page.name for page in PAGES if page.parent != ROOT} - {"index.md"} | {"rules/index.md"}
    assert set(RULES) <= set(re.findall(r"TML\d{3}", (ROOT / "docs/rules/index.md").read_text(encoding="utf-8")))


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 134
    assert max(map(len, lines)) <= 125
