"""TML301 by hand-built reports: what each protection achieves, and what is said and advised."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_samples import TWO, subject_of

from triton_mutlint.rules import RULES
from triton_mutlint.rules.autotune.launches import gets_zeros
from triton_mutlint.rules.subject import KernelSubject
from triton_mutlint.types import (
    Autotune,
    AutotuneConfig,
    Finding,
    Kernel,
    ListKind,
    ParameterKind,
    Rerun,
    Severity,
    VariantUse,
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
    used = replace(x, uses=(VariantUse((), True, True, rerun),))
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
    (Rerun.SIGNALS, {}, 1),
    (Rerun.SIGNALS, {"reset_to_zero": ("x",)}, 0),
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


def use(choices: str, reads: bool, writes: bool, rerun: Rerun = Rerun.SAFE) -> VariantUse:
    return VariantUse(tuple((c[0], c[1]) for c in choices.split()), reads, writes, rerun)


READ, WRITTEN = use("B1 F1", True, False), use("B2 F2", False, True)


@pytest.mark.parametrize(("tuned_over", "uses", "errors"), [
    ("B", (READ, WRITTEN), 0),  # no call has both
    ("BF", (READ, WRITTEN), 1),
    ("B", (READ, use("B2 F1", False, True)), 1),
    ("B", (READ, use("B2 F1", True, True)), 1),
    ("B", (use("B1 F1", True, True), use("B2 F1", True, True)), 0),  # each as good as the other
    ("B", (READ, use("B1 F2", True, True, Rerun.UPDATES)), 1),
])
def test_variants_meet_only_if_one_call_tunes_over_them(tuned_over: str, uses: tuple[VariantUse, ...],
                                                        errors: int) -> None:
    subject = tuned(Rerun.SAFE, configs=tuple(AutotuneConfig(dict.fromkeys(tuned_over, n)) for n in (1, 2)))
    x, *rest = subject.report.parameters
    report = replace(subject.report, parameters=(replace(x, uses=uses), *rest))
    assert len(list(RULES["TML301"].check(replace(subject, report=report)))) == errors
    report = replace(report, total_variants=9)  # what the others are like is not known
    assert len(list(RULES["TML301"].check(replace(subject, report=report)))) == max(errors, uses[0] is READ)


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


# --------------------------------------------------------------------------- launches that pass zeros


def launched(launch: str) -> str:
    return f"{TEXT}\n\ndef call(a, n):\n" + "".join(f"    {line}\n" for line in launch.splitlines())


@pytest.mark.parametrize(("launch", "expected"), [
    ("x = torch.zeros(n)\nk[1,](x, a)", True),
    ("x: Tensor = a.new_zeros(n)\nk[1,](y=a, x=x)", True),
    ("k[1,](torch.zeros_like(a), a)", True),
    ("x = torch.zeros(n)\nk[x.shape](x, a)\nreturn x.sum()", True),
    ("for b in a:\n    x = torch.zeros(n)\n    k[1,](x, b)", True),
    ("x = torch.empty(n)\nk[1,](x, a)", False),
    ("k[1,](a, a)", False),
    ("k[1,](*a)", False),
    ("x = torch.zeros(n)\nx = a\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nx += 1\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nfill(x)\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nx[0] = 1\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nx.add_(1)\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nfor b in a:\n    k[1,](x, b)", False),
    ("x = torch.zeros(n)\nk[1,](x, a)\nk[1,](x, a)", False),
    ("if n:\n    a = torch.zeros(n)\nk[1,](a, a)", False),
    ("k[1,](torch.zeros(n), a)\nk[1,](a, a)", False),
    ("pass", False),
])
def test_zeros(launch: str, expected: bool) -> None:
    kernel = subject_of(launched(launch)).kernel
    assert isinstance(kernel, Kernel)
    assert gets_zeros(kernel, "x") is expected


def test_zeros_are_set_back_to_zeros_if_they_are_added_to() -> None:
    text = launched("x = torch.zeros(n)\nk[1,](x, a)")
    (finding,) = found(Rerun.ACCUMULATES, text)
    assert finding.help == "name `x` in `reset_to_zero`: every launch in this file passes zeros"
    assert changes(finding) == [(RESET, "x", True)]
    (finding,) = found(Rerun.UPDATES, text)
    assert changes(finding) == [(RESTORE, "x", True)]
