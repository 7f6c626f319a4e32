"""What the kernel rules must not say, and messages that the fixtures do not reach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.rule_samples import FILE, subject_of
from triton_mutlint.contracts.declarations import KernelDeclaration
from triton_mutlint.rules import RULES
from triton_mutlint.rules.rule import KernelSubject
from triton_mutlint.types import (
    Failure,
    Finding,
    IndirectWrite,
    Location,
    Mutation,
    OpaqueOp,
    Origin,
    ParameterReport,
    Stage,
    Status,
    UnanalyzableOp,
)

WRITES = "@triton.jit\ndef k(x_ptr, out_ptr):\n    tl.store(out_ptr, tl.load(x_ptr))\n"
HERE = Location(FILE, 3, 5)


def declared(*names: str) -> KernelDeclaration:
    return KernelDeclaration(names, Location("spec.yaml", 4, 5), "spec")


def with_mutation(subject: KernelSubject, name: str, mutation: Mutation, *when: str) -> KernelSubject:
    parameters = subject.report.parameters
    changed = tuple(replace(p, mutation=mutation, when=when) if p.name == name else p for p in parameters)
    return replace(subject, report=replace(subject.report, parameters=changed))


def found(code: str, subject: KernelSubject) -> list[Finding]:
    return list(RULES[code].check(subject))


def test_101_unknown_is_not_a_definite_write() -> None:
    subject = with_mutation(subject_of(WRITES, declaration=declared("out_ptr")), "x_ptr", Mutation.UNKNOWN)
    assert found("TML101", subject) == []


def test_101_says_under_which_condition() -> None:
    subject = with_mutation(subject_of(WRITES, declaration=declared()), "out_ptr", Mutation.CONDITIONAL, "A=1", "A=2")
    (finding,) = found("TML101", subject)
    assert "writes `out_ptr` when A=1 or A=2, which its spec entry" in finding.message
    assert finding.help.startswith("if the write is meant, declare it: `mutates: [out_ptr]`")


def test_101_suggests_the_whole_declaration_in_signature_order() -> None:
    text = "def k(a_ptr, b_ptr, c_ptr):\n    tl.store(a_ptr, 1)\n    tl.store(b_ptr, 1)\n    tl.store(c_ptr, 1)\n"
    findings = found("TML101", subject_of(text, declaration=declared("c_ptr", "gone_ptr")))
    assert [f.parameter for f in findings] == ["a_ptr", "b_ptr"]
    assert all("`mutates: [a_ptr, b_ptr, c_ptr]`" in f.help for f in findings)


def test_101_const_annotations_declare_too() -> None:
    (finding,) = found("TML101", subject_of("def k(x_ptr: tl.const):\n    tl.store(x_ptr, 1)\n"))
    assert "annotated `tl.const`" in finding.message


@pytest.mark.parametrize(("mutation", "stale"), [
    (Mutation.UNWRITTEN, True), (Mutation.UNKNOWN, False), (Mutation.CONDITIONAL, False), (Mutation.WRITTEN, False),
])
def test_102_only_what_no_variant_writes(mutation: Mutation, stale: bool) -> None:
    subject = with_mutation(subject_of(WRITES, declaration=declared("x_ptr", "out_ptr")), "x_ptr", mutation)
    assert [f.parameter for f in found("TML102", subject)] == (["x_ptr"] if stale else [])


def test_102_a_tuple_is_stale_only_as_a_whole() -> None:
    def reported(*mutations: Mutation) -> KernelSubject:
        base = subject_of(WRITES, declaration=declared("ptrs"))
        first = base.report.parameters[0]
        elements: tuple[ParameterReport, ...] = tuple(
            replace(first, name=f"ptrs.{i}", mutation=m) for i, m in enumerate(mutations))
        return replace(base, report=replace(base.report, parameters=elements))

    assert found("TML102", reported(Mutation.UNWRITTEN, Mutation.WRITTEN)) == []
    assert len(found("TML102", reported(Mutation.UNWRITTEN, Mutation.UNWRITTEN))) == 1


def test_102_counts_the_variants() -> None:
    subject = subject_of(WRITES, declaration=declared("x_ptr"), analyzed_variants=3, total_variants=9)
    (finding,) = found("TML102", subject)
    assert "does in none of the analysed variants (3 of 9): only read" in finding.message


@pytest.mark.parametrize("code", ["TML101", "TML102", "TML302", "TML303"])
def test_failed_kernels_are_left_to_the_failure(code: str) -> None:
    subject = subject_of(WRITES, declaration=declared("x_ptr"))
    failure = Failure(Stage.LOWER, "no", HERE)
    report = replace(subject.report, status=Status.FAILED, failure=failure, parameters=())
    assert found(code, replace(subject, report=report)) == []


def test_201_names_what_is_unknown_and_undeclared() -> None:
    op = UnanalyzableOp("tt.new", "", "its memory effects are not known", ("x_ptr", "out_ptr"), HERE)
    subject = subject_of(WRITES, declaration=declared("out_ptr"), unanalyzable_ops=(op,))
    (finding,) = found("TML201", with_mutation(subject, "x_ptr", Mutation.UNKNOWN))
    assert "so it may write `x_ptr`" in finding.message
    assert finding.parameter == "x_ptr"
    assert finding.help == "if it writes `x_ptr`, add that to `mutates`; then suppress this"


def test_201_shows_long_asm_shortened() -> None:
    op = UnanalyzableOp("tt.elementwise_inline_asm", "mystery.op $0;\n" * 20, "not understood", (), HERE)
    (finding,) = found("TML201", subject_of(WRITES, unanalyzable_ops=(op,)))
    assert "…`" in finding.message
    assert len(finding.message) < 200
    assert "\n" not in finding.message


def test_202_leaves_declared_tables_and_undecided_ops_alone() -> None:
    write = IndirectWrite("x_ptr", "loaded", "tt.store", HERE)
    assert len(found("TML202", subject_of(WRITES, indirect_writes=(write,)))) == 1
    assert found("TML202", subject_of(WRITES, declaration=declared("x_ptr"), indirect_writes=(write,))) == []
    op = UnanalyzableOp("tt.store", "", "unknown", (), HERE)
    assert found("TML202", subject_of(WRITES, indirect_writes=(write,), unanalyzable_ops=(op,))) == []


@pytest.mark.parametrize(("detail", "pure", "effect", "expected"), [
    ("st.global.b32 [$1], 7;", True, "writes", "error"),
    ("st.global.b32 [$1], 7;", False, "writes", None),
    ("st.shared.b32 [$1], 7;", True, "shares", "error"),
    ("st.shared.b32 [$1], 7;", False, "shares", None),
    ("add.s32 $0, $1, 1;", False, "none", None),
    ("add.s32 $0, $1, 1;", True, "none", None),
    ("ld.global.b32 $0, [$1];", False, "reads", None),
])
def test_203(detail: str, pure: bool, effect: str, expected: str | None) -> None:
    op = OpaqueOp("tt.elementwise_inline_asm", detail, pure, effect, (), HERE)
    findings = found("TML203", subject_of(WRITES, opaque_ops=(op,)))
    assert [f.severity.value for f in findings] == ([expected] if expected else [])


def test_302_what_asm_or_a_table_needs_is_used() -> None:
    text = "def k(x_ptr, out_ptr):\n    tl.store(out_ptr, 1)\n"
    op = OpaqueOp("tt.elementwise_inline_asm", "ld", False, "reads", ("x_ptr",), HERE)
    assert [f.parameter for f in found("TML302", subject_of(text))] == ["x_ptr"]
    assert found("TML302", subject_of(text, opaque_ops=(op,))) == []


@pytest.mark.parametrize(("stage", "verb"), [
    (Stage.SIGNATURE, "has no usable signature"), (Stage.LOWER, "does not compile"),
    (Stage.ANALYZE, "was not analysed"),
])
def test_902_by_stage(stage: Stage, verb: str) -> None:
    subject = subject_of(WRITES)
    report = replace(subject.report, status=Status.FAILED, failure=Failure(stage, "because"), origin=Origin.INFERRED)
    (finding,) = found("TML902", replace(subject, report=report))
    assert f"`k` {verb}: because" in finding.message
    assert finding.location == subject.report.location
    assert bool(finding.help) == (stage is Stage.LOWER)


def test_901_and_902_share_no_failure() -> None:
    subject = subject_of(WRITES)
    for stage in Stage:
        report = replace(subject.report, status=Status.FAILED, failure=Failure(stage, "because", HERE))
        failed = replace(subject, report=report)
        loaded = list(RULES["TML901"].check(failed))
        assert len(loaded) + len(found("TML902", failed)) == 1
        assert bool(loaded) == (stage is Stage.LOAD)


def test_903_a_kernel_that_did_not_load_may_have_an_entry() -> None:
    subject = subject_of(WRITES)
    assert len(found("TML903", subject)) == 1
    assert found("TML903", replace(subject, kernel=None)) == []
    assert found("TML903", replace(subject, has_spec_entry=True)) == []
