"""What linted code does to the process that it runs in costs its own kernel or file, and no other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.helpers.places import ROOT
from triton_mutlint.config.request import Request
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.op.verdict import analyze_op
from triton_mutlint.host.state.core import World
from triton_mutlint.run.run import run
from triton_mutlint.types import OpReport

HEAD = "import faulthandler\nimport os\nimport triton\nimport triton.language as tl\n\n\n"
STORE = "@triton.jit\ndef {name}(x):\n    tl.store(x, 1)\n\n\n"
HEURISTIC = ("def rule(args):\n    {body}\n\n\n@triton.heuristics({{'N': rule}})\n"
             "@triton.jit\ndef lost(x, N: tl.constexpr):\n    tl.store(x, N)\n\n\n")
POINTERS = ("@triton.jit\ndef lost(x):\n    p = tl.load(x).to(tl.pointer_type(tl.pointer_type(tl.float32)))\n"
            "    tl.store(p, x)\n\n\n")


OTHERS = HEAD + "".join(STORE.format(name=f"other{i}") for i in range(6))
FILES = {
    "abort.py": HEAD + STORE.format(name="before") + HEURISTIC.format(body="faulthandler._sigabrt()")
                + STORE.format(name="after"),
    "long.py": HEAD + STORE.format(name="before") + HEURISTIC.format(body="return sum(range(10 ** 12))")
               + STORE.format(name="after"),
    "endless.py": HEAD + HEURISTIC.format(body="while True: pass") + STORE.format(name="after"),
    "pointer.py": HEAD + STORE.format(name="before") + POINTERS + STORE.format(name="after"),
    "constant.py": HEAD + "N = sum(range(10 ** 12))\n\n\n" + STORE.format(name="before").replace("1)", "N)"),
    "loop.py": HEAD + "def rows():\n    while True: pass\n\n\nN = rows()\n\n\n"
               + STORE.format(name="before").replace("1)", "N)"),
    "coding.py": "# coding: undefined\n" + HEAD + STORE.format(name="k"),
    "other.py": OTHERS,
}


class Outcome:
    """What came of one run over all of them."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.errors = done.returncode, done.stderr
        self.report = json.loads(done.stdout)

    def kernels(self, file: str) -> dict[str, str]:
        return {k["name"]: k["status"] for k in self.report["kernels"] if k["file"] == file}

    def findings(self, file: str) -> list[tuple[str, str]]:
        return [(f["rule"], f["message"]) for f in self.report["findings"] if f["file"] == file]


def lint(folder: Path, files: Mapping[str, str], jobs: str) -> Outcome:
    for name, text in files.items():
        (folder / name).write_text(text)
    return Outcome(subprocess.run(
        [sys.executable, "-m", "triton_mutlint", ".", "--jobs", jobs, "--target", "cuda:90", "--no-cache",
         "--timeout", "3", "--format", "json"],
        cwd=folder, capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)}))


@pytest.fixture(scope="module", params=["2", pytest.param("1", marks=[pytest.mark.slow, pytest.mark.long])])
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return lint(tmp_path_factory.mktemp("lost"), FILES, request.param)


@pytest.mark.parametrize(("file", "said"), [("abort.py", "SIGABRT"), ("long.py", "still running")])
def test_a_kernel_is_lost_alone(outcome: Outcome, file: str, said: str) -> None:
    assert outcome.kernels(file) == {"before": "analyzed", "lost": "failed", "after": "analyzed"}
    assert any(said in message for _, message in outcome.findings(file))


def test_a_heuristic_that_never_ends_is_given_up(outcome: Outcome) -> None:
    """What it would give is not known then; the kernel is analysed with a guess in its place."""
    assert outcome.kernels("endless.py") == {"lost": "analyzed", "after": "analyzed"}
    lost = next(k for k in outcome.report["kernels"] if (k["file"], k["name"]) == ("endless.py", "lost"))
    assert lost["mutated"] == ["x"]


def test_a_pointer_to_a_pointer_ends_no_run(outcome: Outcome) -> None:
    """Some Tritons end the process for it, others do not."""
    kernels = outcome.kernels("pointer.py")
    assert kernels.pop("lost") in {"failed", "analyzed"}
    assert kernels == {"before": "analyzed", "after": "analyzed"}


@pytest.mark.parametrize("file", ["constant.py", "coding.py"])
def test_what_is_lost_with_its_file_is_told(outcome: Outcome, file: str) -> None:
    """A constant that takes forever, and an unknown coding."""
    assert "analyzed" not in outcome.kernels(file).values()
    assert {rule for rule, _ in outcome.findings(file)} <= {"TML901", "TML902"}
    assert outcome.findings(file)


def test_the_constant_that_took_too_long_is_named(outcome: Outcome) -> None:
    ((_, message),) = outcome.findings("loop.py")
    assert message.endswith("needs `N`, which could not be computed (still running after 3 s)")


def test_the_others_are_analysed(outcome: Outcome) -> None:
    assert outcome.kernels("other.py") == {f"other{i}": "analyzed" for i in range(6)}
    assert (outcome.code, "Traceback" in outcome.errors) == (1, False)


def test_an_op_of_another_gpu_is_no_crash(tmp_path: Path) -> None:
    """Triton ends the process over one; that the target is another one is nothing that the source is to blame for."""
    text = ("import triton\nfrom triton.experimental import gluon\n"
            "from triton.experimental.gluon import language as gl\n"
            "from triton.experimental.gluon.language.amd import cdna3\n\n\n@gluon.jit\ndef k(x, y, n):\n"
            "    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])\n    i = gl.arange(0, 256, layout)\n"
            "    cdna3.buffer_store(cdna3.buffer_load(x, i), y, i)\n")
    (tmp_path / "k.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "triton_mutlint", "check", "k.py", "--no-cache", "--no-spec", "--target", "cuda:90",
         "--format", "json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["severity"], done.returncode) == ("TML902", "warning", 0)
    assert "is not known for this target" in finding["message"]


@pytest.mark.apart
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_op_whose_process_dies_while_it_is_followed_is_unknown_and_the_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int,
) -> None:
    def dying(op: OpRegistration, world: World) -> OpReport:
        if op.name in ("a::f3", "a::f19"):
            os.kill(os.getpid(), signal.SIGKILL)
        return analyze_op(op, world)

    op = "\n\n@torch.library.custom_op('a::f{0}', mutates_args=())\ndef f{0}(x: torch.Tensor) -> None:\n    x.zero_()\n"
    (tmp_path / "ops.py").write_text("import torch\n" + "".join(map(op.format, range(20))))
    monkeypatch.setattr("triton_mutlint.host.op.run.analyze_op", dying)
    ops = run(Request((".",), tmp_path, jobs=jobs)).ops
    assert len(ops) == 20
    assert {op.name: op.unknown for op in ops if op.mutated != ("x",)} == {"a::f3": ("x",), "a::f19": ("x",)}
    assert all("following its code: its process was ended" in gap.text for op in ops for gap in op.gaps)
