"""Recording a program: its output is its own, the spec lints clean, and a second run changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.interrupts import hears_interrupts
from tests.helpers.places import FIXTURES
from triton_mutlint.cli import record
from triton_mutlint.cli.shell import boundary
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import Origin

pytestmark = pytest.mark.both


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("recorded") / "project"
    shutil.copytree(FIXTURES / "record", copy)
    return copy


def _command(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False,
                          preexec_fn=hears_interrupts,
                          env={**os.environ, "TRITON_INTERPRET": "1", **variables})


def _record(*program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return _command("-m", "triton_mutlint", "record", "-o", "spec.yaml", "--", *program, cwd=cwd)


@pytest.fixture(scope="module")
def recorded(folder: Path) -> str:
    done = _record(sys.executable, "train.py", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "loss 182.0\n", "")
    return (folder / "spec.yaml").read_text(encoding="utf-8")


@pytest.mark.torch
def test_the_spec_holds_what_was_launched(recorded: str) -> None:
    spec = parse_spec(recorded, "spec.yaml")
    kernels = {entry.pattern: entry for entry in spec.kernels}
    assert list(kernels) == ["lib/scaling.py::scale_kernel", "train.py::tuned_kernel", "train.py::bias_kernel"]
    scale = kernels["lib/scaling.py::scale_kernel"]
    assert {a.parameter for a in scale.args} == {"x_ptr", "out_ptr", "factor", "n", "BLOCK"}
    assert scale.verify is not None
    launches = scale.verify["launches"]
    assert [launch["values"] for launch in launches] == [{"factor": 1.5, "n": 63}, {"factor": 1.5, "n": 64}]
    assert {launch["grid"][0] for launch in launches} == {4}


@pytest.mark.torch
def test_what_the_source_gives_is_not_repeated(recorded: str) -> None:
    kernels = {entry.pattern: entry for entry in parse_spec(recorded, "spec.yaml").kernels}
    tuned = kernels["train.py::tuned_kernel"]
    assert {a.parameter for a in tuned.args} == {"x_ptr", "out_ptr", "n"}
    assert tuned.verify is not None
    assert sorted(launch["args"]["BLOCK"] for launch in tuned.verify["launches"]) == [16, 32]


@pytest.mark.torch
def test_flags_that_go_together_are_not_multiplied(recorded: str) -> None:
    bias = {entry.pattern: entry for entry in parse_spec(recorded, "spec.yaml").kernels}["train.py::bias_kernel"]
    assert {a.parameter for a in bias.args} == {"x_ptr", "bias_ptr", "out_ptr", "n", "FN", "DTYPE"}
    absent, = [a for a in bias.args if a.parameter == "bias_ptr"]
    assert {v.plain() for v in absent.values} == {"*fp32:16", None}  # type: ignore[union-attr]
    assert bias.verify is not None
    assert {(launch["args"]["HAS_BIAS"], launch["args"]["bias_ptr"]) for launch in bias.verify["launches"]} == {
        (True, "*fp32:16"), (False, None)}


@pytest.mark.torch
def test_it_lints_clean(recorded: str, folder: Path) -> None:
    report = run(Request((".",), folder, spec=folder / "spec.yaml", targets=("cuda:90",)))
    assert report.findings == ()
    assert {k.name: k.mutated for k in report.kernels} == {
        "scale_kernel": ("out_ptr",), "tuned_kernel": ("out_ptr",), "bias_kernel": ("out_ptr",)}
    assert {k.name for k in report.kernels if k.origin is Origin.SPEC} == {"scale_kernel", "tuned_kernel"}


@pytest.mark.slow
@pytest.mark.torch
def test_a_second_run_changes_nothing_and_an_import_does_the_same(recorded: str, folder: Path) -> None:
    (folder / "imports.py").write_text("import triton_mutlint.record\nimport train\n", encoding="utf-8")
    done = _command("imports.py", cwd=folder, TRITON_MUTLINT_RECORD="spec.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "loss 182.0\n", "")
    assert (folder / "spec.yaml").read_text(encoding="utf-8") == recorded


def test_the_exit_code_and_output_are_the_programs(tmp_path: Path) -> None:
    done = _record(sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)",
                   cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.startswith("err\n")
    assert "no launch was recorded" in done.stderr
    assert not (tmp_path / "spec.yaml").exists()


@pytest.mark.parametrize(("program", "code", "said"), [
    ("import sys; sys.exit(7)", 7, "launched no Triton kernel, and ended with exit code 7, or its Python"),
    ("import os; os.kill(os.getpid(), 2)", 130, "the program was interrupted before one"),
    ("import os, signal; signal.signal(2, lambda *_: os._exit(0)); os.kill(os.getppid(), 2); os.kill(os.getpid(), 2)",
     0, "the program was interrupted before one"),
    ("import os; os.kill(os.getpid(), 15)", 143, "the program was ended by signal 15 (Terminated) before one"),
])
def test_why_nothing_was_recorded(tmp_path: Path, program: str, code: int, said: str) -> None:
    done = _record(sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == code
    assert f"triton-mutlint: no launch was recorded: {said}" in done.stderr.replace("the program launched", "launched")
    assert not (tmp_path / "spec.yaml").exists()


def test_a_machine_without_a_gpu_is_told_of_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "torch.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(record, "DEVICE_NODES", (str(tmp_path / "nvidia0"),))
    command = ["record", "--", sys.executable, "-c", "import sys; sys.exit(3)"]
    assert boundary.run(command) == 3
    assert "no GPU was found here: with TRITON_INTERPRET=1 in its environment" in capfd.readouterr().err
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert boundary.run(command) == 3
    assert "TRITON_INTERPRET" not in capfd.readouterr().err
    monkeypatch.delenv("TRITON_INTERPRET")
    (tmp_path / "nvidia0").touch()
    assert boundary.run(command) == 3
    assert "TRITON_INTERPRET" not in capfd.readouterr().err


@pytest.mark.parametrize("installed", [True, False])
def test_a_python_without_torch_is_told(tmp_path: Path, installed: bool) -> None:
    """The program's own Python is what counts: this one is bare, and may see a torch."""
    (tmp_path / "found").mkdir()
    if installed:
        (tmp_path / "found" / "torch.py").touch()
    done = _command("-m", "triton_mutlint", "record", "--", sys.executable, "-S", "-c",
                    "import sitecustomize, torch", cwd=tmp_path,
                    PYTHONPATH=os.pathsep.join([str(tmp_path / "found"), str(FIXTURES.parent)]))
    assert done.returncode == (0 if installed else 1)
    assert ("its Python has no torch, which Triton needs to launch kernels" in done.stderr) is not installed


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    done = _record("no-such-program", cwd=tmp_path)
    assert done.returncode == 127
    assert done.stderr == "triton-mutlint: error: cannot run no-such-program: No such file or directory\n"
    done = _record("train.py", "--steps", "2", cwd=tmp_path)
    assert done.returncode == 127
    assert done.stderr.endswith("; give the command that runs it: triton-mutlint record -- python train.py --steps 2\n")


def test_a_projects_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('its own')\n", encoding="utf-8")
    done = _command("-m", "triton_mutlint", "record", "-o", "spec.yaml", "--", sys.executable, "-c", "print('program')",
                    cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.stdout.endswith("its own\nprogram\n")
