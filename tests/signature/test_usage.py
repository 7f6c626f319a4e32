"""What the body of a kernel says of its run-time parameters."""

from __future__ import annotations

import pytest

from tests.helpers.inference_by_hand import guesses, main


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("tl.store(a, tl.load(b))", {"a": "*fp32", "b": "*fp32"}),
        ("tl.store(a + b, 1.0)", {"a": "*fp32", "b": "i32"}),
        ("tl.store(b + tl.arange(0, 16) + a, 1.0)", {"a": "i32", "b": "*fp32"}),
        ("tl.store(a + tl.load(b), 1.0)", {"a": "*fp32", "b": "*i32"}),
        ("tl.store(a, 1.0, mask=tl.load(b))", {"a": "*fp32", "b": "*i1"}),
        ("tl.store(tl.load(a).to(tl.pointer_type(tl.float32)), b)", {"a": "*i64"}),
        ("tl.store((a.to(tl.int64) + b).to(tl.pointer_type(tl.float32)), 1.0)", {"a": "*fp32", "b": "i32"}),
        ("tl.store(a, tl.exp(b))", {"a": "*fp32", "b": "fp32"}),
        ("tl.store(a, 1 / tl.sqrt(tl.load(a).to(tl.float32) + b))", {"a": "*fp32", "b": "fp32"}),
        ("tl.store(a, tl.load(a).to(tl.float32) * b)", {"a": "*fp32", "b": "fp32"}),
        ("x = tl.load(a).to(tl.float32) / b\ntl.store(a, x, mask=tl.arange(0, 16) < b)", {"a": "*fp32", "b": "i32"}),
        ("tl.store(a, tl.load(a) >> b)", {"a": "*i32", "b": "i32"}),
        ("tl.store(a, tl.load(a) // b)", {"a": "*i32", "b": "i32"}),
        ("while tl.atomic_cas(a, 0, 1) == 1:\n    pass", {"a": "*i32"}),
        ("for i in range(b):\n    tl.store(a + i, 1.0)", {"a": "*fp32", "b": "i32"}),
        ("tl.store(a, tl.dot_scaled(tl.load(a), tl.load(b), 'e4m3', tl.load(a), tl.load(b), 'e4m3'))",
         {"a": "*u8", "b": "*u8"}),
        ("p = a\nfor i in range(4):\n    tl.store(p, 1.0)\n    p = b", {"a": "*fp32", "b": "*fp32"}),
        ("tl.store(tl.where(tl.program_id(0) > 0, a, b), 1.0)", {"a": "*fp32", "b": "*fp32"}),
        ("acc = 0\nfor i in range(4):\n    acc += tl.load(a + i)\ntl.store(b, acc)", {"a": "*i32", "b": "*fp32"}),
        ("tl.store(a, tl.load(a + tl.load(b).to(tl.int32)))", {"a": "*fp32", "b": "*i32"}),
        ("tl.inline_asm_elementwise('st.global.b32 [$1], 0;', '=r,l', [a], dtype=tl.int32, is_pure=False, pack=1)",
         {"a": "*fp32"}),
        ("tl.store(a, tl.load(b).to(tl.int16, bitcast=True))", {"b": "*fp16"}),
        ("tl.store(a, tl.load(b).to(tl.float8e4nv).to(tl.uint8, bitcast=True))", {"b": "*fp32"}),
        ("if not tl.load(b):\n    tl.store(a, 1.0)", {"b": "*i1"}),
        ("if tl.load(b) and tl.load(a) > 0:\n    tl.store(a, 1.0)", {"a": "*fp32", "b": "*i1"}),
        ("tl.store(a, 1.0, mask=b)", {"b": "i1"}),
        ("t = tl.zeros((16, 16), dtype=tl.int32)\nt += tl.dot(tl.load(a), tl.load(b))", {"a": "*i8", "b": "*i8"}),
        ("tl.dot(tl.load(a), tl.load(b).to(tl.float16), tl.zeros((16, 16), dtype=tl.int32))", {"b": "*fp32"}),
        ("tl.store(a, 1.0, mask=(tl.program_id(0) > 0) & b)", {"b": "i1"}),
        ("tl.store(a, b.to(tl.int64))", {"b": "i32"}),
        ("tl.store(a, b.to(tl.int64))\ntl.store(tl.load(a).to(tl.pointer_type(tl.float32)), 1.0)", {"b": "*fp32"}),
        ("tl.store(a + (b.to(tl.int64) - a.to(tl.int64)) // 4, 1.0)", {"a": "*fp32", "b": "*fp32"}),
        ("tl.store(tl.load(a).to(tl.pointer_type(tl.float32)) + b.to(tl.int64), 1.0)", {"a": "*i64", "b": "i32"}),
        ("p = a.to(tl.pointer_type(tl.int16))\nif tl.program_id(0) > 0:\n    p = b\ntl.store(p, 1)", {"b": "*i16"}),
        ("p, q = a, b\nfor i in range(4):\n    tl.store(q, 1.0)\n    p, q = q, p", {"a": "*fp32", "b": "*fp32"}),
    ],
)  # fmt: skip
def test_types_follow_from_uses(body: str, types: dict[str, str]) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    found = main(f"def k(a, b):\n{lines}\n")
    assert {name: found[name] for name in types} == types


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(0, {0}):\n    tl.store(a + i, 1.0)", "tl.store(a + {0}, 1.0)", "tl.store(a + {0} % 4, 1.0)",
        "x = tl.program_id(0) % {0}\ntl.store(a, x)", "tl.store(a, {0} // 4)", "tl.store(a, {0} & 1)",
        "tl.store(a, {0} << 1)", "tl.store(a, 1 << {0})", "if tl.program_id(0) < {0}:\n    tl.store(a, 1.0)",
        "tl.store(a + tl.arange(0, 16), 1.0, mask=tl.arange(0, 16) < {0})", "tl.store(a, ~{0})",
        "for i in range(tl.cdiv({0}, 64)):\n    tl.store(a + i, 1.0)",
        "for i in range(min({0}, 4)):\n    tl.store(a + i, 1.0)",
        "x = {0}\nif tl.program_id(0) > 0:\n    x = 0\nfor i in range(x):\n    tl.store(a + i, 1.0)",
        "x = tl.where(tl.program_id(0) > 1, {0}, 3)\nfor i in range(x):\n    tl.store(a + i, 1.0)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["b", "scale"])
def test_what_only_integers_can_do_makes_an_integer(name: str, body: str) -> None:
    lines = "\n".join(f"    {line}" for line in body.format(name).splitlines())
    assert main(f"def k(a, {name}):\n{lines}\n")[name] == "i32"


def test_facts_come_through_helpers_and_their_results() -> None:
    found = main("""
        def at(p, i):
            return p + i

        def put(p, off, v):
            tl.store(at(p, off), v)

        def k(out, table, n, x):
            put(out, tl.load(at(table, n)), tl.load(x))
    """)
    assert found == {"out": "*fp32", "table": "*i32", "n": "i32", "x": "*fp32"}


def test_what_a_helper_takes_as_a_tuple_of_the_rest() -> None:
    found = main("""
        def each(first, *rest, v=0):
            tl.store(first, v)
            for i in tl.static_range(len(rest)):
                tl.store(rest[i], v)

        def k(a, b, c, n):
            each(a, b, c, v=n)
    """)
    assert {name: found[name] for name in "abc"} == {"a": "*fp32", "b": "*fp32", "c": "*fp32"}


def test_recursion_ends() -> None:
    found = main("""
        def walk(p, n):
            if n > 0:
                walk(p, n - 1)
            tl.store(p, n)

        def k(out, n):
            walk(out, n)
    """)
    assert found == {"out": "*fp32", "n": "i32"}


def test_descriptors_take_their_block_from_the_offsets() -> None:
    found = main("""
        def k(a, b, idx, BK: tl.constexpr, BM: tl.constexpr = 128):
            row = tl.program_id(0) * BM
            for j in range(0, 512, BK):
                x = a.load([row, j])
            b.scatter(x, tl.load(idx + tl.arange(0, 8)), 0)
    """)
    assert found["a"] == "tensordesc<fp16[128, 64]>"
    assert found["b"].startswith("tensordesc<fp16[1, ")
    assert found["idx"] == "*i32"


def test_tuples_and_namedtuples() -> None:
    found = main("""
        def k(pair, state, ptrs):
            tl.store(pair[1] + pair[0], tl.load(state.src + state.n))
            for p in ptrs:
                tl.store(p, 1.0)
    """)
    assert found["pair"] == "(i32, *fp32)"
    assert found["state"] == "state(src=*fp32, n=i32)"
    assert set(found["ptrs"].strip("()").split(", ")) == {"*fp32"}


def test_none_is_an_alternative_only_where_it_decides_a_write() -> None:
    found = guesses("""
        def k(bias, out, extra, x):
            v = tl.load(x)
            if bias is not None:
                v += tl.load(bias)
            if extra is not None:
                tl.store(extra, v)
            tl.store(out, v)
    """)
    assert found["bias"] == ["*fp32"]
    assert found["extra"] == ["*fp32", "None"]
    assert found["out"] == ["*fp32"]


def test_a_pointer_in_one_branch_and_a_number_in_the_other() -> None:
    found = guesses("""
        def k(n, out, BY_POINTER: tl.constexpr):
            if BY_POINTER:
                m = tl.load(n)
            else:
                m = n.to(tl.int32)
            tl.store(out + m, 1.0)
    """)
    assert found["n"] == ["*i32", "i32"]


def test_names_decide_last() -> None:
    found = main("def k(x_ptr, stride_x, M):\n    pass\n")
    assert found == {"x_ptr": "*fp32", "stride_x": "i32", "M": "i32"}
