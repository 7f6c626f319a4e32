"""Integers that become addresses, functions that are passed and compile-time choices that are guessed hide no write."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Stage

FOLDER = FIXTURES / "guessed"
NAMES = ("addresses.py", "choices.py", "objects.py", "passed.py", "texts.py")
KERNEL = re.compile(r"# writes:(.*)\n(?:# not:(.*)\n)?@triton.jit.*\ndef (\w+)")
CASES = {(name, m[3]): (frozenset(m[1].split()), frozenset((m[2] or "").split())) for name in NAMES
         for m in KERNEL.finditer((FOLDER / name).read_text(encoding="utf-8"))}  # fmt: skip


@lru_cache
def reports(name: str) -> dict[str, KernelReport]:
    report = run(Request((name,), FOLDER, use_spec=False, targets=("cuda:90",)))
    return {k.name: k for k in report.kernels}


@pytest.mark.parametrize(("file", "kernel"), CASES)
def test_no_write_is_missed_and_no_number_called_written(file: str, kernel: str) -> None:
    report = reports(file)[kernel]
    writes, quiet = CASES[file, kernel]
    assert report.failure is None
    possible = {*report.mutated, *report.unknown}
    assert writes <= possible
    assert not quiet & possible


def test_the_table_of_heaps_holds_addresses() -> None:
    report = reports("addresses.py")["signal_to_peers"]
    assert {w.through for w in report.indirect_writes} == {"bases"}


@pytest.mark.parametrize("body", ["F[0](x, y)", "F.apply(x, y)", "for f in F:\n        f(x, y)"])
def test_a_function_that_is_not_found_is_no_verdict(tmp_path: Path, body: str) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
                    f"def k(x, y, F: tl.constexpr):\n    tl.load(x)\n    {body}\n", encoding="utf-8")  # fmt: skip
    (kernel,) = run(Request((path.name,), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert kernel.failure is not None
    assert kernel.failure.stage is Stage.LOWER


def test_a_spec_settles_which_function_it_is(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("""import triton
import triton.language as tl


@triton.jit
def look(x, y):
    return tl.load(x) + tl.load(y)


@triton.jit
def k(x, y, out, F: tl.constexpr):
    tl.store(out, F(x, y))
""", encoding="utf-8")
    spec = tmp_path / "spec.yaml"
    spec.write_text("version: 1\nkernels:\n  k:\n    args: {F: {ref: look}}\n", encoding="utf-8")
    (kernel,) = run(Request(("kernels.py::k",), tmp_path, spec=spec, targets=("cuda:90",))).kernels
    assert kernel.failure is None
    assert (kernel.mutated, kernel.unknown) == (("out",), ())


@pytest.mark.parametrize("followed", [
    "tl.load(page).to(tl.pointer_type(tl.float32))", "twice(page)",
    "tl.load(tl.load(page).to(tl.pointer_type(tl.int64))).to(tl.pointer_type(tl.float32))",
])
def test_a_doubt_is_placed_in_the_file_whose_line_it_names(followed: str, tmp_path: Path) -> None:
    """The pointer is made of what was in memory by a helper, in a file that is longer than the kernel's."""
    (tmp_path / "links.py").write_text(f"""import triton
import triton.language as tl


@triton.constexpr_function
def is_last(depth):
    return bin(depth).count("1") == 5


@triton.jit
def twice(page):
    return tl.load(page).to(tl.pointer_type(tl.float32))


@triton.jit
def follow(page, spare, DEPTH: tl.constexpr):
    if is_last(DEPTH):
        tl.store(page, spare.to(tl.int64))
    return {followed}
""", encoding="utf-8")
    (tmp_path / "pages.py").write_text("""import triton
import triton.language as tl
from links import follow


@triton.jit
def pages(page, spare, v, DEPTH: tl.constexpr):
    tl.store(follow(page, spare, DEPTH), v)
""", encoding="utf-8")
    (kernel,) = run(Request(("pages.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert {"page", "spare"} <= {*kernel.mutated, *kernel.unknown}
    places = [(op.location.file, op.location.line) for op in kernel.unanalyzable_ops]
    assert places
    assert set(places) == {("pages.py", 8)}
