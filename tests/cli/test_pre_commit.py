"""The real pre-commit, in a temporary repository: add the hook, fail, understand, fix, pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

HOOKS = ".pre-commit-hooks.yaml"
HEAD = "import triton\nimport triton.language as tl\n\n\n"
GOOD = """\
# triton-mutlint: mutates=out_ptr
@triton.jit
def {name}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""
BAD = GOOD + "    tl.store(x_ptr + i, 0.0, mask=i < n)\n"


@dataclass
class Repository:
    """A project under git, with a `pre-commit` that needs no network and leaves nothing behind."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, check=check, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)

    def git(self, *arguments: str) -> str:
        return self.run("git", *arguments, check=True).stdout

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.git("add", name)

    def commit(self) -> subprocess.CompletedProcess[str]:
        return self.run("git", "commit", "-q", "-m", "change")

    def install(self, hooks: Path, hook: str, *arguments: str, extra: str = "") -> None:
        args = f"        args: [{', '.join(arguments)}]\n" if arguments else ""
        revision = self.run("git", "-C", str(hooks), "rev-parse", "HEAD", check=True).stdout.strip()
        self.put(".pre-commit-config.yaml", (
            f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n      - id: {hook}\n{args}{extra}"))
        self.run(sys.executable, "-m", "pre_commit", "install", check=True)


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    scripts = sysconfig.get_path("scripts")
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PRE_COMMIT", "TRITON_"))},
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": os.devnull,
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org", "COLUMNS": "100",
    }
    made = Repository(tmp_path / "a project", environment)
    made.folder.mkdir()
    made.git("init", "-q")
    return made


@pytest.fixture
def hooks(tmp_path: Path, project: Repository) -> Path:
    """A repository that offers this checkout's hooks: all that `language: system` needs of it."""
    repository = Repository(tmp_path / "hooks", project.environment)
    repository.folder.mkdir()
    repository.git("init", "-q")
    repository.put(HOOKS, (ROOT / HOOKS).read_text())
    assert repository.commit().returncode == 0
    return repository.folder


def test_add_the_hook_fail_fix_pass(project: Repository, hooks: Path) -> None:
    project.install(hooks, "triton-mutlint-system")
    project.put("kernels with spaces/my kernels.py", HEAD + BAD.format(name="copy"))
    project.put("no kernels.py", "print('not run')\n")
    failed = project.commit()
    assert failed.returncode == 1
    assert "error[TML101] undeclared-mutation" in failed.stdout
    assert "`copy` writes `x_ptr`, which its comment does not list under `mutates`" in " ".join(failed.stdout.split())
    assert "kernels with spaces/my kernels.py:" in failed.stdout
    assert "help: if the write is meant, declare it: `mutates=x_ptr,out_ptr`" in failed.stdout
    project.put("kernels with spaces/my kernels.py", HEAD + GOOD.format(name="copy"))
    passed = project.commit()
    assert passed.returncode == 0, passed.stdout
    assert "Passed" in passed.stdout


def test_a_changed_file_of_a_larger_project(project: Repository, hooks: Path) -> None:
    """Only the changed file is linted: what the spec, snapshot and baseline say of others is not stale."""
    project.put("triton-mutlint.yaml", (
        "version: 1\nkernels:\n"
        "  copy_a:\n    mutates: [out_ptr]\n"
        "  copy_b:\n    args: {out_ptr: '*fp32'}\n    mutates: [out_ptr]\n"
        "  'copy_*':\n    allow: [TML202]\n"))
    for name in "ab":
        project.put(f"src/{name}.py", HEAD + GOOD.format(name=f"copy_{name}").split("\n", 1)[1])
    project.put("src/old.py", HEAD + BAD.format(name="old"))
    assert project.run("triton-mutlint", "snapshot", "src").returncode == 0
    baseline = project.run("triton-mutlint", "src", "--baseline", "accepted.json", "--update-baseline", "-q")
    assert baseline.returncode == 0, baseline.stdout
    project.git("add", "-A")
    assert project.commit().returncode == 0
    project.install(
        hooks, "triton-mutlint-system", "--check-snapshot", "--baseline=accepted.json", "--fail-on=info", "-q")
    project.put("src/a.py", "# A comment.\n" + (project.folder / "src/a.py").read_text())
    passed = project.commit()
    assert passed.returncode == 0, passed.stdout
    project.put("src/old.py", "# A comment.\n" + (project.folder / "src/old.py").read_text())
    passed = project.commit()
    assert passed.returncode == 0, passed.stdout
    project.put("src/b.py", HEAD + BAD.format(name="copy_b").split("\n", 1)[1])
    failed = project.commit()
    assert failed.returncode == 1
    assert "TML101" in failed.stdout
    assert "TML107" in failed.stdout
    assert not {"TML904", "TML905"} & set(failed.stdout.replace("[", " ").replace("]", " ").split())


def test_files_that_are_excluded_stay_so(project: Repository, hooks: Path) -> None:
    project.install(hooks, "triton-mutlint-system", extra="        exclude: ^third_party/\n")
    project.put("third_party/theirs.py", HEAD + BAD.format(name="theirs"))
    passed = project.commit()
    assert passed.returncode == 0, passed.stdout


def test_pre_commit_names_files_that_the_configuration_excludes(project: Repository, hooks: Path) -> None:
    project.install(hooks, "triton-mutlint-system")
    project.put("triton-mutlint.toml", 'exclude = ["third_party/"]\n')
    project.put("third_party/theirs.py", HEAD + BAD.format(name="theirs"))
    failed = project.commit()
    assert failed.returncode == 1
    assert "third_party/theirs.py" in failed.stdout
    project.put("triton-mutlint.toml", 'exclude = ["third_party/"]\nforce-exclude = true\n')
    passed = project.commit()
    assert passed.returncode == 0, passed.stdout


@pytest.mark.long
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="pre-commit installs from a git repository")
def test_the_isolated_hook(project: Repository, tmp_path: Path) -> None:
    """pre-commit makes an environment and installs the last commit of this checkout in it.

    It has no network here, so the dependencies come from the environment of the tests, and so does
    setuptools; that they are all declared is not tested.
    """
    hooks = tmp_path / "whole"
    project.run("git", "clone", "-q", str(ROOT), str(hooks), check=True)
    site = [path for path in sys.path if path.endswith("site-packages")]
    project.environment |= {
        "PYTHONPATH": os.pathsep.join(site), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0",
        "PATH": os.environ["PATH"],
    }
    project.install(hooks, "triton-mutlint")
    project.put("kernels.py", HEAD + BAD.format(name="copy"))
    failed = project.commit()
    assert "error[TML101] undeclared-mutation" in failed.stdout
    assert failed.returncode == 1
    (entry,) = (tmp_path / "pre-commit").glob("repo*/py_env-*/bin/triton-mutlint")
    assert str(tmp_path) in entry.read_text()
