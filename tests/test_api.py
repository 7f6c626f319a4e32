"""The Python API on kernels of this very file."""

from __future__ import annotations

import subprocess
import sys

import pytest
import triton
import triton.language as tl

import triton_mutlint
from triton_mutlint.types import Mutation, Origin, Stage, Status, UsageError

pytestmark = pytest.mark.both


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) + tl.load(y_ptr + offs, mask=mask), mask=mask)


@triton.autotune(configs=[triton.Config({"KEEP": False}), triton.Config({"KEEP": True})], key=["n"])
@triton.jit
def scale_kernel(x_ptr, kept_ptr, n, KEEP: tl.constexpr):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if KEEP:
        tl.store(kept_ptr + offs, x, mask=offs < n)
    tl.store(x_ptr + offs, x * 2, mask=offs < n)


class Tensor:
    """As much of a torch tensor as Triton looks at."""

    dtype = "torch.float16"

    def data_ptr(self) -> int:
        return 16


SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32:16", "out_ptr": Tensor(), "n": 1000, "BLOCK": 128}


def test_types_tensors_and_values_make_a_signature() -> None:
    report = triton_mutlint.analyze(add_kernel, SIGNATURE, target="cuda:90")
    assert report.status is Status.ANALYZED
    assert report.mutated == ("out_ptr",)
    assert [p.type for p in report.parameters] == ["*fp32", "*fp32:16", "*fp16", "i32", "128"]
    store = next(p for p in report.parameters if p.name == "out_ptr").accesses[0]
    assert (store.op, store.location.line) == ("tt.store", add_kernel.fn.__code__.co_firstlineno + 4)
    assert report.location.file.endswith("test_api.py")


def test_a_list_and_an_autotuner_give_variants() -> None:
    report = triton_mutlint.analyze(scale_kernel, {"x_ptr": ["*fp32", "*fp16"], "kept_ptr": "*fp32", "n": "i32"})
    kept = next(p for p in report.parameters if p.name == "kept_ptr")
    assert (kept.mutation, kept.when) == (Mutation.CONDITIONAL, ("KEEP=True",))
    assert (report.analyzed_variants, report.total_variants) == (4, 4)


def test_what_the_signature_leaves_out_is_inferred() -> None:
    report = triton_mutlint.analyze(add_kernel, target="hip:gfx942")
    assert report.origin is Origin.INFERRED
    assert report.mutated == ("out_ptr",)


def test_a_kernel_that_cannot_be_lowered_gives_a_failure() -> None:
    report = triton_mutlint.analyze(add_kernel, {**SIGNATURE, "BLOCK": 100}, target="cuda:90")
    assert report.failure is not None
    assert report.failure.stage is Stage.LOWER
    assert "power of 2" in report.failure.message


@pytest.mark.parametrize(("signature", "message"), [
    ({"x_pt": "*fp32"}, "did you mean 'x_ptr'"),
    ({"x_ptr": "*float33"}, "float3"),
])
def test_wrong_arguments_are_usage_errors(signature: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        triton_mutlint.analyze(add_kernel, signature)


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(UsageError, match="no Triton kernel"):
        triton_mutlint.analyze(len)


def test_importing_the_package_imports_neither_triton_nor_torch() -> None:
    code = "import sys, triton_mutlint; print([m for m in ('triton', 'torch', 'rich', 'yaml') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


@pytest.mark.torch
def test_real_tensors_are_taken() -> None:
    import torch

    x = torch.zeros(8, dtype=torch.bfloat16)
    report = triton_mutlint.analyze(add_kernel, {"x_ptr": x, "y_ptr": x, "out_ptr": x, "n": 8, "BLOCK": 16})
    assert [p.type for p in report.parameters][:3] == ["*bf16"] * 3
    assert report.mutated == ("out_ptr",)


def test_a_signature_is_a_mapping() -> None:
    with pytest.raises(UsageError, match="must map parameters to types"):
        triton_mutlint.analyze(add_kernel, ["*fp32"])  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["lint(Request(('k.py',), Path.cwd()))", "analyze(k, {})"])
def test_a_process_that_interprets_kernels_is_told(tmp_path, call: str) -> None:
    (tmp_path / "k.py").write_text("import triton\nimport triton.language as tl\n"
                                   "@triton.jit\ndef k(x):\n    tl.store(x, tl.cdiv(4, 2))\n")
    code = ("import os, triton\nfrom pathlib import Path\nfrom k import k\n"
            "from triton_mutlint import Request, analyze, lint\nfrom triton_mutlint.types import UsageError\n"
            f"try: {call}\nexcept UsageError as error: print(os.environ['TRITON_INTERPRET'], error)")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin"}, check=False)
    assert done.stdout.startswith("1 triton was imported with TRITON_INTERPRET=1"), done
