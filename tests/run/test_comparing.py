"""`--compare torch`: a verdict beside what torch's own pass says of the same kernel and arguments."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import jsonschema
import pytest

from tests.helpers.places import ROOT
from triton_mutlint.cli.shell import boundary
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import (
    TorchReport,
)

EXAMPLES = ROOT / "docs" / "examples"
KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def copy(source, target):
    tile = source.load([tl.program_id(0) * 64])
    target.store([tl.program_id(0) * 64], tile)


@triton.jit
def flagged(x_ptr, out_ptr, SWAPPED: tl.constexpr):
    target, other = out_ptr, x_ptr
    for i in range(4):
        tl.store(target + i, 1.0)
        if SWAPPED:
            target, other = other, target


@triton.jit
def stamped(x_ptr, out_ptr):
    now = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r", [], tl.int32, is_pure=False, pack=1)
    tl.store(out_ptr, tl.load(x_ptr) + now)


@triton.jit
def sized(out_ptr, SIZE: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, SIZE), 1.0)


@triton.jit
def packed(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr))
"""
SPEC = """\
version: 1
kernels:
  kernels.py::copy:
    args: {source: "tensordesc<fp32[64]>", target: "tensordesc<fp32[64]>"}
  kernels.py::flagged:
    args: {x_ptr: "*fp32", out_ptr: "*fp32", SWAPPED: [false, true]}
  kernels.py::sized:
    args: {out_ptr: "*fp32", SIZE: [16, 32, 64]}
  kernels.py::packed:
    args: {x_ptr: "*fp8e4b15", out_ptr: "*fp8e4b15"}
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TorchReport | None]:
    folder = tmp_path_factory.mktemp("compared")
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "triton-mutlint.yaml").write_text(SPEC)
    report = run(Request(("kernels.py",), folder, targets=("cuda:90",), torch=version("torch")))
    return {kernel.name: kernel.torch for kernel in report.kernels}


@pytest.mark.torch
def test_descriptors_are_given_as_torch_gives_them(compared: dict[str, TorchReport]) -> None:
    assert (compared["copy"].variants, compared["copy"].missed, compared["copy"].pessimistic) == (1, (), ())


@pytest.mark.torch
def test_each_variant_is_compared_with_its_own_writes(compared: dict[str, TorchReport]) -> None:
    assert (compared["flagged"].variants, compared["flagged"].missed) == (2, ("x_ptr",))


@pytest.mark.torch
def test_the_finding_says_when_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "triton-mutlint.yaml").write_text(SPEC)
    report = run(Request(("kernels.py::flagged",), tmp_path, targets=("cuda:90",), torch=version("torch")))
    assert [f.message for f in report.findings if f.rule == "TML204"] == [
        "`flagged` writes `x_ptr` when SWAPPED=True, which torch.compile takes for untouched"]


@pytest.mark.torch
def test_what_siblings_tell_is_not_asked_again(compared: dict[str, TorchReport]) -> None:
    assert (compared["sized"].variants, compared["sized"].pessimistic) == (1, ())


@pytest.mark.torch
def test_a_process_that_forks_has_no_threads() -> None:
    code = ("import os, sys; from triton_mutlint.lowering.torch_pass import preload; preload(); "
            "sys.exit(len(os.listdir('/proc/self/task')))")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1


@pytest.mark.torch
def test_why_it_gave_up_is_said(compared: dict[str, TorchReport]) -> None:
    assert compared["stamped"].pessimistic == ("x_ptr",)
    assert compared["stamped"].gave_up.endswith("tt.elementwise_inline_asm")


@pytest.mark.torch
def test_what_torch_has_no_form_for_is_not_compared(compared: dict[str, TorchReport]) -> None:
    assert compared["packed"] == TorchReport(0)


@pytest.mark.torch
def test_reports_say_what_was_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                       capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernels.py").write_text(KERNELS)
    asking = ["check", "--no-spec", "--target", "cuda:90", "--format", "json", "kernels.py::stamped"]
    cached = ["--cache-dir", str(tmp_path / "cache")]
    monkeypatch.delenv("TRITON_MUTLINT_NO_CACHE")
    documents = []
    for given in ([], ["--compare", "torch"], []):
        assert boundary.run([*asking, *cached, *given]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    plain, told, again = (document["kernels"][0] for document in documents)
    jsonschema.validate(documents[1], json.loads((ROOT / "triton_mutlint/report/schema.json").read_text()))
    assert told.pop("torch")["pessimistic"] == ["x_ptr"]
    assert plain == told == again
    assert [f["rule"] for f in documents[1]["findings"]] == ["TML205"]
    assert boundary.run(["check", "--no-spec", "--no-cache", "--compare", "torch", "kernels.py::stamped"]) == 0
    assert "torch.compile: takes all for written, as its pass gave up" in capsys.readouterr().out


def test_without_torch_it_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert boundary.run(["check", "--compare", "torch", str(EXAMPLES)]) == 2
    assert "pip install 'triton-mutlint[torch]'" in capsys.readouterr().err


def test_what_was_compiled_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2.13.0")
    (tmp_path / "kernel.ttir").write_text("module {\n}\n")
    assert boundary.run(["check", "--compare", "torch", str(tmp_path / "kernel.ttir")]) == 2
    assert "needs the kernels' sources" in capsys.readouterr().err
