"""TML301 by hand-built reports: what each protection achieves, and what is said and advised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.helpers.rule_samples import TWO, subject_of
from triton_mutlint.rules import RULES
from triton_mutlint.rules.rule import KernelSubject
from triton_mutlint.types import (
    Autotune,
    AutotuneConfig,
    Finding,
    ListKind,
    ParameterKind,
    Rerun,
    Severity,
)

TEXT = """\
@triton.jit
def k(x, y, BLOCK: tl.constexpr):
    tl.store(x, tl.load(x))
"""


def tuned(rerun: Rerun, text: str = TEXT, **autotune: object) -> KernelSubject:
    """A kernel that does `rerun` to `x`."""
    subject = subject_of(text, Autotune(**{"configs": TWO, "line": 1, **autotune}))
    x, *rest = subject.report.parameters
    used = replace(x, reruns=(((), rerun),))
    return replace(subject, report=replace(subject.report, parameters=(used, *rest)))


def found(rerun: Rerun, text: str = TEXT, **autotune: object) -> list[Finding]:
    return list(RULES["TML301"].check(tuned(rerun, text, **autotune)))


def changes(finding: Finding) -> list[tuple[ListKind, str, bool]]:
    return [(c.kind, c.name, c.add) for c in finding.changes]


HOOKED = {"configs": tuple(replace(c, has_pre_hook=True) for c in TWO)}
RESTORE, RESET = ListKind.RESTORE_VALUE, ListKind.RESET_TO_ZERO


@pytest.mark.parametrize(("rerun", "lists", "errors"), [
    (Rerun.UPDATES, {}, 1),
    (Rerun.UPDATES, {"restore_value": ("x",)}, 0),
    (Rerun.UPDATES, {"reset_to_zero": ("x",)}, 1),
    (Rerun.UPDATES, {"reset_to_zero": ("x",), "restore_value": ("x",)}, 1),
    (Rerun.UPDATES, {"reset_to_zero": ("x",), **HOOKED}, 1),  # zeros come first
    (Rerun.UPDATES, {"undecided": frozenset({"restore_value"})}, 0),
    (Rerun.UPDATES, {"undecided": frozenset({"reset_to_zero"})}, 1),
    (Rerun.ACCUMULATES, {}, 1),
    (Rerun.ACCUMULATES, {"restore_value": ("x",)}, 0),
    (Rerun.ACCUMULATES, {"reset_to_zero": ("x",)}, 0),
    (Rerun.ACCUMULATES, {"reset_to_zero": ("x",), "restore_value": ("x",)}, 0),
    (Rerun.ACCUMULATES, {"reset_to_zero": ("y",)}, 1),
    (Rerun.ACCUMULATES, {"undecided": frozenset({"reset_to_zero"})}, 0),
    (Rerun.ACCUMULATES, {"has_post_hook": True, "reset_to_zero": ("x",)}, 0),
    (Rerun.SAFE, {}, 0),
    (Rerun.UPDATES, {"configs": TWO[:1]}, 0),
    (Rerun.UPDATES, {"configs": ()}, 0),
    (Rerun.UPDATES, {"configs": TWO[:1], "has_pre_hook": True, "restore_value": ("x",)}, 0),
    (Rerun.UPDATES, {"has_pre_hook": True}, 0),
    (Rerun.UPDATES, {"has_post_hook": True}, 0),
    (Rerun.UPDATES, {"configs": (TWO[0], AutotuneConfig({"BLOCK": 9}, {}, True))}, 0),
])
def test_protection(rerun: Rerun, lists: dict[str, object], errors: int) -> None:
    assert [f.severity for f in found(rerun, **lists)] == [Severity.ERROR] * errors


@pytest.mark.parametrize(("autotune", "hook", "argument"), [
    ({"has_pre_hook": True, "restore_value": ("x",)}, "pre_hook", "restore_value"),
    ({"has_pre_hook": True, "reset_to_zero": ("x",)}, "pre_hook", "reset_to_zero"),
    ({"has_post_hook": True, "restore_value": ("x",)}, "post_hook", "restore_value"),
])
def test_a_replaced_hook_is_one_error(autotune: dict[str, object], hook: str, argument: str) -> None:
    (finding,) = found(Rerun.ACCUMULATES, **autotune)
    assert finding.severity is Severity.ERROR
    assert f"the `{hook}` of" in finding.message
    assert f"carries out `{argument}`" in finding.message


PRUNED = """
@triton.autotune([], key=[], prune_configs_by={"early_config_prune": prune})
def k(x, y, BLOCK):
    tl.atomic_add(x, 1.0)

def prune(configs, named, **rest):
    return [triton.Config(c.kwargs, pre_hook=clear) for c in configs]
"""


def test_a_pruner_may_bring_hooks() -> None:
    assert found(Rerun.ACCUMULATES, PRUNED) == []
    assert len(found(Rerun.ACCUMULATES, PRUNED.replace(", pre_hook=clear", ""))) == 1


@pytest.mark.parametrize(("lists", "expected"), [
    ({"restore_value": ("xx",)}, "names `xx`, which is no parameter"),
    ({"reset_to_zero": ("BLOCK",)}, "names `BLOCK`, a constexpr: it has no zero_()"),
])
def test_wrong_names(lists: dict[str, object], expected: str) -> None:
    assert any(expected in f.message for f in found(Rerun.SAFE, **lists))


def test_wrong_name_suggests_the_nearest() -> None:
    (finding,) = found(Rerun.SAFE, restore_value=("xx",))
    assert finding.help == "did you mean `x`?"


def test_descriptors_and_tuples_get_advice_that_works() -> None:
    subject = tuned(Rerun.ACCUMULATES)
    (parameter, *rest) = subject.report.parameters
    descriptor = replace(parameter, kind=ParameterKind.DESCRIPTOR)
    element = replace(parameter, name="x.0")
    for changed, words in ((descriptor, "desc.base"), (element, "tuple")):
        report = replace(subject.report, parameters=(changed, *rest))
        (finding,) = RULES["TML301"].check(replace(subject, report=report))
        assert words in finding.help
        assert finding.changes == ()


def test_where_it_points() -> None:
    (finding,) = found(Rerun.UPDATES)
    assert finding.location.line == 1
    assert finding.parameter == "x"
    assert [r.message for r in finding.related] == ["written here by tt.store", "read here by tt.load"]


@pytest.mark.parametrize(("rerun", "lists", "advice", "edits"), [
    (Rerun.UPDATES, {}, "name `x` in `restore_value`", [(RESTORE, True)]),
    (Rerun.ACCUMULATES, {}, "name `x` in `restore_value`, or in `reset_to_zero` if callers always pass zeros",
     [(RESTORE, True)]),
    (Rerun.UPDATES, {"reset_to_zero": ("x",)}, "name `x` in `restore_value`, and not in `reset_to_zero`",
     [(RESTORE, True), (RESET, False)]),
    (Rerun.UPDATES, {"reset_to_zero": ("x",), **HOOKED}, "name `x` in `restore_value`, and not in `reset_to_zero`", []),
])
def test_advice(rerun: Rerun, lists: dict[str, object], advice: str, edits: list[tuple[ListKind, bool]]) -> None:
    (finding,) = found(rerun, **lists)
    assert finding.help == advice
    assert changes(finding) == [(kind, "x", add) for kind, add in edits]
