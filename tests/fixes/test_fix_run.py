"""`check --fix --run`: what a fix would take out of an op's declaration is held against runs of the op."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary
from triton_mutlint.cli.shell.output import Progress
from triton_mutlint.config.request import Request

OPS = """\
from torch import Tensor
from torch.library import custom_op


@custom_op("tried::stale", mutates_args=("x", "out"))
def stale(x: Tensor, out: Tensor) -> None:
    out.copy_(x)


@custom_op("tried::refuses", mutates_args=("x", "out"))
def refuses(x: Tensor, out: Tensor) -> None:
    if x.dim() >= 0:
        raise RuntimeError("never")
    out.copy_(x)


@custom_op("tried::written", mutates_args=("x", "out"))
def written(x: Tensor, out: Tensor) -> None:
    out.copy_(x.zero_())
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tried_ops.py").write_text(OPS)
    return tmp_path / "tried_ops.py"


@pytest.mark.torch
def test_only_what_runs_confirm_is_edited(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boundary.run(["check", "--isolated", "--no-cache", "--fix", "--run", "-q", file.name])
    said = capsys.readouterr().err
    first, second = (line for line in said.splitlines() if line.startswith(("fixed ", "not fixed ")))
    assert "take `x` out of `mutates_args` (confirmed by " in first
    assert second.startswith("not fixed tried_ops.py:10 TML104: `tried::refuses` could not be run: ")
    assert file.read_text() == OPS.replace('("x", "out")', '("out",)', 1)


@pytest.mark.torch
def test_a_run_that_changes_the_argument_forbids_the_edit(file: Path) -> None:
    from triton_mutlint.cli.trying import Tried
    from triton_mutlint.run.run import run

    request = Request((file.name,), file.parent, use_spec=False)
    with Progress() as progress:
        report = run(request, progress)
        stale = next(f for f in report.findings if f.rule == "TML104")
        wrong = replace(stale, op="tried::written")  # as if the analysis had missed that write
        held = Tried(request).held(replace(report, findings=(stale, wrong)), progress)
    assert [path.name for path in file.parent.iterdir() if path.suffix == ".py"] == [file.name]
    assert held.findings[0] == stale
    assert (held.findings[1].changes, "changed `x`" in held.findings[1].unfixed) == ((), True)


def test_run_goes_with_fixing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert boundary.run(["check", "--run", file.name]) == 2
    assert "--run goes with --fix or --diff" in capsys.readouterr().err
