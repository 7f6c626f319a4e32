"""Defaults of the source, and what heuristics give for arguments that are not known, are no promise of a launch."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import triton_mutlint
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport

KERNELS = FIXTURES / "guessed" / "assumed.py"
TEXT = KERNELS.read_text(encoding="utf-8")
WRITES = {m[2]: frozenset(m[1].split()) for m in re.finditer(r"# writes:(.*)\n(?:@.*\n)+def (\w+)", TEXT)}
PARAMETERS = {m[1]: m[2] for m in re.finditer(r"def (by_\w+)\((.*)\):", TEXT)}
POINTERS = {"x": "*fp32", "out": "*fp32", "aux": "*fp32"}
# What an entry of the spec says of a kernel: nothing of a launch, only that nothing else is written; a part; all types.
ENTRIES = {
    "none": None,
    "mutates": {"mutates": ["out"]},
    "target": {"target": "cuda:90"},
    "partly": {"args": {"x": "*fp32"}},
    "types": {"args": POINTERS},
}


@lru_cache
def reports(entry: str) -> dict[str, KernelReport]:
    said = ENTRIES[entry]
    request = Request((KERNELS.name,), KERNELS.parent, use_spec=False, targets=("cuda:90",))
    if said is None:
        return {k.name: k for k in run(request).kernels}
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.yaml"
        entries = {name: _with_numbers(name, said) for name in WRITES}
        spec.write_text(yaml.safe_dump({"version": 1, "kernels": entries}))
        return {k.name: k for k in run(replace(request, spec=spec, use_spec=True)).kernels}


def _with_numbers(name: str, entry: dict[str, object]) -> dict[str, object]:
    args = entry.get("args")
    if args is not POINTERS:
        return entry
    return {"args": {**POINTERS, **({"n": "i32"} if ", n," in PARAMETERS[name] else {})}}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", WRITES)
def test_no_write_is_missed(name: str, entry: str) -> None:
    kernel = reports(entry)[name]
    assert kernel.failure is None
    missed = WRITES[name] - {*kernel.mutated, *kernel.unknown}
    if entry == "types" and name.startswith("by_default"):  # the entry gives all else: a launch that takes the defaults
        assert missed <= {"aux"}
    else:
        assert not missed


@pytest.mark.parametrize("entry", ["none", "types"])
@pytest.mark.parametrize("name", WRITES)
def test_what_is_never_written_is_not_doubted(name: str, entry: str) -> None:
    kernel = reports(entry)[name]
    assert {*kernel.mutated, *kernel.unknown} <= WRITES[name]


@pytest.fixture(scope="module")
def module() -> Any:
    spec = importlib.util.spec_from_file_location("assumed", KERNELS)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_python_api_takes_no_default_for_granted_either(module: Any) -> None:
    for signature in (None, {}, {"x": "*fp32"}):
        assert triton_mutlint.analyze(module.by_default, signature, target="cuda:90").unknown == ("aux",)
    assert triton_mutlint.analyze(module.by_default, POINTERS, target="cuda:90").unknown == ()


def test_a_failed_analysis_leaves_every_parameter_unknown(module: Any) -> None:
    report = triton_mutlint.analyze(module.by_literal, {**POINTERS, "BLOCK": 100}, target="cuda:90")
    assert report.failure is not None
    assert (report.mutated, report.unknown) == ((), ("x", "out", "aux"))


def _lint(tmp_path: Path, text: str, spec: str = "", target: str = "cuda:90") -> KernelReport:
    (tmp_path / "k.py").write_text("import triton\nimport triton.language as tl\n\n\n" + text)
    if spec:
        (tmp_path / "triton-mutlint.yaml").write_text("version: 1\nkernels:\n" + spec)
    return run(Request(("k.py",), tmp_path, targets=(target,))).kernels[0]


@pytest.mark.parametrize("shapes", ['["(*fp32,)", "(*fp32, *fp32)"]', '[null, "(*fp32, *fp32)"]'])
def test_a_tuple_of_several_shapes_is_asked_of_in_each(shapes: str, tmp_path: Path) -> None:
    kernel = _lint(tmp_path, """@triton.jit
def k(x, ptrs, LEVEL: tl.constexpr):
    tl.store(x, 1.0)
    if LEVEL * LEVEL == 1522756:
        tl.store(ptrs[len(ptrs) - 1], 1.0)
""", f'  k: {{args: {{x: "*fp32", ptrs: {shapes}}}}}\n')
    assert kernel.failure is None
    assert "ptrs.1" in kernel.unknown


@pytest.mark.parametrize(("target", "mutated"), [("cuda:90", ("out",)), ("cuda:80", ("out", "aux"))])
@pytest.mark.parametrize("by_spec", [False, True])
def test_constants_that_ask_for_the_device_are_told_the_target(
    target: str, mutated: tuple[str, ...], by_spec: bool, tmp_path: Path
) -> None:
    text = """IS_NEW = tl.constexpr(triton.runtime.driver.active.get_current_target().arch >= 90)


@triton.jit
def k(out, aux):
    tl.store(out, 1.0)
    if not IS_NEW:
        tl.store(aux, 1.0)
"""
    if not by_spec:
        assert _lint(tmp_path, text, target=target).mutated == mutated
        return
    (tmp_path / "k.py").write_text("import triton\nimport triton.language as tl\n\n\n" + text)
    (tmp_path / "triton-mutlint.yaml").write_text(f'version: 1\nkernels:\n  k: {{target: "{target}"}}\n')
    assert run(Request(("k.py",), tmp_path)).kernels[0].mutated == mutated
