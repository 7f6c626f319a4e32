"""docs/examples shows what torch.compile loses; what triton-mutlint says of the same kernels stands beside it."""

from __future__ import annotations

import pytest

from tests.helpers.places import ROOT
from triton_mutlint.config.request import Request
from triton_mutlint.types import Status

pytestmark = pytest.mark.both

EXAMPLES = ROOT / "docs" / "examples"
WRITTEN = {
    "accumulate": ("out_ptr",),
    "ping_pong": ("ping_ptr", "pong_ptr"),
    "store_last": ("first_ptr", "other_ptr"),
    "moments_kernel": ("sums_ptr", "squares_ptr"),
}


def test_the_verdicts_on_the_examples_are_right() -> None:
    from triton_mutlint.run.run import run

    report = run(Request(("torch_compile_miss.py",), EXAMPLES, use_spec=False))
    assert {kernel.name: kernel.mutated for kernel in report.kernels} == WRITTEN
    assert all(kernel.status is Status.ANALYZED and not kernel.unknown for kernel in report.kernels)
    [finding] = report.findings
    assert (finding.rule, finding.location.line) == ("TML103", 79)
    assert "`squares`" in finding.message
