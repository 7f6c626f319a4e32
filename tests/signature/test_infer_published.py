"""Kinds of kernels met in published packages, analysed with nothing given."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport


def kernel(text: str, folder: Path) -> KernelReport:
    (folder / "kernels.py").write_text("import triton\nimport triton.language as tl\n" + dedent(text), encoding="utf-8")
    report, = run(Request(("kernels.py",), folder, use_spec=False, targets=("cuda:90",))).kernels
    assert report.failure is None, report.failure
    return report


def types(report: KernelReport) -> dict[str, str]:
    return {p.name: p.type for p in report.parameters}


def test_the_last_stride_of_a_descriptor_is_one(tmp_path: Path) -> None:
    found = kernel("""
        @triton.jit
        def kernel(src, dst, rows, cols, stride_row, stride_col, R: tl.constexpr, C: tl.constexpr):
            source = tl.make_tensor_descriptor(src, shape=[rows, cols], strides=[stride_row, stride_col],
                                               block_shape=[R, C])
            target = tl.make_tensor_descriptor(dst, [rows, cols], [stride_row, stride_col], [R, C])
            target.store([0, 0], source.load([0, 0]))
    """, tmp_path)
    assert found.mutated == ("dst",)
    assert (types(found)["stride_row"], types(found)["stride_col"]) == ("i32", "1")


def test_an_integer_accumulator_takes_bytes(tmp_path: Path) -> None:
    found = kernel("""
        @triton.jit
        def kernel(a, b, out, n, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
            total = tl.zeros((BLOCK, BLOCK), dtype=tl.int32)
            for _ in range(n):
                total += tl.dot(tl.load(a + offsets), tl.load(b + offsets))
            tl.store(out + offsets, total)
    """, tmp_path)
    assert found.mutated == ("out",)
    assert (types(found)["a"], types(found)["b"]) == ("*i8", "*i8")


def test_more_codes_than_nine_leave_room_for_one_more(tmp_path: Path) -> None:
    branches = "\n".join(f"    {'el' if i else ''}if CODE == {i}:\n        tl.store(out, {i})" for i in range(12))
    found = kernel(f"@triton.jit\ndef kernel(out, CODE: tl.constexpr):\n{branches}\n", tmp_path)
    assert found.mutated == ("out",)


def test_a_block_size_that_comes_out_as_one_is_no_flag(tmp_path: Path) -> None:
    found = kernel("""
        @triton.heuristics({"BLOCK": lambda args: min(4, triton.next_power_of_2(triton.cdiv(256, args["n"])))})
        @triton.jit
        def kernel(out, n, BLOCK: tl.constexpr):
            tl.store(out + tl.arange(0, BLOCK), 1, mask=tl.arange(0, BLOCK) < n)
    """, tmp_path)
    assert found.mutated == ("out",)
    assert (found.analyzed_variants, found.total_variants) == (1, 1)


def test_an_operand_of_arithmetic_is_no_pointer_though_it_may_be_none(tmp_path: Path) -> None:
    found = kernel("""
        @triton.jit
        def clipped(x, limit):
            if limit is not None:
                x = tl.maximum(-limit, tl.minimum(x, limit))
            return x

        @triton.jit
        def kernel(src, dst, limit, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            tl.store(dst + offsets, clipped(tl.load(src + offsets).to(tl.float32), limit))
    """, tmp_path)
    assert (found.mutated, found.unknown) == (("dst",), ())
    assert types(found)["limit"] == "i32 | None"
