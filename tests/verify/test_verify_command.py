"""The command: what it needs, its exit codes, and that it can be interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.interrupts import children, hears_interrupts, lives
from tests.helpers.places import FIXTURES
from triton_mutlint.cli.shell import boundary
from triton_mutlint.process.confined import unavailable

HANGS = """\
import triton
import triton.language as tl


@triton.jit
def hangs(x_ptr):
    while tl.load(x_ptr) == tl.load(x_ptr):
        pass
    tl.store(x_ptr, 1)
"""


WRITES = """\
import _ctypes
import triton
import triton.language as tl


def size():  # called where the file is analysed, and in each run
    creat = _ctypes.dlsym(_ctypes.dlopen("libc.so.6", 2), "creat")
    _ctypes.call_function(creat, (%r, 0o600))
    return 16


N = tl.constexpr(size())


@triton.jit
def fill(x_ptr):
    tl.store(x_ptr + tl.arange(0, N), 1.0)
"""


def _start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "triton_mutlint", "verify", *arguments], cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hears_interrupts)


@pytest.mark.parametrize(("missing", "said"), [
    (("torch",), "torch is not installed"), (("torch", "numpy"), "torch and numpy are not installed"),
])
def test_missing_packages_are_named(
    missing: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    assert boundary.run(["verify", str(FIXTURES / "quickstart" / "kernels.py")]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"verify runs kernels on torch tensors, and {said}: pip install 'triton-mutlint[torch]'" in err


@pytest.mark.parametrize(("arguments", "message"), [
    (("-",), "verify reads files, not standard input (-)"),
    (("x.py", "-q", "-v"), "--quiet and --verbose contradict each other"),
    (("x.py", "--device", "tpu"), "'tpu' is not one of"),
    (("x.py", "--timeout", "0"), "--timeout"),
    (("x.py", "--ops", "--confine", "require"), "--confine=require: what runs ops"),
    (("x.py", "--device", "cuda", "--confine", "require"), "--confine=require: what runs ops"),
])  # fmt: skip
def test_wrong_usage(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert boundary.run(["verify", *arguments]) == 2
    assert message in capfd.readouterr().err


@pytest.mark.torch
@pytest.mark.apart
@pytest.mark.skipif(bool(unavailable()), reason="the system has no such filter")
@pytest.mark.parametrize("confine", ["auto", "off"])
def test_nothing_that_is_run_writes_a_file_where_it_is_confined(
    confine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    marker = tmp_path / "marker"
    Path("fill.py").write_text(WRITES % bytes(marker), encoding="utf-8")
    assert boundary.run(["verify", "fill.py", "--runs", "1", "--format", "json", "--confine", confine]) == 0
    (kernel,) = json.loads(capfd.readouterr().out)["kernels"]
    assert kernel["runs"]["compared"] == 1
    assert marker.exists() is (confine == "off")


@pytest.mark.torch
def test_a_file_of_ops_that_is_no_python_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text("def k(x:\n", encoding="utf-8")
    assert boundary.run(["verify", "--ops", "bad.py", "--format", "json"]) == 1
    (failure,) = json.loads(capfd.readouterr().out)["failures"]
    assert (failure["argument"], failure["message"]) == ("bad.py", "syntax error: '(' was never closed")


@pytest.mark.torch
def test_an_interrupt_ends_it_and_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS, encoding="utf-8")
    process = _start("hangs.py", "--timeout", "600", cwd=tmp_path)
    children = _wait_for_runs(process.pid)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert not any(lives(pid) for pid in children)
    assert "Traceback" not in process.communicate()[1]


def _wait_for_runs(pid: int) -> list[int]:
    """The process that forks and one that it forked, once both are there."""
    for _ in range(600):
        for zygote in children(pid, at_least=1):
            if forked := children(zygote):
                return [zygote, *forked]
        time.sleep(0.1)
    raise AssertionError("no run began within a minute")


@pytest.mark.torch
def test_each_kernel_that_a_factory_makes_runs_as_itself(tmp_path: Path) -> None:
    (tmp_path / "products.py").write_text(
        "import triton\nimport triton.language as tl\n\n\ndef make(on: tl.constexpr):\n    @triton.jit\n"
        "    def fused(out, aux):\n        tl.store(out, 7.0)\n        if on:\n            tl.store(aux, 7.0)\n"
        "    return fused\n\n\nboth = make(tl.constexpr(True))\none = make(tl.constexpr(False))\n")
    process = _start("products.py", "--runs", "2", "--format", "json", cwd=tmp_path)
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    kernels = {k["name"]: k for k in json.loads(output)["kernels"]}
    seen = {name: {p["name"] for p in k["parameters"] if p["observed_runs"]} for name, k in kernels.items()}
    assert seen == {"both": {"out", "aux"}, "one": {"out"}}


@pytest.mark.torch
def test_a_file_without_ops_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.py").write_text("import torch\n")
    assert boundary.run(["verify", "--ops", str(tmp_path / "plain.py")]) == 0
    assert capsys.readouterr().out == "no torch ops found\n"
