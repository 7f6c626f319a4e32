"""TML301 by hand-built kernels: what a rerun does, and what each protection achieves."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rule_samples import FILE, TWO, source_of, subject_of

from triton_mutlint.rules import RULES
from triton_mutlint.rules.access_calls import AccessCalls
from triton_mutlint.rules.rerun import Rerun, rerun_of
from triton_mutlint.types import (
    Access,
    AccessKind,
    Autotune,
    AutotuneConfig,
    Finding,
    Frame,
    Location,
    ParameterKind,
    Severity,
)

BODIES = {
    "in_place": "tl.store(x + i, tl.load(x + i) * 2)",
    "atomic": "tl.atomic_add(x + i, 1.0)",
    "sum": "c = tl.load(x + i)\n    c += 1.0\n    tl.store(x + i, c)",
    "overwrite": "tl.store(x + i, 1.0)",
    "read": "tl.store(y + i, tl.load(x + i))",
    "maximum": "tl.atomic_max(x + i, 1)",
    "maximum_used": "old = tl.atomic_max(x + i, 1)\n    tl.store(y + i, old)",
    "exchange": "tl.atomic_xchg(x + i, 1)",
    "exchange_used": "old = tl.atomic_xchg(x + i, 1)\n    tl.store(y + i, old)",
    "lock": "while tl.atomic_cas(x, 0, 1) == 1:\n        pass\n    tl.atomic_xchg(x, 0)",
    "lock_kept": "while tl.atomic_cas(x, 0, 1) == 1:\n        pass\n    tl.atomic_xchg(x, 1)",
    "lock_method": "while x.atomic_cas(0, 1) == 1:\n        pass\n    tl.atomic_xchg(x, 0)",
    "counter_reset": "if tl.atomic_add(x, 1) == 7:\n        tl.store(x, 0)",
    "write_then_read": "tl.store(x + i, 1.0)\n    tl.store(y + i, tl.load(x + i))",
    "signal": "while tl.load(x) == 0:\n        pass\n    tl.store(x + 1, 1)",
    "look_back": "tl.store(x + i, 1)\n    s = tl.load(x + i - 1)\n    while s == 0:\n"
    "        s = tl.load(x + i - 1)",
    "long_loop": "j = 0\n    while j < 4:\n        tl.store(y + j, tl.load(x + j))\n        j += 1\n"
    "    tl.store(x, 1.0)",
    "flag_then_in_place": "tl.store(x, 1.0)\n    tl.store(x + i, tl.load(x + i) * 2)",
    "write_then_read_elsewhere": "tl.store(x + i, 1.0)\n    tl.store(y + i, tl.load(x + i + 1))",
    "write_sometimes": "if y:\n        tl.store(x + i, 1.0)\n    tl.store(y + i, tl.load(x + i))",
    "loop_then_read": "for j in range(4):\n        tl.store(x + j, 1.0)\n"
    "    for j in range(4):\n        tl.store(x + j, tl.load(x + j) + 1)",
    "same_branch": "if y:\n        tl.store(x + i, 1.0)\n    if y:\n        tl.store(x + i, tl.load(x + i) * 2)",
    "other_branch": "if y:\n        tl.store(x + i, 1.0)\n    else:\n        tl.store(x + i, tl.load(x + i) * 2)",
    "store_then_add": "tl.store(x + i, 1.0)\n    if y:\n        tl.atomic_add(x + i, 1.0)",
    "read_in_same_loop": "for j in range(4):\n        c = tl.load(x + j)\n        tl.store(x + j, c * 2)",
    "reassigned": "c = tl.load(x + i)\n    c = c * 2\n    c = 1 + y\n    tl.store(x + i, c)",
    "scaled_sum": "c = tl.load(x + i)\n    c += 1.0\n    c *= 2.0\n    tl.store(x + i, c)",
    "shifted": "tl.store(x + i + 1, tl.load(x + i) + 1.0)",
    "read_then_write": "tl.store(y + i, tl.load(x + i))\n    tl.store(x + i, 1.0)",
}


def kernel(body: str) -> str:
    return f"@triton.jit\ndef k(x, y, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    {body}\n"


def found(body: str, **autotune: object) -> list[Finding]:
    declared = Autotune(**{"configs": TWO, "line": 1, **autotune})
    return list(RULES["TML301"].check(subject_of(kernel(BODIES.get(body, body)), declared)))


@pytest.mark.parametrize(("body", "expected"), [
    ("in_place", Rerun.IN_PLACE), ("atomic", Rerun.ACCUMULATED), ("sum", Rerun.ACCUMULATED),
    ("overwrite", Rerun.SAFE), ("read", Rerun.SAFE), ("maximum", Rerun.SAFE), ("maximum_used", Rerun.ACCUMULATED),
    ("exchange", Rerun.SAFE), ("exchange_used", Rerun.ACCUMULATED), ("lock", Rerun.SAFE),
    ("lock_kept", Rerun.ACCUMULATED), ("counter_reset", Rerun.RESET_BY_KERNEL), ("write_then_read", Rerun.SAFE),
    ("write_then_read_elsewhere", Rerun.READ_BACK), ("flag_then_in_place", Rerun.READ_BACK),
    ("signal", Rerun.POLLED), ("look_back", Rerun.POLLED), ("long_loop", Rerun.IN_PLACE),
    ("loop_then_read", Rerun.SAFE), ("same_branch", Rerun.SAFE), ("other_branch", Rerun.IN_PLACE),
    ("store_then_add", Rerun.SAFE), ("read_in_same_loop", Rerun.IN_PLACE), ("reassigned", Rerun.IN_PLACE),
    ("scaled_sum", Rerun.IN_PLACE), ("write_sometimes", Rerun.IN_PLACE), ("read_then_write", Rerun.IN_PLACE),
    ("shifted", Rerun.IN_PLACE),
])
def test_what_a_rerun_does(body: str, expected: Rerun) -> None:
    subject = subject_of(kernel(BODIES[body]))
    parameter = subject.parameter("x")
    assert parameter is not None
    assert rerun_of(parameter, AccessCalls(subject.kernel)) is expected


def test_without_the_source_an_atomic_counts_as_accumulation() -> None:
    subject = subject_of(kernel(BODIES["maximum"]))
    parameter = subject.parameter("x")
    assert parameter is not None
    assert rerun_of(parameter, AccessCalls(None)) is Rerun.ACCUMULATED


@pytest.mark.parametrize(("body", "lists", "errors"), [
    ("in_place", {}, 1),
    ("in_place", {"restore_value": ("x",)}, 0),
    ("in_place", {"reset_to_zero": ("x",)}, 1),
    ("in_place", {"reset_to_zero": ("x",), "restore_value": ("x",)}, 1),
    ("atomic", {}, 1),
    ("atomic", {"restore_value": ("x",)}, 0),
    ("atomic", {"reset_to_zero": ("x",)}, 0),
    ("atomic", {"reset_to_zero": ("x",), "restore_value": ("x",)}, 0),
    ("sum", {"reset_to_zero": ("x",)}, 0),
    ("atomic", {"reset_to_zero": ("y",)}, 1),
    ("signal", {}, 1),
    ("signal", {"reset_to_zero": ("x",)}, 0),
    ("overwrite", {}, 0),
    ("in_place", {"configs": TWO[:1]}, 0),
    ("in_place", {"configs": ()}, 0),
])
def test_protection(body: str, lists: dict[str, object], errors: int) -> None:
    assert [f.severity for f in found(body, **lists)] == [Severity.ERROR] * errors


@pytest.mark.parametrize("hook", [
    {"has_pre_hook": True}, {"has_post_hook": True}, {"configs": (TWO[0], AutotuneConfig({"BLOCK": 9}, {}, True))},
])
def test_a_hook_makes_it_a_note(hook: dict[str, object]) -> None:
    (finding,) = found("in_place", **hook)
    assert finding.severity is Severity.INFO


def test_wrong_list_stays_an_error_beside_a_config_hook() -> None:
    hooked = tuple(replace(c, has_pre_hook=True) for c in TWO)
    (finding,) = found("in_place", configs=hooked, reset_to_zero=("x",))
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(("autotune", "hook", "argument"), [
    ({"has_pre_hook": True, "restore_value": ("x",)}, "pre_hook", "restore_value"),
    ({"has_pre_hook": True, "reset_to_zero": ("x",)}, "pre_hook", "reset_to_zero"),
    ({"has_post_hook": True, "restore_value": ("x",)}, "post_hook", "restore_value"),
])
def test_a_replaced_hook_is_one_error(autotune: dict[str, object], hook: str, argument: str) -> None:
    (finding,) = found("atomic", **autotune)
    assert finding.severity is Severity.ERROR
    assert f"the `{hook}` of" in finding.message
    assert f"carries out `{argument}`" in finding.message


def test_a_post_hook_leaves_reset_to_zero_alone() -> None:
    assert found("atomic", has_post_hook=True, reset_to_zero=("x",)) == []


def test_hooks_of_a_single_config_replace_nothing_that_runs() -> None:
    assert found("atomic", configs=TWO[:1], has_pre_hook=True, restore_value=("x",)) == []


@pytest.mark.parametrize(("lists", "expected"), [
    ({"restore_value": ("xx",)}, "names `xx`, which is no parameter"),
    ({"reset_to_zero": ("BLOCK",)}, "names `BLOCK`, a constexpr: it has no zero_()"),
])
def test_wrong_names(lists: dict[str, object], expected: str) -> None:
    assert any(expected in f.message for f in found("overwrite", **lists))


def test_wrong_name_suggests_the_nearest() -> None:
    (finding,) = found("overwrite", restore_value=("xx",))
    assert finding.help == "did you mean `x`?"


def test_descriptors_and_tuples_get_advice_that_works() -> None:
    subject = subject_of(kernel(BODIES["atomic"]), Autotune(TWO, line=1))
    (parameter, *rest) = subject.report.parameters
    descriptor = replace(parameter, kind=ParameterKind.DESCRIPTOR)
    element = replace(parameter, name="x.0")
    for changed, words in ((descriptor, "desc.base"), (element, "tuple")):
        report = replace(subject.report, parameters=(changed, *rest))
        (finding,) = RULES["TML301"].check(replace(subject, report=report))
        assert words in finding.help
        assert "restore_value=[" not in finding.help


def test_the_argument_to_add_names_everything_that_needs_it() -> None:
    body = "tl.store(x + i, tl.load(x + i) * 2)\n    tl.atomic_add(y + i, 1.0)"
    first, second = found(body, reset_to_zero=("z",))[-2:]
    assert '`restore_value=["x", "y"]`' in first.help
    assert '`restore_value=["x", "y"]`, or `reset_to_zero=["y"]`' in second.help  # `z` is no parameter


def test_where_it_points() -> None:
    (finding,) = found("in_place")
    assert finding.location.line == 1
    assert finding.parameter == "x"
    assert [r.message for r in finding.related] == ["written here by tt.store", "read here by tt.load"]


HELPERS = """
def first(x, i):
    tl.store(x + i, 1.0)

def second(x, i, y):
    if y:
        tl.store(x + i, tl.load(x + i) * 2)
"""


@pytest.mark.parametrize(("order", "expected"), [(("first", "second"), Rerun.SAFE),
                                                 (("second", "first"), Rerun.IN_PLACE)])
def test_order_is_followed_into_helpers(order: tuple[str, str], expected: Rerun) -> None:
    text = f"def k(x, y, BLOCK):\n    i = 0\n    {order[0]}(x, i, y)\n    {order[1]}(x, i, y)\n{HELPERS}"
    subject = subject_of(text)
    parameter = subject.parameter("x")
    assert parameter is not None
    assert subject.kernel is not None
    calls = {"first": 3 + order.index("first"), "second": 3 + order.index("second")}
    places = {"first": [(AccessKind.WRITE, 7, 5)], "second": [(AccessKind.WRITE, 11, 9), (AccessKind.READ, 11, 25)]}
    accesses = tuple(
        Access(kind, f"tt.{'load' if kind is AccessKind.READ else 'store'}", Location(FILE, line, column),
               (Frame("k", FILE, calls[name]), Frame(name, FILE, line)))
        for name in order for kind, line, column in places[name])
    assert rerun_of(replace(parameter, accesses=accesses), AccessCalls(subject.kernel)) is expected


PRUNED = """
def prune(configs, named, **rest):
    return [triton.Config(c.kwargs, pre_hook=clear) for c in configs]

@triton.autotune([], key=[], prune_configs_by={"early_config_prune": prune})
def k(x, y, BLOCK):
    tl.atomic_add(x, 1.0)
"""


def test_a_pruner_may_bring_hooks() -> None:
    for text, severity in ((PRUNED, Severity.INFO), (PRUNED.replace(", pre_hook=clear", ""), Severity.ERROR)):
        subject = subject_of(text[text.index("@"):] + text[: text.index("@")], Autotune(TWO, line=1))
        (finding,) = RULES["TML301"].check(subject)
        assert finding.severity is severity


@pytest.mark.parametrize(("body", "expected"), [
    ("x.store([0, y], x.load([0, y]) * 2)", Rerun.IN_PLACE),
    ("x.store([0, y], x.load([0, y]) + 1)", Rerun.ACCUMULATED),
    ("x.store([0, 0], 1.0)\n    x.store([0, y], x.load([0, y]) * 2)", Rerun.READ_BACK),
    ("x.store([0, y], 1.0)\n    x.store([0, y], x.load([0, y]) * 2)", Rerun.SAFE),
    ("x.atomic_max([0, y], 1.0)", Rerun.SAFE),
    ("x.atomic_add([0, y], 1.0)", Rerun.ACCUMULATED),
])
def test_descriptors(body: str, expected: Rerun) -> None:
    subject = subject_of(kernel(body))
    found = {"load": (AccessKind.READ, "tt.descriptor_load"), "store": (AccessKind.WRITE, "tt.descriptor_store"),
             "atomic": (AccessKind.ATOMIC, "tt.descriptor_reduce")}
    accesses = []
    for offset, line in enumerate(kernel(body).splitlines(), 1):
        for match in re.finditer(r"x\.(load|store|atomic)", line):
            kind, op = found[match[1]]
            place = Location(FILE, offset, match.start() + 1)
            accesses.append(Access(kind, op, place, (Frame("k", FILE, offset),)))
    parameter = replace(subject.report.parameters[0], accesses=tuple(accesses))
    assert rerun_of(parameter, AccessCalls(subject.kernel)) is expected


def test_helpers_in_other_files_are_read_where_they_are_known() -> None:
    helper = source_of("def put(p):\n    tl.atomic_max(p, 1)\n", "helpers.py")
    subject = subject_of("def k(x):\n    put(x)\n")
    place = Location("helpers.py", 2, 5)
    access = Access(AccessKind.ATOMIC, "tt.atomic_rmw", place, (Frame("k", FILE, 2), Frame("put", "helpers.py", 2)))
    parameter = replace(subject.report.parameters[0], accesses=(access,))
    assert rerun_of(parameter, AccessCalls(subject.kernel)) is Rerun.ACCUMULATED
    assert rerun_of(parameter, AccessCalls(subject.kernel, (helper,))) is Rerun.SAFE
