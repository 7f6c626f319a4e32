"""No guess hides a write: what a kernel may write is written or unknown, whatever was inferred."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from tests.helpers.casebook import needs_another_triton
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.lowering import triton_api
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Mutation

pytestmark = [pytest.mark.apart, pytest.mark.both]

KERNELS = FIXTURES / "guessed" / "kernels.py"
WRITES = {m[2]: frozenset(m[1].split()) for m in re.finditer(
    r"# writes:(.*)\n@triton.jit\ndef (\w+)", KERNELS.read_text(encoding="utf-8"))}  # fmt: skip
UNABLE = {(3, 3): 8, (3, 4): 2}  # how many of them these versions cannot lower
# Nothing tells which value of these decides, or whether a number is an address: unknown is the answer.
UNDECIDED = {
    "tuple_pick": {"a"}, "func_index": {"b"}, "str_index": {"a", "b"}, "dtype_pick": {"a"}, "dtype_bits": {"b"},
    "isfp": {"b"}, "isptr2": {"b"}, "len_pick": {"a"}, "dt_pick2": {"a"}, "shape_pick": {"a"}, "numel_pick": {"a"},
    "const_list": {"a"}, "addr_i32_pair": {"a_lo"}, "two_cond": {"a"}, "mask_pick": {"a"}, "dt_pick": {"a"},
    "and_cond": {"a"}, "xor_cond": {"a"},
}  # fmt: skip


@lru_cache
def reports() -> dict[str, KernelReport]:
    report = run(Request((KERNELS.name,), KERNELS.parent, use_spec=False, targets=("cuda:90",)))
    return {k.name: k for k in report.kernels}


@pytest.mark.parametrize("name", WRITES)
def test_no_write_is_missed(name: str) -> None:
    kernel = reports()[name]
    if needs_another_triton(kernel):
        return
    assert kernel.failure is None
    assert WRITES[name] <= {*kernel.mutated, *kernel.unknown}


def test_no_more_of_them_need_another_triton_than_are_known_to() -> None:
    unable = [name for name in WRITES if needs_another_triton(reports()[name])]
    assert len(unable) <= UNABLE.get(triton_api.version(), 0), unable


@pytest.mark.parametrize("name", WRITES)
def test_unknown_only_where_nothing_decides(name: str) -> None:
    kernel = reports()[name]
    assert set(kernel.unknown) <= UNDECIDED.get(name, set())
    explained = {p for op in kernel.unanalyzable_ops for p in op.parameters}
    assert set(kernel.unknown) <= explained


def _report(tmp_path: Path, text: str) -> KernelReport:
    path = tmp_path / "kernels.py"
    path.write_text("import triton\nimport triton.language as tl\n\n" + text, encoding="utf-8")
    report = run(Request((path.name,), tmp_path, use_spec=False, targets=("cuda:90",)))
    return report.kernels[0]


def test_a_launch_settles_that_a_number_is_one(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def shift(a, low):
    x = a.to(tl.int64) + low
    tl.store(x.to(tl.pointer_type(tl.float32)), 1.0)


def launch(a):
    shift[(1,)](a, 16)
""")
    assert (kernel.mutated, kernel.unknown) == (("a",), ())


def test_a_number_that_may_be_an_address_is_unknown(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def shift(a, low):
    x = a.to(tl.int64) + low
    tl.store(x.to(tl.pointer_type(tl.float32)), 1.0)
""")
    assert (kernel.mutated, kernel.unknown) == (("a",), ("low",))


def test_a_variant_that_does_not_lower_hides_no_write(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def broken(a, b, FLAG: tl.constexpr):
    if FLAG:
        tl.store(b, missing_name)
    tl.store(a, 1.0)
""")
    found = {p.name: p.mutation for p in kernel.parameters}
    assert kernel.failure is not None or found["b"] is Mutation.UNKNOWN


def test_a_store_that_no_constant_reaches_is_dead(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """DEBUG: tl.constexpr = tl.constexpr(0)


@triton.jit
def quiet(a, b, BLOCK: tl.constexpr):
    if DEBUG:
        tl.store(b, 1.0)
    tl.store(a + tl.arange(0, BLOCK), 1.0)
""")
    assert (kernel.mutated, kernel.unknown) == (("a",), ())


@pytest.mark.parametrize(("mode", "written"), [(0, {"b"}), (1, {"a", "b"})])
def test_a_default_of_a_helper_is_known(tmp_path: Path, mode: int, written: set[str]) -> None:
    kernel = _report(tmp_path, f"""MODE: tl.constexpr = tl.constexpr({mode})


@triton.jit
def move(p, i, mode: tl.constexpr = MODE):
    if mode == 1:
        tl.store(p + i, 0.0)
    return tl.load(p + i)


@triton.jit
def through(a, b, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(b + i, move(a, i))
""")
    assert (set(kernel.mutated), kernel.unknown) == (written, ())


@pytest.mark.parametrize("use", [
    "for i in range(end):\n        tl.store(out + i, 1.0)", "tl.store(out + tl.program_id(0) * end, 1.0)",
    "tl.store(out + tl.arange(0, 16), 1.0, mask=tl.cdiv(end, 2) > 4)",
])
def test_what_is_counted_or_multiplied_is_no_pointer(tmp_path: Path, use: str) -> None:
    kernel = _report(tmp_path, f"""@triton.jit
def fill(n, out, LOADED: tl.constexpr):
    if LOADED:
        end = tl.load(n)
    else:
        end = n
    {use}
""")
    assert (kernel.mutated, kernel.unknown) == (("out",), ())


@pytest.mark.parametrize("test", ["n.dtype.is_ptr()", "isinstance(n, tl.tensor) and n.dtype.is_ptr()"])
def test_what_a_test_shows_to_be_no_pointer_is_none(tmp_path: Path, test: str) -> None:
    kernel = _report(tmp_path, f"""@triton.jit
def fill(n, out, WIDE: tl.constexpr):
    if {test}:
        end = tl.load(n)
    else:
        end = n
    if WIDE:
        end = end.to(tl.int64)
    tl.store(out + end, 1.0)
""")
    if not needs_another_triton(kernel):  # Triton 3.3 has no `and` of such operands
        assert (kernel.mutated, kernel.unknown) == (("out",), ())


@pytest.mark.parametrize("address", [
    "(p.to(tl.int64) * 1).to(tl.pointer_type(tl.float32))", "(whole(p) // 4 * 4).to(tl.pointer_type(tl.float32))",
    "p + whole(p) * 0", "((p.to(tl.int64) >> 4) << 4).to(tl.pointer_type(tl.float32))",
])
def test_what_was_made_a_number_stays_an_address_when_it_is_multiplied(tmp_path: Path, address: str) -> None:
    kernel = _report(tmp_path, f"""@triton.jit
def whole(p):
    return p.to(tl.int64)


@triton.jit
def fill(p, out, F: tl.constexpr):
    if F * F == 1522756:
        tl.store({address}, 1.0)
    tl.store(out, tl.load(p))
""")
    assert "p" in {*kernel.mutated, *kernel.unknown}


def test_a_value_that_is_put_into_tensors_of_a_table_is_no_address(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def fill(table, value):
    tl.store(tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32)), value)
""")
    assert (kernel.mutated, kernel.unknown) == ((), ())
    assert [w.through for w in kernel.indirect_writes] == ["table"]


def test_an_address_is_an_address_whatever_its_type_is_asked_for(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def fill(p, out):
    n = p.to(tl.int64)
    if n.dtype.is_ptr():
        tl.store(out, tl.load(n))
    else:
        tl.store(n.to(tl.pointer_type(tl.float32)), 1.0)
""")
    assert "p" in {*kernel.mutated, *kernel.unknown}


def test_a_number_by_its_default_is_none_that_a_passed_function_writes(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def score(x, out, F: tl.constexpr = None, aux=None, stride=0):
    v = tl.load(x)
    if F is not None:
        v = F(v, aux, stride)
    tl.store(out, v)
""")
    assert (kernel.mutated, kernel.unknown) == (("out",), ("aux",))


def test_a_tuple_has_what_is_taken_out_of_it(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def unpacked(ps):
    a, (b, c) = ps
    put(a, tl.load(b))


@triton.jit
def put(p, v):
    tl.store(p, v)
""")
    if needs_another_triton(kernel):  # Triton 3.3 unpacks no tuple in a tuple
        return
    assert kernel.failure is None
    assert kernel.mutated == ("ps.0",)
    assert [p.name for p in kernel.parameters] == ["ps.0", "ps.1.0", "ps.1.1"]


def test_a_tuple_is_as_long_as_its_indices_from_the_end_say(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def last(ps):
    tl.store(ps[-1], tl.load(ps[-2]))
""")
    assert [p.name for p in kernel.parameters] == ["ps.0", "ps.1"]
    assert kernel.mutated == ("ps.1",)


@pytest.mark.parametrize("test", ["s.dtype == tl.int64", "out.dtype.element_ty == s.dtype"])
def test_a_scalar_whose_dtype_is_asked_for_is_no_dtype(tmp_path: Path, test: str) -> None:
    kernel = _report(tmp_path, f"""@triton.jit
def by_dtype(out, other, s):
    if {test}:
        tl.store(out, s)
    else:
        tl.store(other, s)
""")
    assert kernel.failure is None
    assert {"out", "other"} == {*kernel.mutated, *kernel.unknown}


def test_a_size_that_a_launch_may_leave_out_is_tried_both_ways(tmp_path: Path) -> None:
    kernel = _report(tmp_path, """@triton.jit
def fill(k, v, width, BLOCK: tl.constexpr, BLOCK_V: tl.constexpr):
    tl.store(k + tl.arange(0, BLOCK), 1.0)
    if BLOCK_V > 0:
        o = tl.arange(0, BLOCK_V)
        tl.store(v + o, 1.0, mask=o < width)


def launch(k, v):
    block_v = triton.next_power_of_2(v.size(-1))
    if k.data_ptr() == v.data_ptr():
        block_v = 0
    fill[(1,)](k, v, v.size(-1), 64, block_v)
""")
    assert (kernel.mutated, kernel.unknown) == (("k", "v"), ())
    assert {p.name: p.mutation for p in kernel.parameters}["v"] is Mutation.CONDITIONAL
