"""One run of the engine: what it costs, what it keeps apart, what it counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.casebook import FIXTURES
from triton_mutlint.engine import run
from triton_mutlint.model import Mutation, Stage, Status
from triton_mutlint.request import Request

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


def test_files_without_kernels_import_neither_triton_nor_torch(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print('triton.jit is only mentioned')\n")
    code = ("import sys; from pathlib import Path; from triton_mutlint.engine import run; "
            "from triton_mutlint.request import Request; r = run(Request(('.',), Path.cwd())); "
            "print(r.files, [m for m in ('triton', 'torch') if m in sys.modules])")
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "0 []"


def test_helpers_are_counted_and_listed_on_request(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL.format(name="fill"))
    assert lint(tmp_path).helpers == 1
    assert lint(tmp_path).notes == ()
    (note,) = lint(tmp_path, helpers=True).notes
    assert note.endswith("k.py:6 put")


def test_kernels_come_in_order_of_file_and_line(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.py").write_text(KERNEL.format(name=f"kernel_{name}"))
    report = lint(tmp_path, "b.py", "a.py")
    assert [(k.location.file, k.name) for k in report.kernels] == [("a.py", "kernel_a"), ("b.py", "kernel_b")]


def test_an_unexpected_error_costs_only_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import triton_mutlint.linting as linting

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
