"""Gluon kernels with known answers, each lowered for its target by the newest Triton."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.casebook import FIXTURES, raw, value_in_spec
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Status

BOOK = FIXTURES / "gluon"
CASES = {case["name"]: case for case in raw("gluon")}
# Their arguments are not guessed: a layout, or element types and block shapes that Triton's checks ask for.
UNGUESSED = {"product_in_tensor_memory", "blackwell_rows_moved"}


@cache
def reports(target: str, folder: Path, with_spec: bool) -> Mapping[tuple[str, str], KernelReport]:
    """What the kernels for one target are reported to do."""
    mine = [c for c in CASES.values() if c["target"] == target]
    entries = {f"{c['file']}::{c['kernel']}": {"args": {a["name"]: value_in_spec(a) for a in c["args"]}} for c in mine}
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump({"version": 1, "kernels": entries}), encoding="utf-8")
    report = run(Request(tuple(entries), BOOK, spec=spec if with_spec else None, use_spec=with_spec,
                         targets=(target,)))
    return {(k.location.file, k.name): k for k in report.kernels}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gluon")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_gluon_kernel_writes(case: dict[str, Any], folder: Path) -> None:
    kernel = reports(case["target"], folder, with_spec=True)[case["file"], case["kernel"]]
    assert kernel.status is Status.ANALYZED, kernel.failure
    assert (set(kernel.mutated), set(kernel.unknown)) == (set(case["truth"]), set())
    assert {w.through for w in kernel.indirect_writes} == set(case.get("truth_indirect", ()))
    assert not kernel.unanalyzable_ops


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_guessed_arguments_hide_no_write_of_a_gluon_kernel(case: dict[str, Any], folder: Path) -> None:
    kernel = reports(case["target"], folder, with_spec=False)[case["file"], case["kernel"]]
    if case["name"] in UNGUESSED:
        assert kernel.status is not Status.ANALYZED
        return
    assert kernel.status is Status.ANALYZED, kernel.failure
    assert set(case["truth"]) <= set(kernel.mutated) | set(kernel.unknown)
    assert set(case.get("truth_indirect", ())) <= {w.through for w in kernel.indirect_writes}


def test_a_layout_that_nothing_gives_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(
        "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
        "@gluon.jit\ndef k(out, how: gl.constexpr):\n"
        "    gl.store(out + gl.arange(0, 64, layout=how), 1.0)\n", encoding="utf-8")  # fmt: skip
    (kernel,) = run(Request(("k.py",), tmp_path, targets=("cuda:90",))).kernels
    assert kernel.failure is not None
    assert kernel.failure.message == "tensor layout must be a DistributedLayout"
    assert "{ref: " in kernel.failure.hint


def test_what_a_launch_has_by_default_is_guessed_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(
        "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
        "@gluon.jit\ndef k(x, out, ROWS: gl.constexpr, NUM_WARPS: gl.constexpr):\n"
        "    layout: gl.constexpr = gl.BlockedLayout([1, ROWS // NUM_WARPS], [32, 1], [1, NUM_WARPS], [1, 0])\n"
        "    i = gl.arange(0, 32, layout=gl.SliceLayout(1, layout))\n"
        "    j = gl.arange(0, ROWS, layout=gl.SliceLayout(0, layout))\n"
        "    gl.store(out + i, gl.sum(gl.load(x + i[:, None] * ROWS + j[None, :]), axis=1))\n",
        encoding="utf-8")
    (kernel,) = run(Request(("k.py",), tmp_path, targets=("cuda:90",))).kernels
    assert kernel.failure is None
    assert kernel.mutated == ("out",)
