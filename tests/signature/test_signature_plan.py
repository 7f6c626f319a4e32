"""From a spec to the variants of a kernel."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import pytest

from tests.helpers.kernels_by_hand import loaded, missing
from tests.helpers.plans_by_hand import guess, plan, values
from triton_mutlint.types import (
    ConstexprValue,
    DescriptorType,
    Origin,
    PointerType,
    ScalarType,
    StageError,
    TupleType,
)

ADD = "def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr): ..."
FP32 = PointerType("fp32")
I32 = ScalarType("i32")
Pair = namedtuple("Pair", ["x", "n"])


def test_a_full_spec_gives_one_variant_in_signature_order() -> None:
    found = plan(
        loaded(ADD), """kernels: {add: {args: {n: i32, BLOCK: 128, out_ptr: "*fp32:16", x_ptr: "*kfp32"}}}"""
    )
    [variant] = found.variants
    assert list(variant.args.items()) == [
        ("x_ptr", PointerType("fp32", const=True)),
        ("out_ptr", PointerType("fp32", divisibility=16)),
        ("n", I32),
        ("BLOCK", ConstexprValue(128)),
    ]
    assert (variant.choices, found.total, found.origin) == ((), 1, Origin.SPEC)
    assert (found.inferred, dict(found.reasons), found.notes) == (frozenset(), {}, ())


def test_lists_multiply_and_choices_name_what_differs() -> None:
    found = plan(
        loaded("def k(x, b, ACT: tl.constexpr, N: tl.constexpr): ..."),
        """kernels: {k: {args: {x: "*fp32", b: [null, "*fp16"], ACT: ["", relu], N: 4}}}""",
    )
    assert [variant.choices for variant in found.variants] == [
        (("b", "None"), ("ACT", "''")),
        (("b", "None"), ("ACT", "'relu'")),
        (("b", "*fp16"), ("ACT", "''")),
        (("b", "*fp16"), ("ACT", "'relu'")),
    ]
    assert found.total == 4


def test_every_form_of_argument() -> None:
    def act() -> None: ...

    kernel = loaded(
        "def k(t, nt, d, none, lone, five, big, ratio, on, F: tl.constexpr, S: tl.constexpr, T: tl.constexpr): ...",
        namespace={"Pair": Pair, "act": act, "ops": type("ops", (), {"act": act})},
    )
    found = plan(
        kernel,
        """
kernels:
  k:
    args:
      t: "(*fp32, *fp16, None)"
      nt: "Pair(x=*fp32, n=i32)"
      d: "tensordesc<fp16[16, 16]>"
      none: null
      lone: 1
      five: 5
      big: 8589934592
      ratio: 0.5
      on: true
      F: {ref: ops.act}
      S: "*fp32"
      T: [[1, [2, relu]]]
""",
    )
    args = found.variants[0].args
    assert dict(args) == {
        "t": TupleType((FP32, PointerType("fp16"), ConstexprValue(None))),
        "nt": TupleType((FP32, I32), ("x", "n"), Pair),
        "d": DescriptorType("fp16", (16, 16)),
        "none": ConstexprValue(None),
        "lone": ConstexprValue(1),
        "five": I32,
        "big": ScalarType("i64", 16),
        "ratio": ScalarType("fp32"),
        "on": ScalarType("i1"),
        "F": ConstexprValue(act, "ops.act"),
        "S": ConstexprValue("*fp32"),  # a text given to a constexpr is its value
        "T": ConstexprValue((1, (2, "relu")), "(1, (2, 'relu'))"),
    }


def test_compact_signature() -> None:
    found = plan(loaded(ADD), """kernels: {add: {args: "*fp32:16, *fp32:16, i32, 1024"}}""")
    assert values(found, "x_ptr", "n", "BLOCK") == [("*fp32:16", "i32", "1024")]
    assert found.origin is Origin.SPEC


def test_compact_signature_leaves_values_at_its_end_to_inference() -> None:
    found = plan(
        loaded(ADD),
        """kernels: {add: {args: "*fp32, *fp32, i32"}}""",
        inferred=guess(BLOCK=(ConstexprValue(64),), x_ptr=(I32,)),
    )
    assert values(found, "x_ptr", "n", "BLOCK") == [("*fp32", "i32", "64")]
    assert (found.origin, found.inferred) == (Origin.MIXED, {"BLOCK"})
    assert list(found.reasons.items()) == [("BLOCK", "guessed BLOCK")]


def test_compact_signature_gives_all_types() -> None:
    with pytest.raises(StageError) as error:
        plan(loaded(ADD), """kernels: {add: {args: "*fp32"}}""")
    assert error.value.failure.message == "kernels.add.args: 1 type for the 4 parameters of add"
    assert error.value.failure.hint.startswith("its parameters: x_ptr, ")


def test_compact_constexprs_are_literals_or_names() -> None:
    kernel = loaded("def k(F: tl.constexpr, S: tl.constexpr): ...", namespace={"act": len})
    assert values(plan(kernel, """kernels: {k: {args: "act, 'relu'"}}"""), "F", "S") == [("act", "'relu'")]


def test_defaults_fill_what_the_entry_leaves_out() -> None:
    found = plan(
        loaded("def k(a_ptr, b_ptr, W: tl.constexpr, BLOCK_SIZE: tl.constexpr = 32): ..."),
        """
defaults:
  types: {"b_*": "*i8", "*_ptr": "*fp16", "W": "*fp32"}
  constexpr: {"BLOCK_*": 256, W: [1, 2]}
kernels: {k: {args: {}}}
""",
    )
    assert values(found, "a_ptr", "b_ptr", "BLOCK_SIZE", "W") == [
        ("*fp16", "*i8", "256", "1"),
        ("*fp16", "*i8", "256", "2"),
    ]
    assert found.origin is Origin.SPEC


def test_defaults_hold_for_kernels_without_an_entry() -> None:
    found = plan(
        loaded("def k(a_ptr, n): ..."), """defaults: {types: {"*_ptr": "*fp16"}}""", inferred=guess(n=(I32,))
    )
    assert (values(found, "a_ptr", "n"), found.origin) == ([("*fp16", "i32")], Origin.MIXED)


def test_a_parameter_that_does_not_exist_is_left_to_the_finding() -> None:
    found = plan(loaded("def k(x): ..."), """kernels: {k: {args: {x: "*fp32", y: "*fp32"}}}""")
    assert list(found.variants[0].args) == ["x"]


def test_equal_entries_are_noted() -> None:
    found = plan(
        loaded("def k(x): ..."),
        """
kernels:
  "k*": {args: {x: "*fp32"}}
  "?": {}
  "*k": {args: {x: "*fp16"}}
""",
    )
    assert values(found, "x") == [("*fp32",)]
    assert found.notes == ("spec entry 'k*' (line 4) is used; '*k' (line 6) fits as well",)


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("args", "message", "line"),
    [
        ('{x: "*fp3"}', "kernels.k.args.x: unknown type '*fp3'; did you mean '*fp32'?", 3),
        ("{x: relu}", "kernels.k.args.x: unknown type 'relu' (types are written i32, fp32, *fp32)", 3),
        ('{x: ["*fp32", "*fp3"]}', "kernels.k.args.x[1]: unknown type '*fp3'; did you mean '*fp32'?", 3),
        (
            "{F: {ref: act_rel}}",
            "kernels.k.args.F: the kernel's module has no 'act_rel'; did you mean 'act_relu'?",
            3,
        ),
        (
            "{F: {ref: ops.gelo}}",
            "kernels.k.args.F: the kernel's module has no 'ops.gelo'; did you mean 'ops.gelu'?",
            3,
        ),
        ("{F: {ref: ops.zzz}}", "kernels.k.args.F: the kernel's module has no 'ops.zzz'", 3),
        (
            '{x: "Pai(x=*fp32)"}',
            "kernels.k.args.x: the kernel's module has no 'Pai'; did you mean 'Pair'?",
            3,
        ),
        (
            "{x: 99999999999999999999}",
            "kernels.k.args.x: 99999999999999999999 does not fit 64 bits; did you mean 'i64'?",
            3,
        ),
        ('"*fp32, 1, 2"', "kernels.k.args: 3 types for the 2 parameters of k", 3),
        ('"*fp3, 1"', "kernels.k.args: x: unknown type '*fp3'; did you mean '*fp32'?", 3),
        ('"*fp32, a b"', "kernels.k.args: F: 'a b' is not a value; put a text in quotes", 3),
        ('"*fp32, (1"', "kernels.k.args: missing ')' in '*fp32, (1'", 3),
    ],
)
def test_a_spec_that_does_not_fit_the_kernel_is_told_with_its_place(
    args: str, message: str, line: int
) -> None:
    ops = type("ops", (), {"gelu": len})
    kernel = loaded("def k(x, F: tl.constexpr): ...", namespace={"act_relu": len, "ops": ops, "Pair": Pair})
    with pytest.raises(StageError) as caught:
        plan(kernel, f"kernels:\n  k: {{args: {args}}}")
    assert caught.value.failure.message == message
    location = caught.value.failure.location
    assert location is not None
    assert (location.file, location.line) == ("spec.yaml", line)


def test_a_text_for_a_plain_parameter_hints_at_constexpr() -> None:
    with pytest.raises(StageError) as caught:
        plan(loaded("def k(x): ..."), "kernels: {k: {args: {x: relu}}}")
    assert caught.value.failure.hint == "'x' is not annotated tl.constexpr, so its argument is a type"


def test_parameters_that_nothing_gives_are_named_with_what_to_write() -> None:
    kernel = loaded("def k(x, BLOCK: tl.constexpr, n, W: tl.constexpr): ...")
    with pytest.raises(StageError) as caught:
        plan(kernel, inferred=guess(x=(FP32,), n=()))
    failure = caught.value.failure
    assert failure.message == "no value for constexpr 'BLOCK', 'W'; no type for 'n'"
    assert failure.hint == "give it in the spec, kernels.k.args.BLOCK: 128"
    assert failure.location == kernel.location


def test_the_path_of_the_kernel_selects_the_entry() -> None:
    kernel = loaded("def k(x): ...", path=str(Path("/project/pkg/kernels.py")))
    spec = """kernels: {k: {args: {x: i32}}, "pkg/kernels.py::k": {args: {x: i64}}}"""
    assert values(plan(kernel, spec), "x") == [("i64",)]


def test_a_namedtuple_of_a_package_that_is_not_installed_is_made_from_the_spec() -> None:
    kernel = loaded("def k(t): ...", namespace={"State": missing("lib.State")})
    [variant] = plan(kernel, """kernels: {k: {args: {t: "State(x=*fp32, n=i32)"}}}""").variants
    found = variant.args["t"]
    assert isinstance(found, TupleType)
    assert (str(found), found.fields) == ("State(x=*fp32, n=i32)", ("x", "n"))
    assert found.cls is not None
    assert found.cls(1, 2)[0] == 1


@pytest.mark.parametrize("name", ["lib", "lib.act", "lib.sub.act"])
def test_an_object_of_a_package_that_is_not_installed_is_an_error(name: str) -> None:
    kernel = loaded("def k(F: tl.constexpr): ...", namespace={"lib": missing("lib")})
    with pytest.raises(StageError, match=f"^kernels.k.args.F: {name!r} is not installed$"):
        plan(kernel, f"kernels: {{k: {{args: {{F: {{ref: {name}}}}}}}}}")


def test_a_listed_value_given_twice_keeps_its_place() -> None:
    found = plan(loaded("def k(N: tl.constexpr): ..."), "kernels: {k: {args: {N: [2, 1, 2]}}}")
    assert (values(found, "N"), found.total) == ([("2",), ("1",)], 2)
