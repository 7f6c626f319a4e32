"""Judging a run: levels, `allow`, suppressions, what is left unused, and the order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.rule_samples import FILE, codes, run_of, subject_of
from triton_mutlint.config.request import Config
from triton_mutlint.contracts.snapshot import Snapshot
from triton_mutlint.rules.engine import judge
from triton_mutlint.rules.rule import RunSubject
from triton_mutlint.types import Failure, Finding, Location, Severity, Stage, Status, UnanalyzableOp

KERNEL = """\
# triton-mutlint: mutates=
@triton.jit
def k(x_ptr):
    tl.store(x_ptr, 1.0)
"""
OP = UnanalyzableOp("tt.new", "", "its effects are not known", ("x_ptr",), Location(FILE, 4, 5))


def judged(text: str = KERNEL, config: Config | None = None, **changes: object) -> tuple[Finding, ...]:
    allow = frozenset(changes.pop("allow", ()))  # type: ignore[call-overload]
    return judge(run_of(text, subject_of(text, allow=allow, **changes)), config or Config())


def test_a_finding_at_its_default_level() -> None:
    (finding,) = judged()
    assert (finding.rule, finding.severity, finding.parameter) == ("TML101", Severity.ERROR, "x_ptr")
    assert finding.location == Location(FILE, 3, 7)
    assert [(r.location.line, r.message) for r in finding.related] == [
        (1, "declared to write nothing here"), (4, "written here by tt.store")]


@pytest.mark.parametrize(("config", "expected"), [
    (Config(ignore=("TML101",)), []),
    (Config(ignore=("TML1",)), []),
    (Config(select=("TML2",)), []),
    (Config(per_file_ignores={"*.py": ("TML101",)}), []),
    (Config(per_file_ignores={"other/*": ("TML101",)}), [Severity.ERROR]),
    (Config(severity={"TML101": Severity.INFO}), [Severity.INFO]),
    (Config(severity={"TML101": Severity.OFF}), []),
])
def test_levels(config: Config, expected: list[Severity]) -> None:
    assert [f.severity for f in judged(config=config)] == expected


def test_per_file_patterns_refer_to_the_folder_of_the_configuration() -> None:
    config = Config(per_file_ignores={"project/kernels.py": ("TML101",)}, root=Path("/"))
    assert judged(config=config) == ()
    assert len(judged(config=replace(config, root=Path("/project")))) == 1


def test_what_a_rule_made_milder_stays_milder() -> None:
    run = replace(run_of(KERNEL, subject_of(KERNEL)), snapshot=Snapshot("a.snapshot", Path("/project"), {}))
    for level in (Severity.ERROR, Severity.WARNING):
        (finding,) = judge(run, Config(select=("TML107",), severity={"TML107": level}))
        assert finding.severity is Severity.INFO


def test_a_rule_that_is_off_reports_as_a_warning_when_selected() -> None:
    text = "@triton.jit\ndef k(x_ptr, n):\n    tl.load(n)\n"
    assert judged(text) == ()
    (finding,) = judged(text, Config(extend_select=("TML302",)))
    assert finding.severity is Severity.WARNING


def test_allow_suppresses_and_keeps() -> None:
    (finding,) = judged(allow=["TML101"])
    assert finding.suppressed


@pytest.mark.parametrize("text", [
    KERNEL.replace("x_ptr):", "x_ptr):  # triton-mutlint: ignore[TML101] known"),
    KERNEL.replace("@triton.jit", "@triton.jit  # triton-mutlint: ignore"),
    KERNEL.replace("# tr", "# triton-mutlint: ignore[TML101]\n# tr"),
])
def test_comments_suppress_and_keep(text: str) -> None:
    (finding,) = judged(text)
    assert finding.suppressed


def test_an_unused_suppression_is_reported() -> None:
    text = KERNEL.replace("1.0)", "1.0)  # triton-mutlint: ignore[TML201,TML202]")
    assert codes(judged(text)) == ["TML101", "TML905"]
    used = judged(text, unanalyzable_ops=(OP,))
    (left,) = [f for f in used if f.rule == "TML905"]
    assert left.message == "this comment suppresses no finding of TML202"
    assert left.help == "shorten it to `ignore[TML201]`"
    assert [f.suppressed for f in used if f.rule == "TML201"] == [True]


@pytest.mark.parametrize("change", ["ignored", "subset", "failed", "allowed", "itself"])
def test_when_a_suppression_is_not_called_unused(change: str) -> None:
    text = KERNEL.replace("mutates=", "mutates=x_ptr").replace("1.0)", "1.0)  # triton-mutlint: ignore[TML201]")
    subject = subject_of(text)
    run, config = run_of(text, subject), Config()
    assert codes(judge(run, config)) == ["TML905"]
    if change == "ignored":
        config = Config(ignore=("TML201",))
    elif change == "subset":
        run = replace(run, sources=(replace(run.sources[0], kernels=frozenset({"k"})),))
    elif change == "failed":
        failure = Failure(Stage.LOWER, "no", Location(FILE, 4))
        report = replace(subject.report, status=Status.FAILED, failure=failure)
        run = replace(run, kernels=(replace(subject, report=report),))
    elif change == "allowed":
        report = replace(subject.report, unanalyzable_ops=(OP,))
        run = replace(run, kernels=(replace(subject_of(text, allow=["TML201"]), report=report),))
    else:
        run = run_of(text.replace("[TML201]", "[TML201,TML905]"), subject)
    assert "TML905" not in codes(judge(run, config))


def test_unreadable_comments_are_reported() -> None:
    text = KERNEL.replace("x_ptr):", "x_ptr):  # triton-mutlint: ignore[TML1O1]")
    found = judged(text)
    assert codes(found) == ["TML101", "TML905"]
    assert found[1].help == "did you mean `TML101`?"
    assert codes(judged(KERNEL.replace("mutates=", "mutate=x_ptr"))) == ["TML904"]


def test_a_comment_on_the_kernel_covers_its_findings_in_other_files() -> None:
    elsewhere = replace(OP, location=Location("helpers.py", 9, 1))
    declared = KERNEL.replace("mutates=", "mutates=x_ptr")
    text = declared.replace("x_ptr):", "x_ptr):  # triton-mutlint: ignore[TML201] ok")
    found = judged(text, unanalyzable_ops=(elsewhere,))
    assert [(f.rule, f.suppressed) for f in found] == [("TML201", True)]
    here = judged(text, unanalyzable_ops=(OP,))
    assert [(f.rule, f.suppressed) for f in here] == [("TML905", False), ("TML201", False)]


def test_failures_outside_any_kernel() -> None:
    failure = Failure(Stage.LOAD, "syntax error", Location("bad.py", 3, 2), "fix it")
    (finding,) = judge(RunSubject(failures=(("bad.py", failure),)), Config())
    assert (finding.rule, finding.location, finding.help) == ("TML901", Location("bad.py", 3, 2), "fix it")


def test_stale_spec_entries() -> None:
    run = RunSubject(spec_unused=(("no kernel is called `kk`", Location("spec.yaml", 3, 3)),))
    assert codes(judge(run, Config())) == ["TML904"]


def test_the_order_does_not_depend_on_that_of_the_kernels() -> None:
    first = subject_of(KERNEL)
    second = replace(first, report=replace(first.report, name="j", location=Location("a.py", 3)))
    runs = [replace(run_of(KERNEL), kernels=kernels) for kernels in ((first, second), (second, first))]
    assert judge(runs[0], Config()) == judge(runs[1], Config())


def test_a_required_spec() -> None:
    assert codes(judged(config=Config(require_spec=True))) == ["TML903", "TML101"]
    assert codes(judged(config=Config(require_spec=True, ignore=("TML903",)))) == ["TML101"]
