"""What linted code does to the process that it runs in costs its own kernel or file, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

HEAD = "import faulthandler\nimport os\nimport triton\nimport triton.language as tl\n\n\n"
STORE = "@triton.jit\ndef {name}(x):\n    tl.store(x, 1)\n\n\n"
HEURISTIC = ("def rule(args):\n    {body}\n\n\n@triton.heuristics({{'N': rule}})\n"
             "@triton.jit\ndef lost(x, N: tl.constexpr):\n    tl.store(x, N)\n\n\n")
POINTERS = ("@triton.jit\ndef lost(x):\n    p = tl.load(x).to(tl.pointer_type(tl.pointer_type(tl.float32)))\n"
            "    tl.store(p, x)\n\n\n")


def lint(folder: Path, jobs: str, *options: str) -> tuple[int, dict[tuple[str, str], str], str]:
    """The exit code, the status of each kernel, and all that was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "triton_mutlint", ".", "--jobs", jobs, "--target", "cuda:90", "--no-cache", "--format",
         "json", *options],
        cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)})
    kernels = json.loads(done.stdout)["kernels"]
    return done.returncode, {(k["file"], k["name"]): k["status"] for k in kernels}, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "other.py").write_text(HEAD + "".join(STORE.format(name=f"other{i}") for i in range(6)))
    return tmp_path


OTHERS = {("other.py", f"other{i}"): "analyzed" for i in range(6)}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(("lost", "said"), [
    pytest.param(HEURISTIC.format(body="faulthandler._sigabrt()"), "SIGABRT", id="an abort"),
    pytest.param(HEURISTIC.format(body="return sum(range(10 ** 12))"), "still running", id="one long operation"),
])
def test_a_kernel_is_lost_alone(folder: Path, jobs: str, lost: str, said: str) -> None:
    (folder / "kernels.py").write_text(HEAD + STORE.format(name="before") + lost + STORE.format(name="after"))
    code, kernels, printed = lint(folder, jobs, "--timeout", "1")
    assert kernels == {**OTHERS, ("kernels.py", "before"): "analyzed", ("kernels.py", "lost"): "failed",
                       ("kernels.py", "after"): "analyzed"}
    assert said in printed
    assert code == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_heuristic_that_never_ends_is_given_up(folder: Path, jobs: str) -> None:
    """What it would give is not known then; the kernel is analysed with a guess in its place."""
    (folder / "kernels.py").write_text(HEAD + HEURISTIC.format(body="while True: pass") + STORE.format(name="after"))
    code, kernels, printed = lint(folder, jobs, "--timeout", "4")
    assert kernels == {**OTHERS, ("kernels.py", "lost"): "analyzed", ("kernels.py", "after"): "analyzed"}
    lost = next(k for k in json.loads(printed)["kernels"] if k["name"] == "lost")
    assert lost["mutated"] == ["x"]
    assert code == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_pointer_to_a_pointer_ends_no_run(folder: Path, jobs: str) -> None:
    """Some Tritons end the process for it, others do not."""
    (folder / "kernels.py").write_text(HEAD + STORE.format(name="before") + POINTERS + STORE.format(name="after"))
    _, kernels, _ = lint(folder, jobs)
    assert kernels.pop(("kernels.py", "lost")) in {"failed", "analyzed"}
    assert kernels == {**OTHERS, ("kernels.py", "before"): "analyzed", ("kernels.py", "after"): "analyzed"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_constant_that_takes_forever_is_lost_with_its_file_at_most(folder: Path, jobs: str) -> None:
    kernel = STORE.format(name="before").replace("1)", "N)")
    (folder / "kernels.py").write_text(HEAD + "N = sum(range(10 ** 12))\n\n\n" + kernel)
    code, kernels, _ = lint(folder, jobs, "--timeout", "1")
    assert {k: v for k, v in kernels.items() if k[0] == "other.py"} == OTHERS
    assert code == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_unknown_coding_is_a_failure_of_its_file(folder: Path, jobs: str) -> None:
    (folder / "kernels.py").write_text("# coding: undefined\n" + HEAD + STORE.format(name="k"))
    code, kernels, printed = lint(folder, jobs)
    assert {k: v for k, v in kernels.items() if k[0] == "other.py"} == OTHERS
    assert "TML901" in printed
    assert code == 1
