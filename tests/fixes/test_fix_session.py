"""What the analysis of the edited text decides, with analyses made up for the purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.fix_samples import finding
from triton_mutlint.config.request import Request
from triton_mutlint.contracts.comments import read_comments
from triton_mutlint.fixes.plan import FixOutcome, settle
from triton_mutlint.types import (
    Change,
    Environment,
    Finding,
    KernelReport,
    ListKind,
    Location,
    Mutation,
    ParameterKind,
    ParameterReport,
    Related,
    Report,
    Status,
    UsageError,
)

KERNELS = "a = 1  # triton-mutlint: ignore[TML201]\nb = 2  # triton-mutlint: ignore[TML202] why\n"


def idle(text: str, file: str = "kernels.py") -> list[Finding]:
    """A finding per code of each `ignore` comment."""
    found = [d for d in read_comments(text, file).directives if d.kind == "ignore"]
    return [finding(Change(ListKind.IGNORE, code, False, d.location), message=f"idle {code}")
            for d in found for code in d.items]


class World:
    """A folder, and an analysis of it that `judge` gives by file; counts how often it is asked."""

    def __init__(self, folder: Path, judge: Callable[[str, str], list[Finding]]) -> None:
        self.folder, self.judge, self.asked = folder, judge, 0
        self.kernels: tuple[KernelReport, ...] = ()

    def write(self, text: str, name: str = "kernels.py") -> None:
        (self.folder / name).write_bytes(text.encode())

    def analyse(self, request: Request) -> Report:
        self.asked += 1
        texts = {p.name: request.texts.get(p.name, p.read_text()) for p in sorted(self.folder.iterdir())}
        found = [f for name, text in texts.items() for f in self.judge(name, text)]
        return Report(Environment(None), self.kernels, tuple(found), len(texts))

    def settle(self) -> FixOutcome:
        request = Request(("kernels.py",), self.folder)
        return settle(self.analyse(request), request, self.analyse)


def test_everything_is_fixed_and_analysed_once_more(tmp_path: Path) -> None:
    world = World(tmp_path, lambda name, text: idle(text, name))
    world.write(KERNELS)
    outcome = world.settle()
    assert [d.text for _, d in outcome.changed] == ["a = 1\nb = 2\n"]
    assert outcome.report.findings == ()
    assert (len(outcome.fixed), outcome.refused, world.asked) == (2, (), 2)
    assert outcome.changed[0][0].text == KERNELS
    assert (tmp_path / "kernels.py").read_text() == KERNELS


def test_nothing_to_fix_costs_no_analysis(tmp_path: Path) -> None:
    world = World(tmp_path, lambda name, text: [finding(message="no help"), *suppressed(text)])
    world.write(KERNELS)
    outcome = world.settle()
    assert (outcome.changed, outcome.fixed, outcome.refused, world.asked) == ((), (), (), 1)


def suppressed(text: str) -> list[Finding]:
    return [finding(*f.changes, suppressed=True) for f in idle(text)]


def test_a_finding_that_is_still_there_keeps_the_file_as_it_is(tmp_path: Path) -> None:
    stubborn = idle(KERNELS)[0]
    world = World(tmp_path, lambda name, text: [stubborn])
    world.write(KERNELS)
    outcome = world.settle()
    assert outcome.changed == ()
    assert [r.reason for r in outcome.refused] == ["after the edit, TML905 is still there: idle TML201"]
    assert outcome.report.findings == (stubborn,)


def test_the_fix_that_makes_a_new_finding_is_told_from_those_that_do_not(tmp_path: Path) -> None:
    def judge(name: str, text: str) -> list[Finding]:
        lost = "TML202" not in text
        return [*idle(text, name), *([finding(rule="TML202", place=Location(name, 2), message="new")] if lost else [])]

    world = World(tmp_path, judge)
    world.write(KERNELS)
    outcome = world.settle()
    assert [d.text for _, d in outcome.changed] == ["a = 1\nb = 2  # triton-mutlint: ignore[TML202] why\n"]
    assert [r.reason for r in outcome.refused] == ["after the edit, TML202 appears: new"]
    assert [f.message for f in outcome.report.findings] == ["idle TML202"]


def test_one_file_s_trouble_is_not_another_s(tmp_path: Path) -> None:
    def judge(name: str, text: str) -> list[Finding]:
        broken = name == "b.py" and "TML" not in text
        elsewhere = finding(rule="TML101", place=Location("c.py", 1), message="new")
        related = Finding(**{**vars(elsewhere), "related": (Related("see", Location("b.py", 1)),)})
        return [*idle(text, name), *([related] if broken else [])]

    world = World(tmp_path, judge)
    for name in ("a.py", "b.py"):
        world.write("x = 1  # triton-mutlint: ignore[TML201]\n", name)
    outcome = world.settle()
    assert [(d.display, d.text) for _, d in outcome.changed] == [("a.py", "x = 1\n")]
    assert [r.findings[0].location.file for r in outcome.refused] == ["b.py"]


def test_a_changed_verdict_speaks_against_an_edit(tmp_path: Path) -> None:
    world = World(tmp_path, lambda name, text: idle(text, name))
    world.write(KERNELS)
    asked = world.analyse

    def analyse(request: Request) -> Report:
        mutation = Mutation.WRITTEN if request.texts else Mutation.UNKNOWN
        parameter = ParameterReport("x", 0, ParameterKind.POINTER, "*fp32", False, mutation)
        world.kernels = (KernelReport("k", Location("kernels.py", 1), Status.ANALYZED, parameters=(parameter,)),)
        return asked(request)

    request = Request(("kernels.py",), tmp_path)
    outcome = settle(analyse(request), request, analyse)
    assert outcome.changed == ()
    assert {r.reason for r in outcome.refused} == {"after the edit, the kernels' verdicts differ"}


def test_a_run_that_cannot_be_made_speaks_against_an_edit(tmp_path: Path) -> None:
    world = World(tmp_path, lambda name, text: idle(text, name))
    world.write(KERNELS)

    def analyse(request: Request) -> Report:
        if request.texts:
            raise UsageError("s.yaml: broken")
        return world.analyse(request)

    request = Request(("kernels.py",), tmp_path)
    outcome = settle(analyse(request), request, analyse)
    assert outcome.changed == ()
    assert {r.reason for r in outcome.refused} == {"s.yaml: broken"}


def test_directives_of_one_comment_are_fixed_one_after_the_other(tmp_path: Path) -> None:
    world = World(tmp_path, lambda name, text: idle(text, name))
    world.write("a = 1  # triton-mutlint: ignore[TML201] # triton-mutlint: ignore[TML202]\n")
    outcome = world.settle()
    assert [d.text for _, d in outcome.changed] == ["a = 1\n"]
    assert outcome.refused == ()


@pytest.mark.parametrize("file", ["gone.py", "latin.py"])
def test_a_file_that_cannot_be_read_again_is_refused(file: str, tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"\xe9  # triton-mutlint: ignore[TML201]\n")
    change = Change(ListKind.IGNORE, "TML201", False, Location(file, 1, 4))
    report = Report(Environment(None), (), (finding(change),), 1)
    outcome = settle(report, Request((file,), tmp_path), lambda request: report)
    assert outcome.changed == ()
    assert len(outcome.refused) == 1
    assert outcome.refused[0].reason.startswith("it cannot be")


def test_kernels_that_share_a_list_must_agree(tmp_path: Path) -> None:
    place = Location("s.yaml", 4, 5)
    asked = [finding(Change(ListKind.SPEC_MUTATES, "x", add, place), parameter="x", kernel=str(add))
             for add in (True, False)]
    report = Report(Environment(None), (), tuple(asked), 1)
    outcome = settle(report, Request(("k.py",), tmp_path), lambda request: report)
    assert [r.reason for r in outcome.refused] == ["kernels that share the list disagree about `x`"]
