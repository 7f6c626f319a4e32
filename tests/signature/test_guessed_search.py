"""What a search over guesses finds, what it leaves in doubt, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.process.watchdog import TooLongError
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Lowered

HEAD = """
import triton
import triton.language as tl
from triton.language.core import _aggregate as aggregate


@triton.constexpr_function
def has_five_bits(n):
    return bin(n).count("1") == 5


"""


def report(folder: Path, text: str, **options: object) -> KernelReport:
    (folder / "kernels.py").write_text(HEAD + dedent(text), encoding="utf-8")
    request = Request(("kernels.py",), folder, use_spec=False, targets=("cuda:90",), **options)  # type: ignore[arg-type]
    return run(request).kernels[-1]


@pytest.mark.parametrize(("body", "written"), [
    ("def k(x, y):\n    tl.static_assert(tl.load(x).dtype == tl.uint8)\n    tl.store(y, tl.load(x))", {"y"}),
    ("def k(x, y, n):\n    tl.static_assert(n.dtype == tl.int64)\n    tl.store(y + n, tl.load(x))", {"y"}),
    ("def k(o, v, N: tl.constexpr):\n    (o + tl.arange(0, N)).store(v)", {"o"}),
    ("def k(x, y, N: tl.constexpr = 0):\n    tl.store(y + 64 // N, tl.load(x))", {"y"}),
    (("def k(x, y, limit):\n    v = tl.load(x)\n    if limit is not None:\n        v = -limit\n"
      "    tl.store(y, v)"), {"y"}),
    (("def k(x, y, A: tl.constexpr, B: tl.constexpr, H: tl.constexpr):\n"
      "    v = tl.reshape(tl.load(x + tl.arange(0, A)), (B, 4, H))\n"
      "    tl.store(y, tl.sum(tl.reshape(v, (A,)), 0))"), {"y"}),
    (("def k(p, q, N: tl.constexpr):\n    i = tl.arange(0, N)\n"
      "    tl.store(tl.cat(p + i, q + i, can_reorder=True), 1.0)"), {"p", "q"}),
    ("def k(ptrs, v):\n    tl.static_assert(len(ptrs) == 3)\n    tl.store(ptrs[0], v)", {"ptrs.0"}),
    ("def k(x, y, N: tl.constexpr):\n    tl.store(value=tl.load(pointer=x), pointer=y)", {"y"}),
    (("def k(x, y, N: tl.constexpr):\n    for g in tl.static_range(0, N // 128, 2):\n"
      "        tl.store(y + g, tl.load(x))"), {"y"}),
    (("def k(q, kv, o, s0, s1, s2, s3, s4, s5, s6, s7, N: tl.constexpr):\n"
      "    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)\n"
      "    a = tl.load(q + i * s0 + j * s1)\n"
      "    b = tl.load(kv + (i * s2 + j * s3 + i // s4 + i % s5) * s6 // s7)\n"
      "    p = tl.dot(a, b) * 1.0\n"
      "    tl.store(o + i * s0 + j, tl.dot(p.to(tl.bfloat16), b))"), {"o"}),
])  # fmt: skip
def test_what_is_found(tmp_path: Path, body: str, written: set[str]) -> None:
    found = report(tmp_path, f"@triton.jit\n{body}\n")
    assert found.failure is None
    assert set(found.mutated) == written
    assert not found.unknown


@pytest.mark.parametrize(("body", "unknown"), [
    (("def k(x, last, y, N: tl.constexpr):\n    if has_five_bits(N):\n        tl.store(tl.sub(last, 1), 1.0)\n"
      "    tl.store(y, tl.load(x))"), {"last"}),
    (("def k(pages, y, N: tl.constexpr):\n    if has_five_bits(N):\n"
      "        tl.store(tl.load(pages).to(tl.pointer_type(tl.float32)), 2.0)\n    tl.store(y, 1.0)"), {"pages"}),
])  # fmt: skip
def test_what_stays_in_doubt(tmp_path: Path, body: str, unknown: set[str]) -> None:
    found = report(tmp_path, f"@triton.jit\n{body}\n")
    assert set(found.mutated) == {"y"}
    assert set(found.unknown) == unknown


@pytest.mark.parametrize(("start", "unknown"), [
    ("self.front = front\n        self.back = back", set()),
    ("self.front = front\n        self.back = back if front is not back else front", {"x"}),
])  # fmt: skip
def test_fields_of_an_aggregate_are_told_apart_where_its_constructor_decides_nothing(
        tmp_path: Path, start: str, unknown: set[str]) -> None:
    text = f"""@aggregate
class Buffers:
    front: tl.tensor
    back: tl.tensor

    @triton.constexpr_function
    def __init__(self, front, back):
        {start}

    @triton.jit
    def flush(self):
        tl.store(self.front, tl.load(self.back))


@triton.jit
def k(x, y, N: tl.constexpr):
    if N > 1:
        Buffers(y, x).flush()
    else:
        Buffers(front=y, back=x).flush()
"""
    found = report(tmp_path, text)
    assert set(found.mutated) == {"y"}
    assert set(found.unknown) == unknown


@pytest.mark.apart
def test_a_kernel_that_ends_its_process_is_analysed_with_the_guesses_of_its_plan_alone(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def k(field, own, left, right, side):
            base = tl.where(side == 0, left, right)
            tl.store((field.to(tl.int64) - own + base).to(tl.pointer_type(tl.float32)), 1.0)
    """
    found = report(tmp_path, text, jobs=1)
    assert found.failure is None
    assert {"left", "right"} <= {*found.unknown, *(w.through for w in found.indirect_writes)}


def test_time_that_runs_out_leaves_the_variants_that_were_analysed(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lower: Callable[..., Lowered] = Lowerer.lower
    count = 0

    def once(*args: object) -> Lowered:
        nonlocal count
        count += 1
        if count > 1:
            raise TooLongError(1.0)
        return lower(*args)

    monkeypatch.setattr(Lowerer, "lower", once)
    text = """
        @triton.jit
        def k(x, y, F: tl.constexpr):
            if F:
                tl.store(x, 1.0)
            else:
                tl.store(y, 1.0)
    """
    found = report(tmp_path, text, jobs=0)
    assert found.failure is None
    assert len(found.mutated) == 1
    assert {*found.mutated, *found.unknown} == {"x", "y"}
    assert any("still running" in note for note in found.notes)


def test_many_branches(tmp_path: Path) -> None:
    lines = "".join(f"    elif M == {n}:\n        tl.store(y + {n}, 1.0)\n" for n in range(1, 250))
    text = f"@triton.jit\ndef k(x, y, M: tl.constexpr):\n    if M == 0:\n        tl.store(x, 1.0)\n{lines}"
    found = report(tmp_path, text)
    assert found.failure is None
    assert "y" in found.mutated


def test_a_value_that_was_made_a_constant_to_get_it_lowered_leaves_doubt(tmp_path: Path) -> None:
    """With n = 1 the branch is not compiled; with another one, which Triton refuses here, it would store."""
    found = report(tmp_path, """
        @triton.jit
        def nothing(a, b, c, d):
            a = c


        @triton.jit
        def stored(p):
            tl.store(p + tl.arange(0, 16), tl.arange(0, 16))
            return p


        @triton.jit
        def k(a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, n):
            p, q = a_ptr, e_ptr
            i = b_ptr.to(tl.int64)
            t = c_ptr + tl.arange(0, 16)
            if n > 1:
                r = d_ptr
                r = r + 0
                q = q + 0
                p = p + 0
                for l in range(n):
                    r = nothing(r, q, tl.cast(i, tl.pointer_type(tl.int32)), t)
                    q = stored(q)
                    p = q
    """)
    assert found.failure is None
    assert "e_ptr" in found.unknown
