"""Triton's type notation, as text."""

from __future__ import annotations

import re
from collections import namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_mutlint.kernel_source.dtypes import DTYPES
from triton_mutlint.spec.notation import TypeTextError, parse_type, split_top
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

NT = namedtuple("NT", ["src", "dst", "n"])


def act() -> None:
    """Something that a module may name."""


def resolve(name: str) -> object:
    return {"NT": NT, "act": act, "ops.NT": NT}[name]


GOOD = [
    ("*fp32", PointerType("fp32")),
    ("*fp32:16", PointerType("fp32", divisibility=16)),
    ("* fp32 : 16", PointerType("fp32", divisibility=16)),
    ("*fp32:1", PointerType("fp32")),
    ("*kfp32", PointerType("fp32", const=True)),
    ("*ki64:16", PointerType("i64", const=True, divisibility=16)),
    ("*float32", PointerType("fp32")),
    ("*torch.bfloat16", PointerType("bf16")),
    ("*torch.float8_e4m3fn", PointerType("fp8e4nv")),
    ("*tl.float16", PointerType("fp16")),
    ("*bool", PointerType("i1")),
    ("*u1", PointerType("u1")),
    ("i32", ScalarType("i32")),
    ("i32:16", ScalarType("i32", 16)),
    ("i32:1", ConstexprValue(1)),
    ("u64", ScalarType("u64")),
    ("int64", ScalarType("i64")),
    ("torch.long", ScalarType("i64")),
    ("half", ScalarType("fp16")),
    ("double", ScalarType("fp64")),
    ("bool", ScalarType("i1")),
    ("tensordesc<fp16[64,64]>", DescriptorType("fp16", (64, 64))),
    ("tensordesc<fp16[16, 16]>", DescriptorType("fp16", (16, 16))),
    ("tensordesc< torch.float16 [ 128 ] >", DescriptorType("fp16", (128,))),
    ("None", ConstexprValue(None)),
    ("True", ConstexprValue(True)),
    ("1024", ConstexprValue(1024)),
    ("-3", ConstexprValue(-3)),
    ("0x10", ConstexprValue(16)),
    ("1e-5", ConstexprValue(1e-5)),
    ("'relu'", ConstexprValue("relu")),
    ('""', ConstexprValue("")),
    ("{ref: act}", ConstexprValue(act, "act")),
    ("{'ref': 'act'}", ConstexprValue(act, "act")),
    ("()", TupleType(())),
    ("(*fp32,)", TupleType((PointerType("fp32"),))),
    ("(*fp32, i32, None)", TupleType((PointerType("fp32"), ScalarType("i32"), ConstexprValue(None)))),
    (
        "(*fp32, (i32, 4))",
        TupleType((PointerType("fp32"), TupleType((ScalarType("i32"), ConstexprValue(4))))),
    ),
    (
        "(tensordesc<fp16[16, 16]>, i32)",
        TupleType((DescriptorType("fp16", (16, 16)), ScalarType("i32"))),
    ),
    (
        "NT(src=*fp32, dst=*fp32, n=i32)",
        TupleType((PointerType("fp32"), PointerType("fp32"), ScalarType("i32")), ("src", "dst", "n"), NT),
    ),
    (
        "ops.NT(n=i32, dst=*i8, src=*fp32)",  # by name, so in the class's own order
        TupleType((PointerType("fp32"), PointerType("i8"), ScalarType("i32")), ("src", "dst", "n"), NT),
    ),
    (
        "NT(*fp32, *i8, 7)",
        TupleType((PointerType("fp32"), PointerType("i8"), ConstexprValue(7)), ("src", "dst", "n"), NT),
    ),
]


@pytest.mark.parametrize(("text", "expected"), GOOD, ids=[text for text, _ in GOOD])
def test_reads_every_form(text: str, expected: ArgType) -> None:
    assert parse_type(text, resolve=resolve) == expected


BAD = [
    ("*fp3", "unknown type '*fp3'; did you mean '*fp32'?"),
    ("*kfp3", "unknown type '*kfp3'; did you mean '*kfp32'?"),
    ("*f16", "unknown type '*f16'; did you mean '*fp16'?"),
    ("fp32*", "unknown type 'fp32*'; did you mean '*fp32'?"),
    ("flaot32", "unknown type 'flaot32'; did you mean 'fp32'?"),
    ("fp32_ptr", "unknown type 'fp32_ptr'; did you mean '*fp32'?"),
    ("int23", "unknown type 'int23'; did you mean 'i32'?"),
    ("torch.flat32", "unknown type 'torch.flat32'; did you mean 'fp32'?"),
    ("Float32", "unknown type 'Float32'; did you mean 'fp32'?"),
    ("pointer", "unknown type 'pointer'; did you mean '*fp32'?"),
    ("banana", "unknown type 'banana' (types are written i32, fp32, *fp32)"),
    ("*", "unknown type '*'; did you mean '*fp32'?"),
    ("", "empty type; did you mean '*fp32'?"),
    ("**fp32", "'**fp32': Triton has no pointers to pointers; a table of addresses; did you mean '*i64'?"),
    ("*fp32:8", "'*fp32:8': the divisibility can only be 16, or 1 for the value 1; did you mean '*fp32:16'?"),
    ("i32:x", "'i32:x': the divisibility can only be 16, or 1 for the value 1; did you mean 'i32:16'?"),
    ("fp32:16", "'fp32:16': only pointers and integers take a divisibility; did you mean 'fp32'?"),
    ("tensordesc", "malformed descriptor 'tensordesc'; did you mean 'tensordesc<fp16[64, 64]>'?"),
    (
        "tensordesc<fp17[8, 8]>",
        "unknown element type in 'tensordesc<fp17[8, 8]>'; did you mean 'tensordesc<fp16[8, 8]>'?",
    ),
    (
        "tensordesc<fp16[0, 8]>",
        (
            "'tensordesc<fp16[0, 8]>': the block shape is a list of positive sizes; "
            "did you mean 'tensordesc<fp16[64, 64]>'?"
        ),
    ),
    ("TensorDescriptor", "unknown type 'TensorDescriptor'; did you mean 'tensordesc<fp16[64, 64]>'?"),
    ("(*fp32, i32", "unclosed tuple '(*fp32, i32'; did you mean '(*fp32, i32)'?"),
    ("(*fp32,, i32)", "nothing between two commas in '*fp32,, i32'"),
    ("(*fp32, i3)", "unknown type 'i3'; did you mean 'i32'?"),
    ("NTT(src=*fp32)", "the kernel's module has no 'NTT'"),
    ("act(src=*fp32)", "'act' is not a namedtuple class"),
    ("NT(src=*fp32, dts=*fp32, n=i32)", "NT has no field 'dts'; did you mean 'dst'?"),
    ("NT(src=*fp32, dst=*fp32)", "NT needs the fields src, dst, n; 2 given"),
    ("NT(src=*fp32, *fp32, n=i32)", "NT(...): give every field by name, once"),
    ("NT(src=*fp32, src=*fp32, n=i32)", "NT(...): give every field by name, once"),
    ("{ref: gelu}", "the kernel's module has no 'gelu'"),
    ("(" * 40 + "i32" + ")" * 40, "tuples nested more than 16 deep"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text[:30] for text, _ in BAD])
def test_refuses_with_the_nearest_type(text: str, message: str) -> None:
    with pytest.raises(TypeTextError, match=f"^{re.escape(message)}$"):
        parse_type(text, resolve=resolve)


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_every_suggestion_for_a_misspelt_dtype_is_valid(name: str) -> None:
    with pytest.raises(TypeTextError) as caught:
        parse_type(f"*{name}x")
    assert isinstance(parse_type(caught.value.suggestion or ""), PointerType)


def test_a_namedtuple_without_a_module_keeps_its_field_names() -> None:
    assert parse_type("NT(a=*fp32, b=i32)") == TupleType((PointerType("fp32"), ScalarType("i32")), ("a", "b"))


def test_compact_signature_of_the_ahead_of_time_compiler() -> None:
    assert split_top("*fp32:16, *fp32:16, i32, 1024") == ["*fp32:16", "*fp32:16", "i32", "1024"]
    assert split_top("") == []
    assert split_top("(*fp32, i32), tensordesc<fp16[8, 8]>, 'a,b',") == [
        "(*fp32, i32)", "tensordesc<fp16[8, 8]>", "'a,b'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*fp32, (i32", "missing ')' in '*fp32, (i32'"),
        ("*fp32), i32", "unexpected ')' in '*fp32), i32'"),
        ("*fp32, 'a", 'missing "\'" in "*fp32, \'a"'),
        ("*fp32,,i32", "nothing between two commas in '*fp32,,i32'"),
    ],
)
def test_compact_signature_errors(text: str, message: str) -> None:
    with pytest.raises(TypeTextError, match=re.escape(message)):
        split_top(text)


scalars = st.builds(
    ScalarType, st.sampled_from(sorted(d for d in DTYPES if d[0] in "iu")), st.sampled_from((1, 16))
)
pointers = st.builds(PointerType, st.sampled_from(sorted(DTYPES)), st.booleans(), st.sampled_from((1, 16)))
descriptors = st.builds(
    DescriptorType,
    st.sampled_from(sorted(DTYPES)),
    st.lists(st.integers(1, 512), min_size=1, max_size=5).map(tuple),
)
constants = st.builds(ConstexprValue, st.one_of(st.none(), st.booleans(), st.integers(), st.text("ab,(<")))
leaves = st.one_of(scalars, pointers, descriptors, constants)
types = st.recursive(
    leaves, lambda inner: st.builds(TupleType, st.lists(inner, max_size=4).map(tuple)), max_leaves=8
)


@given(types)
def test_what_prints_is_read_back(arg: ArgType) -> None:
    assert parse_type(str(arg)) == arg


@given(st.text("*kfp3264i:1,()<>[]{}'\"= .tensordcNoxyz", max_size=30))
def test_any_text_is_a_type_or_a_type_error(text: str) -> None:
    try:
        found = parse_type(text, resolve=resolve)
    except TypeTextError:
        return
    assert isinstance(found, (PointerType, ScalarType, DescriptorType, ConstexprValue, TupleType))
