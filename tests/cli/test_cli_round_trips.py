"""What one run writes down, the next run compares with: the real command line on real kernels."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary, output
from triton_mutlint.source.load import reset

HEAD = "import triton\nimport triton.language as tl\n\n\n"
SCALE = """\
@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * 2, mask=i < n)
"""
FILL = """\
@triton.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 0.0, mask=i < n)
"""
WRONG = "# triton-mutlint: mutates=\n"
Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def run_(*arguments: str) -> int:
        capsys.readouterr()
        reset()  # a command line is a process of its own, and files change between two of them
        return boundary.run(arguments)

    return run_


def put(path: str, *parts: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEAD + "\n\n".join(parts))
    return file


def concise(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is found, without place and severity."""
    return [line.split(": ", 2)[2].replace(" [*]", "") for line in capsys.readouterr().out.splitlines()]


# --------------------------------------------------------------------------- snapshot


def test_snapshot_then_check(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a b.py", SCALE)
    put("sub/c.py", FILL, FILL.replace("fill", "fill_again"))
    assert run("snapshot", ".") == 0
    assert capsys.readouterr().out == "triton-mutlint.snapshot written: 3 kernels, 3 of them from this run\n"
    first = Path("triton-mutlint.snapshot").read_bytes()
    assert run("--check-snapshot", "--fail-on", "info", ".") == 0
    assert run("snapshot", ".") == 0
    assert Path("triton-mutlint.snapshot").read_bytes() == first


@pytest.mark.parametrize("place", ["before", "after", "with =", "by itself"])
def test_the_file_of_the_option_may_stand_anywhere(run: Run, place: str) -> None:
    put("a.py", SCALE)
    name = "triton-mutlint.snapshot" if place == "by itself" else "mine.txt"
    assert run("snapshot", "a.py", "--output", name) == 0
    arguments = {
        "before": ["--check-snapshot", name, "a.py"], "after": ["a.py", "--check-snapshot", name],
        "with =": [f"--check-snapshot={name}", "a.py"], "by itself": ["--check-snapshot", "a.py"],
    }[place]
    assert run(*arguments) == 0
    put("a.py", SCALE.replace("x * 2, mask=i < n)", "x * 2, mask=i < n)\n    tl.store(x_ptr + i, x)"))
    assert run(*arguments) == 1


def test_a_helper_that_changes_is_seen_in_its_callers(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    call = SCALE.replace("tl.store(out_ptr + i, x * 2, mask=i < n)", "put(out_ptr, x_ptr)")
    caller = f"from helpers import put\n\n\n{call}"
    put("a.py", caller)
    put("helpers.py", "@triton.jit\ndef put(a, b):\n    tl.store(a, 1)\n")
    assert run("snapshot", "a.py") == 0
    put("helpers.py", "@triton.jit\ndef put(a, b):\n    tl.store(b, 1)\n")
    assert run("--check-snapshot", "a.py", "--format", "concise") == 1
    assert concise(capsys) == [
        "TML107 `scale` now writes `x_ptr`; the snapshot says: not written",
        "TML107 `scale` no longer writes `out_ptr`; the snapshot says: written",
    ]


def test_kernels_that_are_gone(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("src/a.py", SCALE, FILL)
    put("src/b.py", FILL)
    put("src/c.py", FILL)
    assert run("snapshot", "src") == 0
    put("src/a.py", SCALE)
    put("src/b.py", "X = 1\n")
    Path("src/c.py").unlink()
    assert run("--check-snapshot", "src", "--format", "concise") == 1
    assert concise(capsys) == [
        f"TML107 the snapshot has the kernel `fill`, which src/{name}.py no longer has" for name in "abc"]
    assert run("--check-snapshot", "src/a.py::scale") == 0
    assert run("snapshot", "src") == 0
    assert run("--check-snapshot", "src", "--fail-on", "info") == 0


def test_files_that_were_not_linted_are_left_alone(run: Run) -> None:
    put("src/a.py", SCALE)
    put("src/b.py", FILL)
    put("old.py", FILL)
    assert run("snapshot", ".") == 0
    before = Path("triton-mutlint.snapshot").read_text()
    put("src/b.py", FILL.replace("fill", "renamed"))
    assert run("--check-snapshot", "src/a.py", "--fail-on", "info") == 0
    assert run("snapshot", "src/a.py") == 0
    assert Path("triton-mutlint.snapshot").read_text() == before
    Path("old.py").unlink()
    assert run("--check-snapshot", "src/a.py", "--fail-on", "info") == 0


def test_a_file_that_does_not_load_keeps_its_entries(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", FILL)
    put("b.py", SCALE)
    assert run("snapshot", ".") == 0
    before = Path("triton-mutlint.snapshot").read_text()
    Path("a.py").write_text(HEAD + FILL + "\n(")
    assert run("snapshot", ".") == 1
    assert "TML901" in capsys.readouterr().err
    assert Path("triton-mutlint.snapshot").read_text() == before
    assert run("--check-snapshot", ".", "--ignore", "TML901") == 0


def test_a_new_kernel_is_a_note(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", FILL)
    assert run("snapshot", "a.py") == 0
    put("a.py", FILL, SCALE)
    assert run("--check-snapshot", "a.py", "--format", "concise") == 0
    assert concise(capsys) == ["TML107 `scale` is not in the snapshot yet"]
    assert run("--check-snapshot", "a.py", "--fail-on", "info") == 1


def test_from_another_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("src/a.py", SCALE)
    assert run("snapshot", ".") == 0
    monkeypatch.chdir(tmp_path / "src")
    assert run("--check-snapshot=../triton-mutlint.snapshot", "a.py", "--fail-on", "info") == 0


def test_the_configuration_can_name_the_files(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("src/a.py", WRONG + SCALE)
    Path("triton-mutlint.toml").write_text('snapshot = "ci/contracts"\nbaseline = "ci/accepted.json"\n')
    Path("ci").mkdir()
    assert run("snapshot", "src") == 0
    assert Path("ci/contracts").exists()
    assert run("src", "--update-baseline") == 0
    monkeypatch.chdir(tmp_path / "src")
    assert run("a.py") == 0
    put("a.py", WRONG + SCALE.replace("out_ptr + i", "x_ptr + i"))
    assert run("a.py") == 1


def test_files_that_are_no_snapshot_are_not_overwritten(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", SCALE)
    notes = Path("notes.txt")
    notes.write_text("mine\n")
    assert run("snapshot", "a.py", "--output", "notes.txt") == 2
    assert "this is no snapshot" in capsys.readouterr().err
    assert run("a.py", "--baseline", "notes.txt", "--update-baseline") == 2
    assert "this is no baseline" in capsys.readouterr().err
    assert notes.read_text() == "mine\n"
    assert run("a.py", "--diff", "--baseline", "base.json", "--update-baseline") == 2
    assert not Path("base.json").exists()


def test_missing_files_are_told_with_what_writes_them(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", SCALE)
    assert run("--check-snapshot", "a.py") == 2
    assert "there is no snapshot triton-mutlint.snapshot; `triton-mutlint snapshot" in capsys.readouterr().err
    assert run("--baseline", "none.json", "a.py") == 2
    assert "--update-baseline writes one" in capsys.readouterr().err
    assert run("--update-baseline", "a.py") == 2
    assert "--update-baseline needs a file to write" in capsys.readouterr().err


# --------------------------------------------------------------------------- baseline


def test_baseline_then_check(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", WRONG + SCALE, WRONG + FILL)
    assert run("a.py", "--baseline", "base.json") == 2
    assert run("a.py", "--baseline", "base.json", "--update-baseline") == 0
    assert "base.json: 2 findings accepted from now on" in capsys.readouterr().err
    assert run("a.py", "--baseline", "base.json", "--fail-on", "info", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [(f["rule"], f["suppressed"]) for f in document["findings"]] == [("TML101", True)] * 2
    assert document["summary"]["errors"] == 0
    assert run("a.py", "--baseline", "base.json", "--format", "sarif") == 0
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert [r["suppressions"] for r in results] == [[{"kind": "external"}]] * 2
    first = Path("base.json").read_bytes()
    assert run("a.py", "--baseline", "base.json", "--update-baseline") == 0
    assert Path("base.json").read_bytes() == first


def test_code_may_move_but_not_get_worse(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", WRONG + SCALE)
    assert run("a.py", "--baseline", "base.json", "--update-baseline") == 0
    put("a.py", "X = 1\n" * 40, WRONG + SCALE)
    assert run("a.py", "--baseline", "base.json") == 0
    put("a.py", WRONG + SCALE + "    tl.store(x_ptr + i, x)\n")
    assert run("a.py", "--baseline", "base.json", "--format", "concise") == 1
    (only,) = concise(capsys)
    assert only.startswith("TML101 `scale` writes `x_ptr`")


def test_what_is_no_longer_found_is_reported(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", WRONG + SCALE)
    put("b.py", WRONG + FILL)
    assert run(".", "--baseline", "base.json", "--update-baseline") == 0
    put("a.py", SCALE)
    assert run(".", "--baseline", "base.json", "--format", "concise") == 0
    assert concise(capsys) == ["TML905 the baseline accepts 1 TML101 of `scale`, `out_ptr` in a.py, but none is left"]
    assert run("b.py", "--baseline", "base.json", "--fail-on", "info") == 0
    assert run(".", "--baseline", "base.json", "--ignore", "TML101", "--fail-on", "info") == 0
    assert run(".", "--baseline", "base.json", "--fail-on", "warning") == 1
    assert run("a.py", "--baseline", "base.json", "--update-baseline") == 0
    assert run(".", "--baseline", "base.json", "--fail-on", "info") == 0
    assert "fill" in Path("base.json").read_text()
    Path("b.py").unlink()
    assert run("a.py", "--baseline", "base.json", "--fail-on", "info") == 0
    assert run(".", "--baseline", "base.json", "--fail-on", "info") == 1


def test_a_kernel_that_failed_can_be_accepted(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.py", FILL, "@triton.jit\ndef broken(x_ptr):\n    tl.store(x_ptr, tl.no_such_thing(1))\n")
    assert run("a.py", "--baseline", "base.json", "--update-baseline") == 0
    assert run("a.py", "--baseline", "base.json") == 0
    assert "1 failed" in capsys.readouterr().out


# --------------------------------------------------------------------------- whole or not at all


@pytest.mark.parametrize("command", [
    ["snapshot", "a.py"],
    ["a.py", "--baseline", "base.json", "--update-baseline"],
    ["a.py", "--exit-zero", "--format", "sarif=report.sarif"],
    ["a.py", "--exit-zero", "--format", "junit", "--output", "report.xml"],
    ["init", "a.py"],
])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_write_leaves_the_old_file(
    run: Run, command: list[str], error: type[BaseException] | BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("a.py", WRONG + SCALE)
    assert run(*command) == 0
    (path,) = (p for p in Path().iterdir() if p.name != "a.py")
    before = path.read_bytes()
    put("a.py", WRONG + SCALE, WRONG + FILL)

    def interrupted(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(output.Path, "replace", interrupted)
        assert run(*command) == (130 if error is KeyboardInterrupt else 2)
    assert path.read_bytes() == before
    assert {p.name for p in Path().iterdir()} == {"a.py", path.name}
    assert run(*command) == 0
    assert path.read_bytes() != before


def test_permissions_and_links_stay(run: Run) -> None:
    put("a.py", SCALE)
    Path("real").mkdir()
    Path("triton-mutlint.snapshot").symlink_to("real/snapshot")
    assert run("snapshot", "a.py") == 0
    Path("real/snapshot").chmod(0o640)
    put("a.py", SCALE, FILL)
    assert run("snapshot", "a.py") == 0
    assert Path("triton-mutlint.snapshot").is_symlink()
    assert stat.S_IMODE(Path("real/snapshot").stat().st_mode) == 0o640


def test_what_is_excluded_by_force_is_not_linted(run: Run, capsys: pytest.CaptureFixture[str],
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    put("src/theirs/a.py", WRONG + SCALE)
    put("src/ours.py", SCALE)
    Path("triton-mutlint.toml").write_text('exclude = ["src/theirs"]\n')
    assert run("src", "-q") == 0
    assert run("src/theirs/a.py", "-q") == 1
    capsys.readouterr()
    assert run("src/theirs/a.py", "src/ours.py", "--force-exclude") == 0
    assert "1 kernel: 1 analysed" in capsys.readouterr().out
    Path("triton-mutlint.toml").write_text('exclude = ["src/theirs"]\nforce-exclude = true\n')
    assert run("src/theirs/a.py") == 0
    assert capsys.readouterr().out == "no Triton kernels found\n"
    monkeypatch.chdir("src")
    assert run("theirs/a.py") == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("theirs/a.py").read_bytes())))
    assert run("-", "--stdin-filename", "theirs/a.py") == 0
