"""`ir`: what Triton makes of a kernel, with the lines marked that write."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.cli.shell import boundary

KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def put(ptr, value):
    tl.store(ptr, value)


@triton.jit
def mixed(x_ptr, out_ptr, UNKNOWN: tl.constexpr = False):
    value = tl.load(x_ptr)
    put(out_ptr, value)
    if UNKNOWN:
        tl.inline_asm_elementwise("unheard.of $0, $1;", "=r,l", [out_ptr], tl.int32, is_pure=False, pack=1)
"""
SPEC = """\
version: 1
kernels:
  kernels.py::mixed:
    args: {x_ptr: "*fp32", out_ptr: "*fp32", UNKNOWN: [false, true]}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernels.py").write_text(KERNELS)
    Path("triton-mutlint.yaml").write_text(SPEC)


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert boundary.run(["ir", "kernels.py::mixed", *options]) == 0
    return capsys.readouterr().out.splitlines()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert boundary.run(["ir", *arguments]) == 2
    return capsys.readouterr().err


def marked(lines: list[str]) -> list[str]:
    """The marks, each with the op of its line."""
    return [f"{line[0]} {next(word for word in line.split() if word.startswith('tt.'))}" for line in lines
            if line[:1] in ("w", "?")]


@pytest.mark.both
@pytest.mark.parametrize("stage", ["source", "ttir", "ttgir"])
def test_ops_that_write_are_marked(capsys: pytest.CaptureFixture[str], stage: str) -> None:
    assert marked(shown(capsys, "--stage", stage, "--variant", "UNKNOWN=False")) == ["w tt.store"]


def test_ops_that_cannot_be_analysed_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "--variant", "UNKNOWN=True")
    assert "UNKNOWN=True, one of 2 variants" in found[0]
    assert sorted(marked(found)) == ["? tt.elementwise_inline_asm", "w tt.store"]


def test_the_source_stands_between_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "--source")
    place = next(i for i, line in enumerate(found) if line[:1] == "w")
    assert found[place - 1] == "# kernels.py:7  tl.store(ptr, value)"
    assert not [line for line in shown(capsys) if line.startswith("# kernels.py:7")]


@pytest.mark.both
@pytest.mark.parametrize(("target", "stage", "sign"), [
    ("cuda:90", "llir", "define"), ("cuda:80", "ptx", ".visible .entry mixed"), ("hip:gfx942", "amdgcn", "s_endpgm"),
])
def test_later_stages_need_no_gpu(capsys: pytest.CaptureFixture[str], target: str, stage: str, sign: str) -> None:
    found = shown(capsys, "--target", target, "--stage", stage, "--variant", "UNKNOWN=False")
    assert f"{stage} for {target}" in found[0]
    assert any(sign in line for line in found)


def test_what_cannot_be_shown_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no analysed variant has UNKNOWN=3; there are UNKNOWN=False | True" in refused(
        capsys, "kernels.py::mixed", "--variant", "UNKNOWN=3")
    assert "this target has no stage 'ptx'" in refused(
        capsys, "kernels.py::mixed", "--stage", "ptx", "--target", "hip:gfx942")
    assert "'UNKNOWN' is not NAME=VALUE" in refused(capsys, "kernels.py::mixed", "--variant", "UNKNOWN")
    assert "no_such" in refused(capsys, "kernels.py::no_such")
    Path("kernels.py").write_text(KERNELS + "\n\n@triton.jit\ndef other(x_ptr):\n    tl.store(x_ptr, 0.0)\n")
    assert "name one kernel: kernels.py::" in refused(capsys, "kernels.py")


@pytest.mark.parametrize(("values", "said"), [
    (("UNKNOWN=1",), "no analysed variant has UNKNOWN=1; there are UNKNOWN=False | True"),
    (("NOTHING=1", "UNKNOWN=True"), "no analysed variant has NOTHING=1; there are UNKNOWN=False | True"),
    (("x_ptr=i32",), "no analysed variant has x_ptr=i32; there are x_ptr=*fp32, UNKNOWN=False | True"),
])
def test_values_that_no_variant_has(capsys: pytest.CaptureFixture[str], values: tuple[str, ...], said: str) -> None:
    given = [part for value in values for part in ("--variant", value)]
    assert refused(capsys, "kernels.py::mixed", *given).strip().endswith(said)


def test_a_kernel_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "kernels.py::mixd").strip().endswith("defines no kernel `mixd` (did you mean mixed?)")
