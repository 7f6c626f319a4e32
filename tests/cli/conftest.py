from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli_shell import Shell
from triton_mutlint.cli.shell import boundary
from triton_mutlint.run import run as engine


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", boundary.DEBUG_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    made = Shell(monkeypatch)
    monkeypatch.setattr(engine, "run", made.engine)
    return made
