"""The runs that the README shows are what the tool prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triton_mutlint.cli.boundary import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```console\n\$ triton-mutlint (-q )?(\w+\.py)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_there_are_examples() -> None:
    assert [name for _, name, _ in EXAMPLES] == ["silu.py", "ops.py"]


@pytest.mark.parametrize(("quiet", "name", "shown"), EXAMPLES, ids=[name for _, name, _ in EXAMPLES])
def test_an_example(quiet: str, name: str, shown: str, monkeypatch: pytest.MonkeyPatch,
                    capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    monkeypatch.chdir(ROOT / "fixtures" / "readme")
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*quiet.split(), "--target", "cuda:90", name]) == 1
    assert capsys.readouterr().out == shown
