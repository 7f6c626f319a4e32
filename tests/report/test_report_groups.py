"""Findings that text tells of together, and the line that says what can be done about all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.report_samples import ADD_KERNEL, BROKEN_KERNEL, FINDINGS, NORM_KERNEL, SIMPLE, TEXTS
from triton_mutlint.fixes.plan import Offer
from triton_mutlint.report import render as render_as
from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.report.terminal.summary import advice
from triton_mutlint.report.terminal.text import grouped, said
from triton_mutlint.types import (
    Declaration,
    Failure,
    Finding,
    KernelReport,
    Location,
    OpArgument,
    OpMutation,
    OpReport,
    Related,
    Severity,
    Stage,
    Status,
)

DECORATOR = Location("kernels.py", 8, 1)


def finding(name: str, message: str = "`k` writes `{}`", help_: str = "declare `{}`", **changes: object) -> Finding:
    made = Finding(
        "TML101", "undeclared-mutation", Severity.ERROR, message.format(name), Location("kernels.py", 9, 5),
        kernel="k", parameter=name, help=help_.format(name), subject=DECORATOR,
    )
    return replace(made, **changes)


def test_those_that_differ_in_the_parameter_are_one() -> None:
    (group,) = grouped([finding("a"), finding("b"), finding("c")])
    assert said(group, lambda f: f.message) == ["`k` writes `a`, `b`, `c`"]
    assert said(group, lambda f: f.help) == ["declare `a`, `b`, `c`"]


def test_what_they_say_otherwise_is_said_of_each() -> None:
    (group,) = grouped([finding("a"), finding("b", "`k` writes `{}` when A=1"), finding("c")])
    assert said(group, lambda f: f.message) == ["`k` writes `a`, `c`", "`k` writes `b` when A=1"]


@pytest.mark.parametrize("changes", [
    {"rule": "TML102"}, {"severity": Severity.INFO}, {"kernel": "other"}, {"op": "ns::op"}, {"suppressed": True},
    {"subject": Location("kernels.py", 20, 1)}, {"subject": None}, {"parameter": None},
])
def test_what_is_not_of_one_kind_and_subject_stays_apart(changes: dict[str, object]) -> None:
    assert len(grouped([finding("a"), finding("b", **changes)])) == 2


def test_places_and_notes_are_told_once() -> None:
    declared, written = Related("declared", DECORATOR), Related("written", Location("kernels.py", 12))
    text = shown(finding("a", related=(declared, written)), finding("b", related=(declared,)),
                 finding("c", location=Location("kernels.py", 10, 1)))
    told = ("note: declared", "note: written", "kernels.py:9:5", "kernels.py:10:1")
    assert [text.count(what) for what in told] == [1, 1, 1, 1]


# --------------------------------------------------------------------------- as they are shown


def shown(*findings: Finding, name: str = "text", fixable: tuple[Finding, ...] = (), **options: object) -> str:
    fixes = {f: Offer("kernels.py", "add it", ()) for f in fixable}
    made = RenderOptions(sources=SourceLines(TEXTS), fixes=fixes, **options)
    return render_as(name, replace(SIMPLE, findings=findings), made)


def test_what_can_be_fixed_is_marked_and_the_summary_counts_it() -> None:
    one, two, other = finding("a"), finding("b"), finding("a", kernel="other")
    text = shown(one, two, other, fixable=(one, two))
    assert "error[TML101] undeclared-mutation [*] (2 parameters)\n" in text
    assert "error[TML101] undeclared-mutation\n" in text
    assert text.splitlines()[-1] == "[*] 2 findings can be fixed: triton-mutlint check --fix"
    assert "[*]" not in shown(one, two, other)
    lines = shown(one, other, name="concise", fixable=(one,)).splitlines()
    assert lines == ["kernels.py:9:5: error: TML101 [*] `k` writes `a`", "kernels.py:9:5: error: TML101 `k` writes `a`"]


def test_formats_for_machines_keep_them_apart() -> None:
    for name, word in (("json", '"rule": "TML101"'), ("sarif", '"ruleId": "TML101"'), ("github", "::error")):
        assert shown(finding("a"), finding("b"), name=name).count(word) == 2


def without_verdict(name: str, lacks: str) -> KernelReport:
    failure = Failure(Stage.LOWER, "it does not compile", lacks=lacks)
    return replace(SIMPLE.kernels[0], name=name, status=Status.FAILED, failure=failure)


def test_the_summary_says_what_to_add_for_kernels_that_were_not_analysed() -> None:
    kernels = tuple(map(without_verdict, "abcd", ("arguments", "arguments", "globals", "")))
    raised = tuple(replace(FINDINGS[0], rule="TML902", kernel=k.name, severity=Severity.WARNING) for k in kernels)
    assert advice(replace(SIMPLE, kernels=kernels[:1], findings=raised)) == [
        "1 kernel not analysed: give its arguments in a spec (triton-mutlint init)"]
    assert advice(replace(SIMPLE, kernels=kernels, findings=raised)) == [
        "2 kernels not analysed: give their arguments in a spec (triton-mutlint init)",
        "1 kernel not loaded: give what it needs under `globals` in a spec"]
    errors = tuple(replace(f, severity=Severity.ERROR) for f in raised)
    suppressed = tuple(replace(f, suppressed=True) for f in raised)
    for findings, those in ((errors, kernels), (suppressed, kernels), (raised, kernels[3:])):
        assert advice(replace(SIMPLE, kernels=those, findings=findings)) == []


# --------------------------------------------------------------------------- one line a kernel


PLACE = Location("kernels.py", 12)
OP = OpReport("ns::op", "custom_op", PLACE, Declaration((), PLACE), (OpArgument("x", 0, OpMutation.WRITTEN),), ())


NORM = "writes Y, Locks and sometimes Mean · may write X · through addresses from table"


def test_a_brief_report_has_a_line_for_each_kernel_and_op() -> None:
    report = replace(SIMPLE, kernels=(BROKEN_KERNEL, NORM_KERNEL, ADD_KERNEL), ops=(OP,))
    assert render_as("text", report, RenderOptions(brief=True, width=140)).splitlines()[:5] == [
        "kernels.py:9 add_kernel  writes output_ptr",
        "kernels.py:12 op ns::op  writes x",
        "kernels.py:20 broken_kernel  could not be lowered",
        f"nn/norm.py:7 norm_kernel  {NORM} · 64 of 200 variants",
        "",
    ]


def test_a_line_holds_the_first_sentence_of_what_is_long() -> None:
    long = finding("a", message=f"`k` fails. {'And so on. ' * 40}")
    assert shown(long, name="concise") == "kernels.py:9:5: error: TML101 `k` fails. ...\n"
    assert shown(finding("a", message="x" * 300), name="concise").endswith("xxx...\n")
