from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_shell import Shell

import triton_mutlint.run
from triton_mutlint.cli import boundary


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", boundary.DEBUG_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    made = Shell(monkeypatch)
    fake = SimpleNamespace(run=made.engine)
    monkeypatch.setitem(sys.modules, "triton_mutlint.run.run", fake)
    monkeypatch.setattr(triton_mutlint.run, "run", fake, raising=False)
    return made
