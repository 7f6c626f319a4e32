"""From spec, source and inference to the variants of a kernel."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from kernels_by_hand import config, loaded

from triton_mutlint.model import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    LoadedKernel,
    Origin,
    PointerType,
    ScalarType,
    SignaturePlan,
    StageError,
    TupleType,
)
from triton_mutlint.signature.plan import Inferred, build_plan
from triton_mutlint.signature.spec import parse_spec

ADD = "def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr): ..."
FP32 = PointerType("fp32")
I32 = ScalarType("i32")
FLAG = (ConstexprValue(False), ConstexprValue(True))
Pair = namedtuple("Pair", ["x", "n"])


def nothing(kernel: LoadedKernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
    return {}


def guess(**alternatives: tuple[ArgType, ...]) -> Any:
    """An inference that says this of the parameters, whatever is known."""

    def infer(kernel: LoadedKernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        return {name: Inferred(values, f"guessed {name}") for name, values in alternatives.items()}

    return infer


def plan(
    kernel: LoadedKernel, spec_text: str = "", *, inferred: Any = nothing, **options: Any
) -> SignaturePlan:
    spec = parse_spec(f"version: 1\n{spec_text}", "spec.yaml") if spec_text else None
    entry = spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line) if spec else None
    return build_plan(kernel, entry, spec, inferred=inferred, **options)


def values(found: SignaturePlan, *names: str) -> list[tuple[str, ...]]:
    """Per variant, the arguments of `names` as printed."""
    return [tuple(str(variant.args[name]) for name in names) for variant in found.variants]


# --------------------------------------------------------------------------- the spec alone


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


def test_compact_signature_shorter_than_the_parameters_leaves_the_rest_to_inference() -> None:
    found = plan(
        loaded(ADD),
        """kernels: {add: {args: "*fp32, *fp32"}}""",
        inferred=guess(n=(I32,), BLOCK=(ConstexprValue(64),), x_ptr=(I32,)),
    )
    assert values(found, "x_ptr", "n", "BLOCK") == [("*fp32", "i32", "64")]
    assert (found.origin, found.inferred) == (Origin.MIXED, {"n", "BLOCK"})
    assert list(found.reasons.items()) == [("n", "guessed n"), ("BLOCK", "guessed BLOCK")]


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


# --------------------------------------------------------------------------- inference


def test_without_a_spec_everything_is_inferred() -> None:
    seen: list[Mapping[str, ArgType]] = []

    def infer(kernel: LoadedKernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        seen.append(known)
        return guess(x_ptr=(FP32,), out_ptr=(FP32,), n=(I32,), BLOCK=(ConstexprValue(64),))(kernel, known)

    found = plan(loaded(ADD), inferred=infer)
    assert (found.origin, seen) == (Origin.INFERRED, [{}])
    assert found.inferred == {"x_ptr", "out_ptr", "n", "BLOCK"}
    assert found.reasons["n"] == "guessed n"


def test_inference_is_told_what_is_known() -> None:
    seen: list[Mapping[str, ArgType]] = []

    def infer(kernel: LoadedKernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        seen.append(known)
        return guess(x_ptr=(FP32,), out_ptr=(FP32,))(kernel, known)

    plan(
        loaded(ADD, configs=(config(BLOCK=32), config(BLOCK=64))),
        "kernels: {add: {args: {n: [i32, i64]}}}",
        inferred=infer,
    )
    assert seen == [{"n": I32, "BLOCK": ConstexprValue(32)}]


def test_flags_are_analysed_both_ways_even_with_a_default() -> None:
    kernel = loaded("def k(x, A: tl.constexpr, B: tl.constexpr = True, C: tl.constexpr = 8): ...")
    found = plan(kernel, inferred=guess(x=(FP32,), A=FLAG, B=FLAG, C=(ConstexprValue(64),)))
    assert values(found, "A", "B", "C") == [
        ("False", "True", "8"),
        ("False", "False", "8"),
        ("True", "True", "8"),
        ("True", "False", "8"),
    ]
    assert found.inferred == {"x", "A", "B"}  # C's default stands


def test_an_optional_pointer_is_analysed_both_ways() -> None:
    kernel = loaded("def k(x, bias=None): ...")
    found = plan(kernel, inferred=guess(x=(FP32,), bias=(FP32, ConstexprValue(None))))
    assert values(found, "bias") == [("*fp32",), ("None",)]


def test_declared_defaults_stand_where_inference_is_silent() -> None:
    kernel = loaded("def k(x, eps=1e-6, n=16, o=None, A: tl.constexpr = 'none', D: tl.constexpr = None): ...")
    found = plan(kernel, """kernels: {k: {args: {x: "*fp32"}}}""")
    assert values(found, "eps", "n", "o", "A", "D") == [("fp32", "i32:16", "None", "'none'", "None")]
    assert found.origin is Origin.SPEC


def test_a_none_default_is_joined_by_what_inference_says() -> None:
    kernel = loaded("def k(D: tl.constexpr = None): ...")
    assert values(plan(kernel, inferred=guess(D=(ConstexprValue(4),))), "D") == [("None",), ("4",)]


# --------------------------------------------------------------------------- autotune


def test_every_config_is_a_variant_and_equal_constexprs_collapse() -> None:
    kernel = loaded(ADD, configs=(config(2, BLOCK=32), config(4, BLOCK=64), config(8, BLOCK=64)))
    found = plan(kernel, """kernels: {add: {args: {x_ptr: "*fp32", out_ptr: "*fp32", n: i32}}}""")
    assert [(v.choices, dict(v.options)) for v in found.variants] == [
        ((("BLOCK", "32"),), {"num_warps": 2}),
        ((("BLOCK", "64"),), {"num_warps": 4}),
    ]
    assert (found.total, found.origin) == (2, Origin.SPEC)


def test_configs_tell_true_from_one() -> None:
    kernel = loaded("def k(A: tl.constexpr): ...", configs=(config(A=1), config(A=True), config(A=1.0)))
    assert values(plan(kernel), "A") == [("1",), ("True",), ("1.0",)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("64", [("64", "1"), ("64", "2")]),  # keeps the configs that have it
        ("[64, 32]", [("64", "1"), ("64", "2"), ("32", "1")]),
        ("256", [("256", "1"), ("256", "2")]),  # no config has it: it replaces theirs
        ("[256, 32]", [("256", "1"), ("256", "2"), ("32", "1")]),
    ],
)
def test_a_spec_value_for_an_autotuned_parameter(given: str, expected: list[tuple[str, ...]]) -> None:
    kernel = loaded(
        "def k(BLOCK: tl.constexpr, W: tl.constexpr): ...",
        configs=(config(BLOCK=32, W=1), config(BLOCK=64, W=1), config(BLOCK=64, W=2)),
    )
    found = plan(kernel, f"kernels: {{k: {{args: {{BLOCK: {given}}}}}}}")
    assert sorted(values(found, "BLOCK", "W")) == sorted(expected)


def test_an_autotuned_parameter_without_annotation_takes_values() -> None:
    kernel = loaded("def k(BLOCK): ...", configs=(config(BLOCK=32),))
    assert values(plan(kernel, "kernels: {k: {args: {BLOCK: 64}}}"), "BLOCK") == [("64",)]


def test_config_values_that_are_no_parameter_are_options() -> None:
    kernel = loaded("def k(B: tl.constexpr): ...", configs=(config(4, B=1, waves_per_eu=2),))
    assert dict(plan(kernel).variants[0].options) == {"num_warps": 4, "waves_per_eu": 2}


def test_a_kernel_that_takes_num_warps_gets_the_configs() -> None:
    kernel = loaded("def k(num_warps: tl.constexpr): ...", configs=(config(4), config(8)))
    found = plan(kernel)
    assert values(found, "num_warps") == [("4",), ("8",)]
    assert [dict(v.options) for v in found.variants] == [{"num_warps": 4}, {"num_warps": 8}]


def test_a_parameter_that_only_some_configs_tune() -> None:
    kernel = loaded(
        "def k(B: tl.constexpr, S: tl.constexpr = 1): ...", configs=(config(B=1), config(B=2, S=4))
    )
    assert values(plan(kernel), "B", "S") == [("1", "1"), ("2", "4")]


def test_autotune_goes_before_the_specs_defaults() -> None:
    kernel = loaded("def k(B: tl.constexpr): ...", configs=(config(B=1), config(B=2)))
    assert values(plan(kernel, "defaults: {constexpr: {B: 128}}"), "B") == [("1",), ("2",)]


# --------------------------------------------------------------------------- heuristics

HEURISTIC = "def k(x, bias, n, B: tl.constexpr, H: tl.constexpr): ..."
ARGS = """kernels: {k: {args: {x: "*fp32", bias: [null, "*fp32"], n: i32, B: [16, 32]}}}"""


def heuristic(function: Any, spec: str = ARGS, **options: Any) -> SignaturePlan:
    return plan(loaded(HEURISTIC, heuristics={"H": function}), spec, **options)


def test_a_heuristic_follows_the_other_arguments_of_its_variant() -> None:
    found = heuristic(lambda args: args["bias"] is not None)
    assert values(found, "bias", "H") == [("None", "False")] * 2 + [("*fp32", "True")] * 2
    assert (found.total, found.origin) == (4, Origin.SPEC)


def test_a_heuristic_of_constexprs_is_exact() -> None:
    assert set(values(heuristic(lambda args: args["B"] * 2), "B", "H")) == {("16", "32"), ("32", "64")}


def test_a_flag_that_looks_at_a_run_time_number_is_analysed_both_ways() -> None:
    found = heuristic(lambda args: args["n"] % args["B"] == 0)
    assert set(values(found, "B", "H")) == {("16", "True"), ("16", "False"), ("32", "True"), ("32", "False")}
    assert found.total == 8
    as_number = heuristic(lambda args: 1 if args["n"] > 4 else 0)
    assert set(values(as_number, "H")) == {("0",), ("1",)}


def test_a_comparison_that_needs_real_tensors_is_analysed_both_ways() -> None:
    found = heuristic(lambda args: args["x"].data_ptr() % 16 == 0)
    assert set(values(found, "H")) == {("False",), ("True",)}


def test_a_heuristic_that_cannot_be_told_is_inferred() -> None:
    found = heuristic(
        lambda args: args["x"].shape[0], inferred=guess(H=(ConstexprValue(8), ConstexprValue(9)))
    )
    assert set(values(found, "H")) == {("8",), ("9",)}
    assert (found.origin, found.inferred) == (Origin.MIXED, {"H"})
    assert "the heuristic for 'H' needs real arguments" in found.notes


def test_a_heuristic_that_cannot_be_told_falls_back_to_the_specs_defaults() -> None:
    found = heuristic(lambda args: args["x"].shape[0], f"defaults: {{constexpr: {{H: 3}}}}\n{ARGS}")
    assert set(values(found, "H")) == {("3",)}
    assert found.origin is Origin.SPEC


def test_a_heuristic_that_nothing_gives_is_an_error() -> None:
    with pytest.raises(StageError, match="no value for constexpr 'H'"):
        heuristic(lambda args: args["x"].shape[0])


def test_a_spec_value_goes_before_the_heuristic() -> None:
    spec = ARGS.replace("B: [16, 32]", "B: 16, H: 5")
    assert set(values(heuristic(lambda args: 1 / 0, spec), "H")) == {("5",)}


def test_heuristics_see_earlier_ones_and_the_config() -> None:
    kernel = loaded(
        "def k(n, B: tl.constexpr, E: tl.constexpr, F: tl.constexpr): ...",
        configs=(config(4, B=32), config(8, B=64)),
        heuristics={
            "E": lambda args: args["B"] * args["num_warps"],
            "F": lambda args: {**args}["E"] + 1,
            "num_stages": lambda args: args["n"].missing,
        },
    )
    found = plan(kernel, "kernels: {k: {args: {n: i32}}}")
    assert values(found, "B", "E", "F") == [("32", "128", "129"), ("64", "512", "513")]


def test_heuristics_read_tuples_floats_and_flags() -> None:
    kernel = loaded(
        "def k(t, eps, on, H: tl.constexpr): ...",
        heuristics={"H": lambda args: args["t"].n * int(args["eps"]) * args["on"]},
        namespace={"Pair": Pair},
    )
    spec = """kernels: {k: {args: {t: "Pair(x=*fp32, n=i32)", eps: fp32, on: i1}}}"""
    assert values(plan(kernel, spec), "H") == [(str(1024 * 1024),)]


# --------------------------------------------------------------------------- the cap


def flags(count: int) -> tuple[LoadedKernel, Any]:
    names = [f"F{i}" for i in range(count)]
    kernel = loaded(f"def k({', '.join(f'{name}: tl.constexpr' for name in names)}): ...")
    return kernel, guess(**dict.fromkeys(names, FLAG))


def test_the_cap_keeps_every_value_of_every_parameter() -> None:
    kernel, infer = flags(10)
    found = plan(kernel, inferred=infer, max_variants=16)
    assert (len(found.variants), found.total) == (16, 1024)
    assert found.notes == ("16 of 1024 variants analysed; raise --max-variants for more",)
    for name in kernel.parameter_names:
        assert {value for (value,) in values(found, name)} == {"False", "True"}
    assert ("True",) * 10 in values(found, *kernel.parameter_names)
    assert found == plan(kernel, inferred=infer, max_variants=16)


def test_a_cap_below_the_number_of_values_moves_all_parameters_at_once() -> None:
    kernel, infer = flags(10)
    found = plan(kernel, inferred=infer, max_variants=2)
    assert values(found, "F0", "F9") == [("False", "False"), ("True", "True")]


def test_beyond_what_can_be_counted_the_total_is_the_product() -> None:
    kernel, infer = flags(40)
    found = plan(kernel, inferred=infer)
    assert (len(found.variants), found.total) == (64, 2**40)


def test_beyond_what_can_be_counted_heuristics_count_what_they_can_give() -> None:
    kernel, infer = flags(20)
    kernel = loaded(
        f"def k(n, H: tl.constexpr, {', '.join(f'{name}: tl.constexpr' for name in kernel.parameter_names)}): ...",
        heuristics={"H": lambda args: args["F0"]},
    )
    found = plan(kernel, "kernels: {k: {args: {n: i32}}}", inferred=infer)
    assert (len(found.variants), found.total) == (64, 2**20)
    assert all(a == b for a, b in values(found, "H", "F0"))


def test_the_cap_keeps_configs_that_bring_in_new_values() -> None:
    many = tuple(config(B=b, W=w) for b in (16, 32, 64, 128) for w in range(25))
    kernel = loaded("def k(B: tl.constexpr, W: tl.constexpr): ...", configs=many)
    found = plan(kernel, max_variants=28)
    assert (len(found.variants), found.total) == (28, 100)
    assert len({b for (b,) in values(found, "B")}) == 4
    assert len({w for (w,) in values(found, "W")}) == 25


def test_a_cap_of_zero_still_analyses_one() -> None:
    kernel, infer = flags(2)
    assert len(plan(kernel, inferred=infer, max_variants=0).variants) == 1


def test_equal_variants_count_once() -> None:
    found = plan(loaded("def k(n): ..."), "kernels: {k: {args: {n: [i32, int32, i64]}}}")
    assert (values(found, "n"), found.total) == ([("i32",), ("i64",)], 2)


def test_a_kernel_without_parameters() -> None:
    found = plan(loaded("def k(): ..."), "kernels: {k: {}}")
    assert (len(found.variants), found.total, found.origin) == (1, 1, Origin.SPEC)


def test_the_path_of_the_kernel_selects_the_entry() -> None:
    kernel = loaded("def k(x): ...", path=str(Path("/project/pkg/kernels.py")))
    spec = """kernels: {k: {args: {x: i32}}, "pkg/kernels.py::k": {args: {x: i64}}}"""
    assert values(plan(kernel, spec), "x") == [("i64",)]
