"""How much is printed: a line for each kernel of several files, all that is known of one, or findings alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary

KERNEL = """\
import triton
import triton.language as tl


# triton-mutlint: mutates=
@triton.jit
def fill(out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), 0.0)
"""
LINE = "fill  writes out_ptr"
ALL = "out_ptr is written"
FINDING = "error[TML101] undeclared-mutation [*]"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "src" / name).write_text(KERNEL)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "k.py").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert boundary.run(["check", "--isolated", "--target", "cuda:90", *arguments]) == 1
    return capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "is_full"), [
    (["src/a.py"], True), (["src/a.py::fill"], True), (["src/a.py::fill", "src/a.py"], True),
    (["src"], False), (["one"], False), (["src/a.py", "src/b.py"], False), (["src", "-v"], True),
])
def test_one_file_is_told_in_full(arguments: list[str], is_full: bool, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, *arguments)
    assert LINE in out
    assert (ALL in out) == is_full
    assert FINDING in out
    assert "analysed" in out


def test_quiet_prints_findings_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["src/a.py"], ["src"]):
        out = printed(capsys, *arguments, "-q")
        assert out.startswith(FINDING)
        assert not any(text in out for text in (ALL, LINE, "analysed", "can be fixed"))


def test_a_run_from_the_cache_prints_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_MUTLINT_NO_CACHE", raising=False)
    for arguments in (["src"], ["src/a.py"], ["src", "-v"]):
        first = printed(capsys, *arguments, "--cache-dir", "kept")
        assert printed(capsys, *arguments, "--cache-dir", "kept") == first == printed(capsys, *arguments, "--no-cache")
