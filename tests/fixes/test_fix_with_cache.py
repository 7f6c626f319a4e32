"""`check --fix` and `check --diff` of a spec do the same whether results are kept or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, y_ptr, n, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""
SPEC = """\
version: 1
kernels:
  scale_rows:
    args: {x_ptr: "*fp32", y_ptr: "*fp32", n: i32, TILE: 32}
    mutates: [x_ptr]
"""
FIXED = SPEC.replace("[x_ptr]", "[y_ptr]")
WAYS = {"found": ("triton-mutlint.yaml", ()), "named": ("own.yaml", ("--spec", "own.yaml"))}


@pytest.fixture(params=WAYS)
def spec(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> tuple[Path, tuple[str, ...]]:
    """The spec's file, and the options that name it."""
    name, options = WAYS[request.param]
    (tmp_path / ".git").mkdir()
    (tmp_path / "rows.py").write_text(KERNEL)
    (tmp_path / name).write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path / name, options


def check(*arguments: str) -> int:
    return boundary.run(["check", "--isolated", *arguments, "rows.py"])


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("caching", [("--cache-dir", "kept"), ("--no-cache",)])
def test_the_spec_is_fixed(spec: tuple[Path, tuple[str, ...]], caching: tuple[str, ...], filled: bool) -> None:
    path, options = spec
    if filled:
        assert check(*caching, *options) == 1
    assert check("--fix", *caching, *options) == 0
    assert path.read_text() == FIXED
    assert check(*caching, *options, "--fail-on", "warning") == 0


@pytest.mark.parametrize("caching", [("--cache-dir", "kept"), ("--no-cache",)])
def test_the_diff_of_the_spec_is_shown_and_nothing_written(
    spec: tuple[Path, tuple[str, ...]], caching: tuple[str, ...], capsys: pytest.CaptureFixture[str],
) -> None:
    path, options = spec
    for _ in range(2):
        assert check("--diff", *caching, *options) == 1
        assert "+    mutates: [y_ptr]\n" in capsys.readouterr().out
    assert path.read_text() == SPEC
