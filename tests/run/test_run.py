"""One run of the engine: what it costs, what it keeps apart, what it counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.casebook import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import Mutation, Stage, Status

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def put(p, v):
    tl.store(p, v)

@triton.jit
def {name}(x_ptr):
    put(x_ptr, 1.0)
"""


def lint(folder: Path, *arguments: str, **options: object):
    return run(Request(arguments or (".",), folder, targets=("cuda:90",), **options))  # type: ignore[arg-type]


def test_helpers_are_counted_and_listed_on_request(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL.format(name="fill"))
    assert lint(tmp_path).helpers == 1
    assert lint(tmp_path).notes == ()
    (note,) = lint(tmp_path, helpers=True).notes
    assert note.endswith("k.py:6 put")


def test_kernels_that_were_not_asked_for_are_no_helpers(tmp_path: Path) -> None:
    other = KERNEL.format(name="other").partition("@triton.jit\ndef put")[2].partition("@triton.jit")[2]
    (tmp_path / "k.py").write_text(f"{KERNEL.format(name='fill')}\n\n@triton.jit{other}")
    report = lint(tmp_path, "k.py::fill", helpers=True)
    assert [k.name for k in report.kernels] == ["fill"]
    assert (report.helpers, len(report.notes)) == (1, 1)
    assert lint(tmp_path, "k.py").helpers == 1


def test_failures_in_other_files_have_the_paths_that_reports_show(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "shared.py").write_text(
        "import triton\nimport triton.language as tl\n\nWIDTH = 1 // 0\n\n\n"
        "@triton.jit\ndef lost(p):\n    tl.store(p, GONE)\n\n\n@triton.jit\ndef wide(p):\n    tl.store(p, WIDTH)\n")
    (tmp_path / "kernels" / "k.py").write_text(
        "import triton\nfrom shared import lost, wide\n\n\n"
        "@triton.jit\ndef a(p):\n    lost(p)\n\n\n@triton.jit\ndef b(p):\n    wide(p)\n")
    report = lint(tmp_path, "kernels/k.py")
    places = [k.failure.location for k in report.kernels if k.failure and k.failure.location]
    assert [(p.file, p.line) for p in places] == [("kernels/shared.py", 9), ("kernels/shared.py", 14)]
    assert {f.location.file for f in report.findings} == {"kernels/shared.py"}


def test_kernels_come_in_order_of_file_and_line(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.py").write_text(KERNEL.format(name=f"kernel_{name}"))
    report = lint(tmp_path, "b.py", "a.py")
    assert [(k.location.file, k.name) for k in report.kernels] == [("a.py", "kernel_a"), ("b.py", "kernel_b")]


def test_an_unexpected_error_costs_only_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import triton_mutlint.run.lint as linting

    original = linting.analyze_kernel

    def fails_on_a(kernel, *rest):
        if kernel.name == "kernel_a":
            raise ZeroDivisionError("planted")
        return original(kernel, *rest)

    monkeypatch.setattr(linting, "analyze_kernel", fails_on_a)
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(KERNEL.format(name=f"kernel_{name}"))
    failed, analyzed = lint(tmp_path).kernels
    assert failed.failure is not None
    assert (failed.failure.stage, "planted" in failed.failure.message) == (Stage.ANALYZE, True)
    assert analyzed.status is Status.ANALYZED


def test_several_targets_are_a_union_that_names_them() -> None:
    report = run(Request(("kernels.py::add_kernel",), FIXTURES / "quickstart", targets=("cuda:80", "hip:gfx942")))
    (kernel,) = report.kernels
    assert [str(t) for t in kernel.targets] == ["cuda:80", "hip:gfx942"]
    assert (kernel.analyzed_variants, kernel.total_variants) == (2, 2)
    assert {p.name: p.mutation for p in kernel.parameters}["output_ptr"] is Mutation.WRITTEN


def test_the_interpreters_switch_does_not_reach_the_analysis(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL.format(name="fill"))
    shown = subprocess.run(
        [sys.executable, "-m", "triton_mutlint", "k.py", "--format", "concise", "--target", "cuda:90"], cwd=tmp_path,
        capture_output=True, text=True, env={"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin"}, check=False)
    assert (shown.returncode, shown.stdout) == (0, ""), shown
