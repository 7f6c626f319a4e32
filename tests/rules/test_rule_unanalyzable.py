"""What TML201 advises: another op, or the arguments that decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

GUESSED = """\
import triton
import triton.language as tl


{declared}@triton.jit
def pick(x_ptr, y_ptr, WHICH: tl.constexpr):
    tl.store((x_ptr, y_ptr)[WHICH], 1)
"""


@pytest.mark.parametrize(("declared", "more"), [
    ("", ""), ("# triton-mutlint: mutates=\n", ", or if it writes `{}`, add that to `mutates`; then suppress this"),
])
def test_guessed_arguments_are_to_be_given(declared: str, more: str, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(GUESSED.format(declared=declared))
    report = run(Request(("k.py",), tmp_path))
    findings = [f for f in report.findings if f.rule == "TML201"]
    assert findings
    for finding in findings:
        assert finding.message.startswith("store in `pick`: no analysed variant reaches this write, and guessed ")
        assert finding.help == ("give the arguments that decide it in the spec (guessed: WHICH); "
                                "a list of values gives a variant each" + more.format(finding.parameter))
    spec = "version: 1\nkernels:\n  pick: {args: {WHICH: [0, 1]}}\n"
    (tmp_path / "triton-mutlint.yaml").write_text(spec)
    assert not [f for f in run(Request(("k.py",), tmp_path)).findings if f.rule == "TML201"]
