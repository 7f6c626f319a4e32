"""A file without kernels costs next to nothing: nothing that analyses kernels is imported for it."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("triton.", "torch", "rich", "yaml", "ruamel", "numpy", "triton_mutlint.lowering", "triton_mutlint.ttir",
         "triton_mutlint.signature", "triton_mutlint.rules", "triton_mutlint.source.load")
CODE = (
    "import sys; from triton_mutlint.cli.boundary import run; assert run(sys.argv[1:]) == 0; "
    f"print([m for m in sys.modules if f'{{m}}.'.startswith({HEAVY!r})], file=sys.stderr)"
)


def cpu_seconds(command: list[str], cwd: Path) -> float:
    """User and system time of one command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    (tmp_path / "plain.py").write_text("import os\n\n\ndef triple(x):\n    return 3 * x\n")
    return tmp_path


@pytest.mark.parametrize("arguments", [["plain.py"], ["."], ["plain.py", "--format", "json"]])
def test_nothing_heavy_is_imported_for_a_file_without_kernels(plain: Path, arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], cwd=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"
    if "json" not in arguments:
        assert done.stdout == "no Triton kernels found\n"


def test_a_file_without_kernels_is_quick(plain: Path) -> None:
    """Below 0.25 s on a quiet machine; CPU time, best of several, with room for a busy one."""
    assert min(cpu_seconds([sys.executable, "-m", "triton_mutlint", "plain.py"], plain) for _ in range(3)) < 0.6
