"""`--fix` on what torch ops declare: the list says what is written, and nothing else changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.cli.shell.boundary import run

OPS = FIXTURES / "ops"
HEAD = "import torch\nfrom torch.library import custom_op\n\nREST = ()\n\n\n"
BODY = "\ndef op(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> None:\n    x.zero_()\n    y.zero_()\n"


@pytest.mark.parametrize("file", ["inplace_ops.py", "views.py", "containers.py", "silu.py"])
def test_after_a_fix_nothing_is_left_to_fix(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(OPS / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / file).read_text().splitlines()
    run(["--fix", "--select", "TML103,TML104", file])
    capsys.readouterr()
    after = (tmp_path / file).read_text().splitlines()
    assert len(after) == len(before)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed
    assert all("mutates_args" in line for line in changed)
    assert run(["--select", "TML103,TML104", "--format", "concise", file]) == 0
    left = capsys.readouterr().out.splitlines()
    assert all("unless it was copied on the way" in line for line in left), left


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("()", '("x", "y")'),
        ("[]", '["x", "y"]'),
        ("{}", '{"x", "y"}'),
        ("set()", '["x", "y"]'),
        ("None", '["x", "y"]'),
        ("('y',)", "('x', 'y')"),
        ('("x",) + REST', '("x", "y") + REST'),
        ('["z"]', '["x", "y"]'),
        ('("x", "z")', '("x", "y")'),
        ('{"z", "y",}', '{"y", "x",}'),
        ('[\n    "x",\n    "z",\n]', '[\n    "x",\n    "y",\n]'),
    ],
)
def test_lists(written: str, fixed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'{HEAD}@custom_op("fix::op", mutates_args={written}){BODY}'
    (tmp_path / "ops.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    run(["--fix", "--quiet", "ops.py"])
    result = (tmp_path / "ops.py").read_text()
    assert result == text.replace(f"mutates_args={written}", f"mutates_args={fixed}")


@pytest.mark.parametrize("written", ["NAMES", '"x"', '["x",  # first\n "z"]'])
def test_what_is_not_written_out_is_left_alone(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'{HEAD}NAMES = tuple(c for c in "x")\n\n\n@custom_op("fix::op", mutates_args={written}){BODY}'
    (tmp_path / "ops.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    run(["--fix", "ops.py"])
    assert (tmp_path / "ops.py").read_text() == text


GUESSED = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, out, MODE: tl.constexpr):
    y = tl.load(x)
    if MODE == "twice":
        y = y * 2
    tl.store(out, y)


@torch.library.custom_op("fix::op", mutates_args=("x", "out"))
def op(x: torch.Tensor, out: torch.Tensor, mode: str) -> None:
    scale[(1,)](x, out, MODE=mode)
'''


@pytest.mark.parametrize("branch", ["y = y * 2", "tl.store(x, y)"])
def test_what_a_guessed_value_decides_counts_only_where_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], branch: str
) -> None:
    text = GUESSED.replace("y = y * 2", branch)
    (tmp_path / "ops.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    run(["--fix", "--select", "TML104", "ops.py"])
    left = '("out",)' if branch == "y = y * 2" else '("x", "out")'
    assert (tmp_path / "ops.py").read_text() == text.replace('("x", "out")', left)
