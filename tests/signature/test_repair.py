"""The repair loop, against what Triton says of real kernels."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.signature.repair import Repair
from triton_mutlint.source.load import load
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    Failure,
    Kernel,
    PointerType,
    ScalarType,
    SourceFile,
    Stage,
    StageError,
    TupleType,
    Variant,
    parse_target,
)

FP32, I32, N = PointerType("fp32"), PointerType("i32"), ScalarType("i32")


def kernel(tmp_path: Path, body: str) -> Kernel:
    path = tmp_path / "kernels.py"
    path.write_text("import triton\nimport triton.language as tl\n\n\n" + dedent(body), encoding="utf-8")
    found = load(SourceFile(path, path.name, path.read_text(encoding="utf-8")))
    return next(k for k in found.kernels if k.name == "k")


def repaired(kernel: Kernel, args: dict[str, ArgType]) -> dict[str, str]:
    """The arguments that lower at last, as printed; fails after 24 repairs."""
    lowerer, target = Lowerer(), parse_target("cuda:90")
    search = Repair(kernel, args, frozenset(args))
    current = args
    for _ in range(25):
        try:
            lowerer.lower(kernel, Variant(current), target)
            return {name: str(type_) for name, type_ in current.items()}
        except StageError as error:
            proposal = search.next(error.failure)
        if proposal is None:
            break
        current = dict(proposal)
    raise AssertionError("not repaired")


@pytest.mark.parametrize(
    ("body", "args", "want"),
    [
        ("tl.store(a, tl.load(b) & 3)", {"a": FP32, "b": FP32}, {"b": "*i32"}),
        ("tl.store(a, b)", {"a": N, "b": N}, {"a": "*fp32"}),
        ("tl.store(a + b, 1.0)", {"a": FP32, "b": FP32}, {"a": "*fp32", "b": "i32"}),
        ("p = tl.load(a)\nif b > 0:\n    p = 0\ntl.store(a, p)", {"a": FP32, "b": N}, {"a": "*i32"}),
        ("tl.store(a + tl.arange(0, b), 1.0)", {"a": FP32, "b": ConstexprValue(48)}, {"b": "64"}),
        ("tl.store(a, b[2])", {"a": FP32, "b": TupleType((N, N))}, {"b": "(i32, i32, i32, i32)"}),
        ("v = b.load([0, 0]) + tl.zeros((16, 16), tl.float16)\nb.store([0, 0], v)\ntl.store(a, 1.0)",
         {"a": FP32, "b": DescriptorType("fp16", (64, 64))}, {"b": "tensordesc<fp16[16, 16]>"}),
        ("tl.store(a, tl.load(b).to(tl.int16, bitcast=True))", {"a": FP32, "b": FP32}, {"b": "*i16"}),
        ("x = tl.arange(0, 16)[:, None] + tl.arange(0, 16)\ntl.store(a + x, tl.dot(tl.load(a + x), tl.load(b + x)))",
         {"a": FP32, "b": PointerType("i8")}, {"a": "*fp32", "b": "*fp32"}),
        ("for i in range(b):\n    tl.store(a, 1.0)", {"a": FP32, "b": ScalarType("fp32")}, {"b": "i32"}),
        ("p = a\nfor i in range(4):\n    tl.store(p, 1)\n    p = b", {"a": FP32, "b": I32},
         {"a": "*fp32", "b": "*fp32"}),
        ("p = a\nif tl.program_id(0) > 0:\n    p = b\ntl.store(p, 1)", {"a": I32, "b": FP32},
         {"a": "*i32", "b": "*i32"}),
        ("tl.store(a if tl.program_id(0) > 0 else b, 1)", {"a": FP32, "b": PointerType("i64")}, {"a": "*i64"}),
        ("tl.store(tl.where(tl.program_id(0) > 0, a, b), 1)", {"a": FP32, "b": I32}, {"a": "*i32"}),
        (("d = tl.make_tensor_descriptor(b, [16, 64], [64, 1], [1, 16])\n"
         "d.scatter(tl.zeros([8, 16], tl.int32), tl.arange(0, 8), 0)\ntl.store(a, 1)"),
         {"a": I32, "b": FP32}, {"b": "*i32"}),
        ("b.store([0], tl.arange(0, 16))\ntl.store(a, 1)", {"a": I32, "b": DescriptorType("i32", (64,))},
         {"b": "tensordesc<i32[16]>"}),
        ("tl.atomic_cas(b, 0, 1)\ntl.store(a, 1)", {"a": I32, "b": PointerType("i8")}, {"b": "*i32"}),
    ],
)  # fmt: skip
def test_what_triton_refuses_is_changed(
    tmp_path: Path, body: str, args: dict[str, ArgType], want: dict[str, str]
) -> None:
    constexpr = ": tl.constexpr" if isinstance(args["b"], ConstexprValue) else ""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    found = repaired(kernel(tmp_path, f"@triton.jit\ndef k(a, b{constexpr}):\n{lines}\n"), args)
    assert {name: found[name] for name in want} == want


def test_a_helper_s_line_leads_to_the_kernel_s_parameter(tmp_path: Path) -> None:
    body = """
        @triton.jit
        def low(v):
            return v & 255


        @triton.jit
        def k(out, x):
            tl.store(out, low(tl.load(x)))
    """
    assert repaired(kernel(tmp_path, body), {"out": FP32, "x": FP32})["x"] == "*i32"


def test_only_guesses_change_and_nothing_is_tried_twice(tmp_path: Path) -> None:
    found = kernel(tmp_path, "@triton.jit\ndef k(a, b):\n    tl.store(a, tl.load(b) & 3)\n")
    args: dict[str, ArgType] = {"a": FP32, "b": FP32}
    with pytest.raises(StageError) as raised:
        Lowerer().lower(found, Variant(args), parse_target("cuda:90"))
    search, seen = Repair(found, args, frozenset({"b"})), []
    while (proposal := search.next(raised.value.failure)) is not None:
        assert proposal["a"] is FP32
        seen.append(str(proposal["b"]))
    assert seen[0] == "*i32"
    assert len(seen) == len(set(seen))


def test_repair_is_deterministic(tmp_path: Path) -> None:
    found = kernel(tmp_path, "@triton.jit\ndef k(a, b):\n    tl.store(a, (tl.load(b) & 3) | tl.load(a))\n")
    first = repaired(found, {"a": FP32, "b": FP32})
    assert first == repaired(found, {"a": FP32, "b": FP32})
    assert first == {"a": str(I32), "b": str(I32)}


def test_a_reason_outside_the_guesses_is_not_repaired(tmp_path: Path) -> None:
    found = kernel(tmp_path, "@triton.jit\ndef k(a, b):\n    tl.store(a, b)\n")
    args: dict[str, ArgType] = {"a": FP32, "b": N}
    for message in ("NameError('x is not defined')", "unsupported AST node type: Continue"):
        failure = Failure(Stage.LOWER, message, found.location)
        assert Repair(found, args, frozenset(args)).next(failure) is None


def test_sizes_that_the_source_shows_to_be_refused_are_changed_first(tmp_path: Path) -> None:
    body = """
        @triton.jit
        def k(a, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
            tl.static_assert(A * B == C)
            tl.static_assert(C % 512 == 0)
            tl.store(a + tl.arange(0, C // 16 // 8), 1.0)
    """
    found = kernel(tmp_path, body)
    args: dict[str, ArgType] = {"a": FP32, **dict.fromkeys("ABC", ConstexprValue(64))}
    with pytest.raises(StageError) as raised:
        Lowerer().lower(found, Variant(args), parse_target("cuda:90"))
    proposal = Repair(found, args, frozenset("ABC")).next(raised.value.failure)
    assert proposal is not None
    Lowerer().lower(found, Variant(dict(proposal)), parse_target("cuda:90"))
