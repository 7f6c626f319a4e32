"""The command line with a cache: the same output sooner, and never another one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tests.helpers.cli_shell import Stream
from triton_mutlint.cli.shell import boundary

KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel_{name}(x_ptr, out_ptr, n):
    i = tl.arange(0, 16)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""
WITHOUT = ("triton", "torch", "rich", "yaml", "triton_mutlint.run.run", "triton_mutlint.types")
CODE = ("import sys; from triton_mutlint.cli.shell.boundary import run; code = run(sys.argv[1:]); "
        f"print([m for m in {WITHOUT!r} if m in sys.modules], file=sys.stderr); sys.exit(code)")


class Command:
    """`triton-mutlint` in a folder, with a cache beside it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.cache = folder, folder.parent / "cache"
        self._monkeypatch = monkeypatch
        # As it was before a run in this process: Triton sets a variable in it, which counts for what is kept.
        self.environment = {k: v for k, v in os.environ.items() if k != "TRITON_MUTLINT_NO_CACHE"}
        self.errors = ""

    def __call__(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """The exit code and the output; `errors` ends with the heavy modules that were loaded."""
        done = subprocess.run([sys.executable, "-c", CODE, *arguments, "--cache-dir", str(self.cache)],
                              cwd=self.folder, env={**self.environment, **environment}, capture_output=True, text=True)
        self.errors = done.stderr
        return done.returncode, done.stdout

    def uncached(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """The same of a run without a cache, in this process."""
        out, err = Stream(), Stream()
        with self._monkeypatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            for name, value in environment.items():
                patch.setenv(name, value)
            code = boundary.run([*arguments, "--no-cache"])
        self.errors = err.text()
        return code, out.text()

    @property
    def loaded(self) -> list[str]:
        found: list[str] = json.loads(self.errors.splitlines()[-1].replace("'", '"'))
        return found

    def agrees(self, *arguments: str, warm: bool, **environment: str) -> None:
        """The output is that of a run without a cache, and was kept or not."""
        got = self(*arguments, **environment)
        assert (self.loaded == []) is warm, self.errors
        assert got == self.uncached(*arguments, **environment)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    for name in "abc":
        (folder / f"{name}.py").write_text(KERNEL.format(name=name))
    return Command(folder, monkeypatch)


@pytest.mark.slow
def test_a_second_run_loads_nothing_heavy(command: Command) -> None:
    command.agrees(".", warm=False)
    command.agrees(".", warm=True)
    command.agrees(".", "--format", "json", warm=False)
    command.agrees(".", "--exit-zero", warm=True)
    command.agrees(".", "--jobs", "2", "--timeout", "9", warm=True)
    command.agrees(".", "-v", warm=False)
    command.agrees(".", warm=True, COLUMNS="80")
    command.agrees(".", warm=False, COLUMNS="90")


def test_a_report_file_is_written_again(command: Command) -> None:
    first = command(".", "--format", "json=found.json")
    text = (command.folder / "found.json").read_text()
    (command.folder / "found.json").unlink()
    assert command(".", "--format", "json=found.json") == first
    assert command.loaded == []
    assert (command.folder / "found.json").read_text() == text


@pytest.mark.slow
def test_every_kind_of_change_is_seen(command: Command) -> None:
    folder = command.folder
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    path = min(folder.glob("*.py"))
    outside = folder.parent / "outside"
    outside.mkdir()
    shutil.copy(path, outside / "linked.py")
    changes: list[Callable[[], object]] = [
        lambda: None,
        lambda: path.write_text(path.read_text() + "\n# another line\n"),
        lambda: (folder / "plain.py").write_text("X = 1\n"),
        lambda: shutil.copy(path, folder / "zz_copy.py"),
        lambda: (folder / "triton-mutlint.yaml").write_text("version: 1\nkernels: {nobody: {args: {}}}\n"),
        lambda: (folder / "triton-mutlint.toml").write_text('ignore = ["TML302"]\n'),
        lambda: (folder / "deeper").symlink_to(outside, target_is_directory=True),
        lambda: (folder / "deeper").unlink(),
        lambda: (folder / ".gitignore").write_text(f"{path.name}\n"),
        path.unlink,
    ]
    for change in changes:
        change()
        command.agrees(".", warm=False)
    command.agrees(".", warm=True)


@pytest.mark.slow
def test_what_cannot_be_read_is_tried_again(command: Command) -> None:
    for _ in range(2):
        command.agrees(".", "missing.py", warm=False)
    (command.folder / "missing.py").write_text("X = 1\n")
    command.agrees(".", "missing.py", warm=False)


def test_standard_input_is_told_by_its_text(command: Command) -> None:
    path = min(command.folder.glob("*.py"))
    text = path.read_text()

    def lint(given: str) -> str:
        arguments = ["-", "--stdin-filename", path.name, "--cache-dir", str(command.cache)]
        return subprocess.run([sys.executable, "-c", CODE, *arguments], input=given, cwd=command.folder,
                              env=command.environment, capture_output=True, text=True).stdout

    first = lint(text)
    assert lint(text) == first
    assert lint(text.replace("tl.store", "# tl.store")) != first


@pytest.mark.slow
def test_fixing_uses_nothing_kept_of_whole_runs(command: Command) -> None:
    command("."), command(".")
    command.agrees(".", "--diff", warm=False)
    command.agrees(".", "--diff", warm=False)


def test_a_cache_that_cannot_be_written_is_told_once(command: Command) -> None:
    command.cache.write_text("a file")
    first = command(".")
    assert command.errors.count("warning:") == 1
    assert str(command.cache) in command.errors
    assert "--no-cache" in command.errors
    assert first == command.uncached(".")
    assert "warning" not in command.errors


@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="nothing is read-only for root")
def test_a_cache_for_reading_only_is_read(command: Command) -> None:
    command(".")
    for folder in (command.cache / "runs", command.cache / "files", command.cache):
        folder.chmod(0o500)
    command.agrees(".", warm=True)
    assert "warning" not in command.errors
    command.agrees(".", "-v", warm=False)


@pytest.mark.slow
def test_two_runs_at_once_agree(command: Command) -> None:
    run = [sys.executable, "-c", CODE, ".", "--cache-dir", str(command.cache)]
    started = [subprocess.Popen(run, cwd=command.folder, env=command.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = {process.communicate()[0] for process in started}
    assert outputs == {command.uncached(".")[1]}
    command.agrees(".", warm=True)


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_a_cache_that_works(command: Command) -> None:
    for delay in (0.1, 0.3, 0.6):
        process = subprocess.Popen([sys.executable, "-c", CODE, ".", "--cache-dir", str(command.cache)],
                                   cwd=command.folder, env=command.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        process.wait()
    first = command(".")
    assert first == command.uncached(".")
    command.agrees(".", warm=True)


@pytest.mark.slow
def test_the_cache_command(command: Command) -> None:
    assert command("cache", "path") == (0, f"{command.cache}\n")
    assert command("cache", "info")[1].splitlines()[1] == "0 runs, 0 files: 0.0 MiB of at most 256.0 MiB"
    command(".")
    assert command("cache", "info")[1].splitlines()[1].startswith("1 run, 3 files: ")
    assert command("cache", "clear") == (0, f"{command.cache}: 4 entries removed\n")
    assert not command.cache.exists()
    command.agrees(".", warm=False)


def test_somebody_elses_folder_is_not_cleared(command: Command) -> None:
    command.cache.mkdir()
    (command.cache / "thesis.tex").write_text("")
    assert command("cache", "clear")[0] == 2
    assert "is no cache of triton-mutlint: nothing was removed" in command.errors
    (command.cache / "thesis.tex").unlink()
    command.cache.rmdir()
    command.cache.write_text("")
    assert command("cache", "info")[0] == 2
