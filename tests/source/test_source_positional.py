"""Positional-only parameters, which Triton drops."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

TEXT = """\
import triton
import triton.language as tl


@triton.jit
def shifted(a_ptr, /, b_ptr, n):
    tl.store(b_ptr, n)


@triton.jit
def reads(a_ptr, /, b_ptr):
    tl.store(b_ptr, tl.load(a_ptr))


@triton.jit
def plain(a_ptr, *, b_ptr):
    tl.store(b_ptr, 1.0)
"""


@pytest.mark.parametrize("argument", ["k.py", "k.py::shifted"])
def test_a_note_says_that_positional_only_parameters_are_dropped(tmp_path: Path, argument: str) -> None:
    (tmp_path / "k.py").write_text(TEXT)
    report = run(Request((argument,), tmp_path, use_spec=False, targets=("cuda:90",)))
    kernel = next(k for k in report.kernels if k.name == "shifted")
    assert kernel.mutated == ("a_ptr",), "which is what a launch writes"
    (note,) = [n for n in report.notes if "positional-only" in n]
    assert note.endswith("to those that follow: k.py: shifted (line 6), reads (line 11)")


def test_what_is_read_of_them_is_not_a_matter_of_arguments(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(TEXT)
    (kernel,) = run(Request(("k.py::reads",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert kernel.failure is not None
    assert kernel.failure.hint == "Triton drops positional-only parameters: take the `/` out of the signature"
