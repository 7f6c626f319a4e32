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


TYPED = """\
import triton
import triton.language as tl


@triton.jit
def typed(x_ptr, out_ptr, ptrs, BLOCK: tl.constexpr):
    if x_ptr.dtype.element_ty == tl.float16:
        tl.store(out_ptr + tl.arange(0, BLOCK), 1.0)
    for i in tl.static_range(len(ptrs)):
        if x_ptr.dtype.element_ty == tl.float16:
            tl.store(ptrs[i], 1.0)
    tl.store(x_ptr, 1.0)
"""


def test_help_names_what_decides_and_elements_share_a_finding(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(TYPED)
    report = run(Request(("k.py",), tmp_path))
    out, elements = (f for f in report.findings if f.rule == "TML201")
    assert (out.parameter, elements.parameter) == ("out_ptr", None)
    assert "(guessed: x_ptr as *fp32)" in out.help
    assert "(guessed: x_ptr as *fp32)" in elements.help
    assert elements.message.endswith("so it may write `ptrs.0`, `ptrs.1`, `ptrs.2`, `ptrs.3`")
    assert [r.message for r in elements.related] == ["`ptrs.0`, `ptrs.1`, `ptrs.2`, `ptrs.3` are unknown"]
