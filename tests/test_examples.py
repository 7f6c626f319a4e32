"""docs/examples shows where torch.compile is wrong about a kernel; what triton-mutlint says of it stands beside it."""

from __future__ import annotations

from importlib.metadata import version

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


@pytest.mark.torch
def test_torch_takes_more_for_written_than_is() -> None:
    from triton_mutlint.run.run import run

    report = run(Request(("torch_compile_apart.py",), EXAMPLES, use_spec=False, targets=("cuda:90",),
                         torch=version("torch")))
    assert {kernel.name: (kernel.mutated, kernel.torch and kernel.torch.pessimistic) for kernel in report.kernels} == {
        "plain": (("out_ptr",), ()),
        "through_helper": (("out_ptr",), ("x_ptr",)),
        "with_asm": (("out_ptr",), ("x_ptr",)),
        "scatter_by_descriptor": (("out_ptr",), ("x_ptr",)),
    }
