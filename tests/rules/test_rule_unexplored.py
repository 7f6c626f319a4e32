"""When a stale declaration may be right under values that were not analysed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_samples import subject_of

from triton_mutlint.rules.subject import KernelSubject
from triton_mutlint.rules.tml102_stale_mutation import check
from triton_mutlint.run.unexplored import may_branch_otherwise as _may_branch
from triton_mutlint.types import Mutation, ParameterKind


def may_branch_otherwise(made: KernelSubject) -> bool:
    return _may_branch(made.report, made.kernel.node if made.kernel else None)


HEAD = "# triton-mutlint: mutates=x_ptr\n@triton.jit\ndef k(x_ptr, n, MODE: tl.constexpr):\n"


def subject(body: str, values: str = "'a'", inferred: bool = True, analyzed: int = 1, total: int = 1) -> KernelSubject:
    made = subject_of(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    parameters = tuple(
        replace(p, type=values, inferred=inferred) if p.kind is ParameterKind.CONSTEXPR
        else replace(p, mutation=Mutation.UNWRITTEN) for p in made.report.parameters
    )
    report = replace(made.report, parameters=parameters, analyzed_variants=analyzed, total_variants=total)
    return replace(made, report=report)


@pytest.mark.parametrize("body", [
    "if MODE == 'b':\n    tl.store(x_ptr, 1)",
    "y = 1 if MODE else 2",
    "special = MODE == 'b'\nif special:\n    tl.store(x_ptr, 1)",
    "special: tl.constexpr = not MODE\nother = special and n\nif other:\n    tl.store(x_ptr, 1)",
    "while MODE:\n    pass",
    "y = n and MODE",
    "tl.store(x_ptr, 1, mask=MODE == 'b')",
    "helper(x_ptr, MODE)",
    "lib.helper(x_ptr, mode=MODE)",
    "tl.store((x_ptr, n)[MODE], 1)",
    "match MODE:\n    case 'b':\n        tl.store(x_ptr, 1)",
])
def test_a_branch_on_a_guess_may_go_the_other_way(body: str) -> None:
    assert may_branch_otherwise(subject(body))
    [finding] = check(subject(body))
    assert finding.changes == ()
    assert "`--fix` leaves it, as guessed compile-time values decide" in finding.help
    assert not may_branch_otherwise(subject(body, inferred=False))
    assert not may_branch_otherwise(subject(body, values="False | True"))


@pytest.mark.parametrize("body", [
    "i = tl.arange(0, MODE)\ny = tl.load(x_ptr + i, mask=i < n)",
    "y = tl.load(x_ptr)\nz = y.to(MODE)",
    "for i in range(0, n, MODE):\n    pass",
    "if n:\n    pass",
])
def test_other_uses_decide_nothing(body: str) -> None:
    assert not may_branch_otherwise(subject(body))
    [finding] = check(subject(body))
    assert [(c.name, c.add) for c in finding.changes] == [("x_ptr", False)]


def test_variants_that_were_left_out_may_write() -> None:
    assert may_branch_otherwise(subject("pass", analyzed=1, total=2))
    assert may_branch_otherwise(replace(subject("pass"), kernel=None))
