"""`globals:` of a spec: what they give, and that a kernel which lacks one says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.source.load import load
from triton_mutlint.types import Finding, Report, SourceFile

HEAD = "import triton\nimport triton.language as tl\nfrom absent import LANES\nfrom absent.sub import WIDTH as W\n\n\n"
IMPORTED = """\
@triton.jit
def fill(out_ptr, n):
    i = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.store(out_ptr + i, W, mask=i < n)
"""
IN_HELPER = """\
@triton.jit
def offsets():
    return tl.program_id(0) * LANES + tl.arange(0, LANES)


@triton.jit
def fill(out_ptr, n):
    i = offsets()
    tl.store(out_ptr + i, W, mask=i < n)
"""
HELPER_DEFAULT = """\
@triton.jit
def scaled(i, BY: tl.constexpr = LANES):
    return i * BY


@triton.jit
def fill(out_ptr):
    tl.store(out_ptr + scaled(tl.program_id(0)), 0.0)
"""
PLAIN_DEFAULT = """\
@triton.jit
def fill(out_ptr, n, by=LANES):
    tl.store(out_ptr + tl.program_id(0) * by, 0.0)
"""
GUARDED = """\
@triton.jit
def fill(out_ptr, n, WIDE: tl.constexpr):
    if WIDE:
        tl.store(out_ptr, LANES)
    tl.store(out_ptr, 0)
"""


def lint(folder: Path, text: str, *given: str) -> Report:
    from triton_mutlint.run.run import run

    (folder / "kernels.py").write_text(HEAD + text)
    spec = folder / "spec.yaml"
    spec.write_text("version: 1\nglobals:\n" + "".join(f"  {line}\n" for line in given) if given else "version: 1\n")
    return run(Request(("kernels.py",), folder, spec=spec))


def only(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


@pytest.mark.parametrize("text", [IMPORTED, IN_HELPER], ids=["kernel", "helper"])
def test_names_that_an_import_binds(tmp_path: Path, text: str) -> None:
    for given in (["absent.LANES: 32", "absent.sub.WIDTH: 1.5"], ["LANES: 32", "W: 1.5"]):
        report = lint(tmp_path, text, *given)
        assert report.findings == ()
        assert [k.mutated for k in report.kernels] == [("out_ptr",)]


@pytest.mark.parametrize("text", [IMPORTED, IN_HELPER, HELPER_DEFAULT, PLAIN_DEFAULT],
                         ids=["kernel", "helper", "default of a helper", "default that Triton reads"])
def test_what_is_not_given_is_asked_for(tmp_path: Path, text: str) -> None:
    finding = only(lint(tmp_path, text))
    assert finding.rule == "TML901"
    assert "needs `absent.LANES`" in finding.message
    assert finding.help == "give `absent.LANES` in the spec under `globals:`"


@pytest.mark.parametrize("text", [HELPER_DEFAULT, PLAIN_DEFAULT])
def test_defaults_that_are_given(tmp_path: Path, text: str) -> None:
    assert lint(tmp_path, text, "absent.LANES: 32").findings == ()


def test_a_branch_that_needs_one(tmp_path: Path) -> None:
    report = lint(tmp_path, GUARDED)
    (kernel,) = report.kernels
    assert kernel.mutated == ("out_ptr",)
    assert any("needs `absent.LANES`" in note for note in kernel.notes)
    assert lint(tmp_path, GUARDED, "absent.LANES: 32").kernels[0].notes == ()


def test_a_module_that_is_to_be_stood_in_for(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("N = 4\nraise RuntimeError('not on this machine')\n")
    text = "import triton\nimport triton.language as tl\nimport slow\n\n\n"
    text += "@triton.jit\ndef k(x):\n    tl.store(x, 1)\n\n\n"
    text += "@triton.jit\ndef uses(x):\n    tl.store(x, slow.N)\n"
    source = SourceFile(tmp_path / "k.py", "k.py", text)
    assert [k.name for k in load(source).kernels] == ["k", "uses"]  # what is not asked for is not run
    result = load(source, stubs=("slow",))
    assert [k.name for k in result.kernels] == ["k"]
    assert "`slow.N`" in result.failures[0][1].message


def test_a_reference_is_looked_up_and_never_called(tmp_path: Path) -> None:
    made = tmp_path / "made"
    text = f"import os\n{HEAD}def make():\n    os.mkdir({str(made)!r})\n    return 4\n\n\n{IMPORTED}"
    source = SourceFile(tmp_path / "k.py", "k.py", text)
    for call in ("make()", f"os.mkdir({str(made)!r})", "[make for make in (make(),)]"):
        result = load(source, globals_={"LANES": {"ref": call}, "W": 1})
        assert [failure.message for _, failure in result.failures if "which gives nothing" in failure.message]
        assert not made.exists()
