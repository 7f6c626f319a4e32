"""What the analysis says of a second run: settled, apart, or neither (analysis/reruns.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from triton_mutlint.rules.access_calls import AccessCalls
from triton_mutlint.rules.rerun import Rerun, rerun_of
from triton_mutlint.run.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import ParameterReport

HEAD = """\
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": b}) for b in (16, 32)], key=[])
@triton.jit
def k(x, y, m, n, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
"""
SPEC = """\
kernels:
  k:
    args: {x: "*fp32", y: "*fp32", m: "*i32", n: i32, FLAG: [true, false]}
"""


def x_of(tmp_path: Path, body: str) -> ParameterReport:
    """The report of `x` when a tuned kernel has this body."""
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    (tmp_path / "k.py").write_text(text)
    (tmp_path / "triton-mutlint.yaml").write_text(f"version: 1\n{SPEC}")
    (kernel,) = run(Request(("k.py",), tmp_path, targets=("cuda:90",))).kernels
    assert kernel.failure is None, kernel.failure
    assert (kernel.analyzed_variants, kernel.total_variants) == (4, 4)
    return next(p for p in kernel.parameters if p.name == "x")


SETTLED = {
    "chosen from elsewhere": "c = tl.load(m + i) != 0\ntl.store(x + i, tl.where(c, 1.0, tl.load(x + i)))",
    "the other way": "c = tl.load(m + i)\ntl.store(x + i, tl.where(c > 3, tl.load(x + i), c * 2.0))",
    "clamped": "tl.store(x + i, tl.clamp(tl.load(x + i), -1.0, 1.0))",
    "limited twice": "v = tl.maximum(tl.load(x + i), 0.0)\ntl.store(x + i, tl.minimum(v, tl.load(y + i)))",
    "stored, then read back": "tl.store(x + i, tl.load(y + i))\nv = tl.load(x + i)\n"
                              "tl.store(x + i, tl.where(tl.load(m + i) > 0, v, 0.0))",
    "as it was": "tl.store(x + i, tl.load(x + i))",
    "in a loop": "for j in range(n):\n    p = x + j * n + i\n    tl.store(p, tl.maximum(tl.load(p), 0.0))",
    "cleared if set": "if tl.load(x) != 0.0:\n    tl.store(x + i, 0.0)",
    "cleared under a mask": "v = tl.load(x + i)\ntl.store(x + i + 1, 0.0, mask=(v > 0.0) & (i < n))",
    "set unless set": "if tl.load(x) != 1.0:\n    tl.store(x + i, 1.0)",
    "the other value": "if tl.load(x) == 5.0:\n    tl.store(x + i, 1.0)",
    "cleared by one of two": "v, w = tl.load(x + i), tl.load(x + i + 1)\n"
                             "tl.store(x + i, 0.0, mask=(v != 0.0) | (w != 0.0))",
}
APART = {
    "the next portion": "tl.store(x + (n + 1) * 64 * n + i, tl.load(x + n * 64 * n + i) + 1)",
    "the second half": "tl.store(x + n + i, tl.load(x + i, mask=i < n) * 2)",
    "beyond a mask": "tl.store(x + n + i, tl.load(x + 2 * i, mask=2 * i < n) * 2)",
}
NEITHER = {
    "scaled": "tl.store(x + i, tl.load(x + i) * 2)",
    "added": "tl.store(x + i, tl.load(x + i) + 1)",
    "elsewhere": "tl.store(x + i + 1, tl.load(x + i))",
    "chosen by itself": "v = tl.load(x + i)\ntl.store(x + i, tl.where(tl.load(x + i + 1) > 0, 1.0, v))",
    "limited by itself": "tl.store(x + i, tl.maximum(tl.load(x + i), tl.load(x + i + 1)))",
    "kept, but seen by others": "v = tl.load(x + i)\ntl.store(y + i, v)\ntl.store(x + i, tl.maximum(v, 0.0))",
    "kept, but decides for others": "v = tl.load(x)\ntl.store(x, tl.maximum(v, 0.0))\n"
                                    "if v > 0:\n    tl.store(y + i, 1.0)",
    "counted by others": "v = tl.load(x)\ntl.store(x, 0.0)\nj = 0.0\nwhile j < v:\n    j += 1\ntl.store(y, j)",
    "cleared if clear": "if tl.load(x) == 0.0:\n    tl.store(x + i, 0.0)",
    "set if clear": "if tl.load(x + 1) == 0.0:\n    tl.store(x, 0.0)",
    "cleared unless": "if tl.load(x) != 0.0:\n    n += 1\nelse:\n    tl.store(x + i, 0.0)",
    "cleared by not": "c = tl.load(x + i) != 0.0\ntl.store(x + i + 1, 0.0, mask=~c)",
    "two constants": "if tl.load(x) != 0.0:\n    tl.store(x + i, 0.0)\n    tl.store(x + i + 1, 1.0)",
    "cleared, and others too": "if tl.load(x) != 0.0:\n    tl.store(x + i, 0.0)\n    tl.store(y, 1.0)",
    "where it points": "j = tl.load(x).to(tl.int32)\ntl.store(x + j, 0.0)",
    "early return": "if tl.load(x) == 0.0:\n    return\ntl.store(x, 0.0)\ntl.store(y, 1.0)",
    "waits": "while tl.load(x + 1) == 0.0:\n    pass\ntl.store(x, 1.0)",
    "added up": "v = 0.0\nfor j in range(n):\n    v += tl.load(x + j)\ntl.store(x, v)",
    "a stride away": "r = tl.program_id(1)\ntl.store(x + (r + 1) * n + i, tl.load(x + r * n + i))",
    "before the mask ends": "tl.store(x + n - i, tl.load(x + i, mask=i < n) * 2)",
    "unmasked": "tl.store(x + 64 + i, tl.load(x + i) * 2)",
}


def facts(parameter: ParameterReport) -> tuple[set[bool], set[bool]]:
    uses = parameter.uses
    assert len(uses) == 4
    return {u.settled for u in uses}, {u.apart for u in uses}


@pytest.mark.parametrize("case", SETTLED)
def test_settled(tmp_path: Path, case: str) -> None:
    parameter = x_of(tmp_path, SETTLED[case])
    assert facts(parameter)[0] == {True}
    assert rerun_of(parameter, AccessCalls(None), ["BLOCK"]) is Rerun.SAFE


@pytest.mark.parametrize("case", APART)
def test_apart(tmp_path: Path, case: str) -> None:
    parameter = x_of(tmp_path, APART[case])
    assert facts(parameter) == ({False}, {True})
    assert rerun_of(parameter, AccessCalls(None), ["BLOCK"]) is Rerun.APART


@pytest.mark.parametrize("case", NEITHER)
def test_neither(tmp_path: Path, case: str) -> None:
    assert facts(x_of(tmp_path, NEITHER[case])) == ({False}, {False})


BY_FLAG = "if FLAG:\n    tl.store(x + i, 1.0)\nelse:\n    tl.store(y + i, tl.load(x + i))"


@pytest.mark.parametrize(("tuned", "expected"), [
    (["BLOCK"], Rerun.SAFE), (["BLOCK", "FLAG"], Rerun.IN_PLACE), (None, Rerun.IN_PLACE),
])
def test_variants_meet_only_if_one_call_tunes_over_them(tmp_path: Path, tuned: list[str] | None,
                                                        expected: Rerun) -> None:
    parameter = x_of(tmp_path, BY_FLAG)
    assert [{a.kind.value for a in u.accesses} for u in parameter.uses].count({"read"}) == 2
    assert rerun_of(parameter, AccessCalls(None), tuned) is expected


def test_a_kernel_that_is_not_tuned_has_no_uses(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x):\n    tl.store(x, tl.load(x) * 2)\n")
    (kernel,) = run(Request(("k.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert kernel.parameters[0].uses == ()


def test_a_helper_is_read_in_a_file_that_is_not_linted(tmp_path: Path) -> None:
    (tmp_path / "h.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef through(s, i):\n"
        "    tl.store(s + i, 1.0)\n    tl.debug_barrier()\n    return tl.load(s + (i ^ 1))\n")
    (tmp_path / "k.py").write_text(f"from h import through\n{HEAD}    tl.store(y + i, through(x, i))\n")
    for arguments in (("k.py",), ("k.py", "h.py")):
        (finding,) = run(Request(arguments, tmp_path, use_spec=False, targets=("cuda:90",))).findings
        assert (finding.rule, finding.severity.value) == ("TML301", "info")
        assert "writes `x` and then reads it at other addresses" in finding.message
