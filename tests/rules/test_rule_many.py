"""A file of 500 kernels with 300 findings: readable, in order, and the same whatever order they came in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.rule_samples import run_of, subject_of
from triton_mutlint.config.request import Config
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.rules.engine import judge
from triton_mutlint.rules.rule import RunSubject
from triton_mutlint.types import Environment, Report

KERNELS = 500
DECLARED = "# triton-mutlint: mutates=\n"
KERNEL = """\
@triton.jit
def kernel_{i}(x_ptr, out_ptr, n):
    i = tl.program_id(0)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + {i})
"""


def text() -> str:
    """Three of every five kernels write what their comment leaves out."""
    parts = [(DECLARED if i % 5 < 3 else "") + KERNEL.format(i=i) for i in range(KERNELS)]
    return "import triton\nimport triton.language as tl\n\n\n" + "\n\n".join(parts)


def run() -> RunSubject:
    whole = text()
    parts = re.split(r"\n\n(?=# triton|@triton)", whole)[1:]
    line = whole[: whole.index(parts[0])].count("\n")
    subjects = []
    for part in parts:
        # A kernel is parsed by itself and moved to its line: parsing the file 500 times takes long.
        subjects.append(subject_of("\n" * line + part))
        line += part.count("\n") + 2
    return run_of(whole, *subjects)


def reported(run: RunSubject) -> Report:
    findings = judge(run, Config())
    return Report(Environment(None), tuple(k.report for k in run.kernels), findings, files=1)


@pytest.fixture(scope="module")
def subject() -> RunSubject:
    return run()


def test_findings_are_ordered_and_each_is_there_once(subject: RunSubject) -> None:
    start = time.process_time()
    findings = reported(subject).findings
    assert time.process_time() - start < 10  # a tenth of that on a quiet machine; quadratic work takes minutes
    assert [f.kernel for f in findings] == [f"kernel_{i}" for i in range(KERNELS) if i % 5 < 3]
    assert {f.rule for f in findings} == {"TML101"}
    lines = [f.location.line for f in findings]
    assert lines == sorted(lines)
    defined = text().splitlines()
    assert all(f"def {f.kernel}(" in defined[f.location.line - 1] for f in findings)


def test_the_text_can_be_read(subject: RunSubject) -> None:
    sources = SourceLines({"kernels.py": text()}, Path("/project"))
    out = render("text", reported(subject), RenderOptions(width=100, brief=True, sources=sources))
    lines = out.splitlines()
    assert lines[-1] == "500 kernels: 500 analysed · 300 errors, 0 warnings"
    assert sum(line.startswith("error[TML101]") for line in lines) == 300
    assert max(map(len, lines)) <= 100
    assert len(lines) < 300 * 20
    concise = render("concise", reported(subject), RenderOptions()).splitlines()
    assert len(concise) == 300


@pytest.mark.slow
def test_the_real_thing(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(text())
    command = [sys.executable, "-m", "triton_mutlint", "many.py", "--format", "json", "--exit-zero"]
    document = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    assert document["summary"] == {**document["summary"], "kernels": KERNELS, "analyzed": KERNELS, "errors": 300}
    lines = [kernel["line"] for kernel in document["kernels"]]
    assert lines == sorted(lines)
