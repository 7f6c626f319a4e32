"""A constant that a function of the file may set before another launch decides no verdict silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport

FILE = """\
import triton
import triton.language as tl

SAVE = tl.constexpr(False)
CALLS = 0


def enable():
    global SAVE
    SAVE = tl.constexpr(True)


def count():
    global CALLS
    CALLS += 1


@triton.jit
def first(a, b):
    tl.store(a, 1)


@triton.jit
def second(a, b):
    tl.store(b, 1)


CHOSEN = first


def choose(other):
    global CHOSEN
    CHOSEN = second if other else first


@triton.jit
def saves(out, lse):
    tl.store(out, 1.0)
    if SAVE:
        tl.store(lse, 2.0)


@triton.jit
def by_helper(a, b):
    CHOSEN(a, b)


@triton.jit
def plain(out, x):
    tl.store(out, tl.load(x))
"""
ARGS = "kernels:\n  saves:\n    args: {out: '*fp32', lse: '*fp32'}\n"


def report(folder: Path, name: str, spec: str = "") -> KernelReport:
    (folder / "k.py").write_text(FILE, encoding="utf-8")
    (folder / "spec.yaml").write_text("version: 1\n" + spec, encoding="utf-8")
    (found,) = run(Request((f"k.py::{name}",), folder, spec=folder / "spec.yaml" if spec else None,
                           use_spec=bool(spec), targets=("cuda:90",))).kernels
    return found


@pytest.mark.parametrize(("name", "spec", "written", "unknown"), [
    ("saves", "", ("out",), ("lse",)),
    ("saves", ARGS, ("out",), ("lse",)),
    ("saves", ARGS + "globals: {SAVE: false}\n", ("out",), ()),
    ("by_helper", "", ("a",), ("b",)),
    ("plain", "", ("out",), ()),
])
def test_what_another_launch_may_find_is_not_known(
    tmp_path: Path, name: str, spec: str, written: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    found = report(tmp_path, name, spec)
    assert (found.mutated, found.unknown) == (written, unknown)


def test_the_reason_names_the_constant(tmp_path: Path) -> None:
    (op,) = report(tmp_path, "saves").unanalyzable_ops
    assert op.reason == "whether it is reached depends on `SAVE`, which may be set before a launch"
    assert op.location is not None
    assert op.location.line == FILE.splitlines().index("        tl.store(lse, 2.0)") + 1
