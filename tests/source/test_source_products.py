"""Kernels that a function of the file makes, each time it is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.types import FileResult, KernelReport, Report

Load = Callable[..., FileResult]
MAKE = """
def make(act, aux_on: tl.constexpr):
    @triton.jit
    def fused(x, out, aux):
        v = tl.load(x)
        tl.store(out, act(v))
        if aux_on:
            tl.store(aux, v)
    return fused
"""
HELPERS = """
@triton.jit
def relu(v):
    return tl.maximum(v, 0)
@triton.jit
def neg(v):
    return -v
"""
HEADER = "import triton\nimport triton.language as tl\n"


def lint(folder: Path, text: str, name: str = "kernels.py", spec: str = "", **options: object) -> Report:
    from triton_mutlint.run.run import run

    (folder / "kernels.py").write_text(HEADER + text)
    if spec:
        (folder / "triton-mutlint.yaml").write_text(spec)
    return run(Request((name,), folder, use_spec=bool(spec), **options))  # type: ignore[arg-type]


def writes(kernels: tuple[KernelReport, ...]) -> dict[str, tuple[str, ...]]:
    return {k.name: k.mutated for k in kernels}


BOUND = HELPERS + MAKE + "k_relu = make(relu, tl.constexpr(False))\nk_neg = make(neg, aux_on=tl.constexpr(True))\n"


@pytest.mark.parametrize("true_import", [False, True])
def test_each_product_is_a_kernel_by_its_own_name(tmp_path: Path, true_import: bool) -> None:
    (tmp_path / "products_that_are_bound.py").write_text(HEADER + BOUND)
    report = lint(tmp_path, "", "products_that_are_bound.py", true_import=true_import)
    assert writes(report.kernels) == {"k_neg": ("out", "aux"), "k_relu": ("out",)}
    assert {k.unknown for k in report.kernels} == {()}
    assert {k.location.line for k in report.kernels} == {13}
    assert not report.findings


@pytest.mark.parametrize(("asked", "names"), [
    ("k_neg", ["k_neg"]), ("make.fused", ["k_neg", "k_relu"]), ("fused", ["k_neg", "k_relu"]),
])
def test_products_are_asked_for_by_name(tmp_path: Path, asked: str, names: list[str]) -> None:
    report = lint(tmp_path, BOUND, f"kernels.py::{asked}")
    assert [k.name for k in report.kernels] == names
    assert not report.findings


NO, YES = "tl.constexpr(False)", "tl.constexpr(True)"


@pytest.mark.parametrize(("text", "names"), [
    (f"T = {{'a': make(relu, {NO}), 'b': make(neg, {YES})}}", {"T.a": ("out",), "T.b": ("out", "aux")}),
    (f"T: dict[str, object] = {{'a': make(relu, {NO})}}", {"T.a": ("out",)}),
    (f"T = {{(16, f): make(f, {NO}) for f in (relu, neg)}}", {"T.0": ("out",), "T.1": ("out",)}),
    ("T = [make(relu, tl.constexpr(b)) for b in (False, True)]", {"T.0": ("out",), "T.1": ("out", "aux")}),
    (f"T = (make(relu, {NO}), [make(neg, {YES})])", {"T.0": ("out",), "T.1.0": ("out", "aux")}),
    (f"T = {{}}\nT['a'] = make(relu, {NO})\nfor f in (neg,):\n    T[0] = make(f, {YES})",
     {"T.a": ("out",), "T.0": ("out", "aux")}),
    (f"T = {{'x y': make(relu, {NO}), 'a': make(neg, {YES})}}", {"T.0": ("out",), "T.1": ("out", "aux")}),
    (f"T = {{'0': make(relu, {NO}), 0: make(neg, {YES})}}", {"T.0": ("out",), "T.1": ("out", "aux")}),
    (f"T = {{**dict(a=make(relu, {NO})), **{{'b': make(neg, {YES})}}}}", {"T.a": ("out",), "T.b": ("out", "aux")}),
    (f"T = {{}}\nT['a'], T['b'] = make(relu, {NO}), make(neg, {YES})", {"T.a": ("out",), "T.b": ("out", "aux")}),
    (f"class C:\n    k = make(relu, {NO})\n    T = [make(neg, {YES})]", {"C.k": ("out",), "C.T.0": ("out", "aux")}),
])
def test_products_in_tables_and_classes(tmp_path: Path, text: str, names: dict[str, tuple[str, ...]]) -> None:
    launch = "\ndef run(x):\n    T['a'][(1,)](x, x, x)\n"
    report = lint(tmp_path, HELPERS + MAKE + text + launch)
    assert writes(report.kernels) == names
    assert report.helpers == 2
    assert not report.findings


def test_what_a_spec_gives_takes_the_place_of_an_argument(tmp_path: Path) -> None:
    spec = "version: 1\nglobals: {aux_on: true, act: {ref: neg}}\n"
    report = lint(tmp_path, HELPERS + MAKE + "k = make(None, False)\n", spec=spec)
    assert writes(report.kernels) == {"k": ("out", "aux")}


def test_verdicts_of_products_are_kept_apart(tmp_path: Path) -> None:
    first = lint(tmp_path, BOUND, cache_dir=tmp_path / "cache")
    edited = lint(tmp_path, BOUND + "\n@triton.jit\ndef other(x):\n    tl.store(x, 1)\n", cache_dir=tmp_path / "cache")
    assert writes(first.kernels) == {"k_neg": ("out", "aux"), "k_relu": ("out",)}
    assert writes(edited.kernels) == {**writes(first.kernels), "other": ("x",)}


def test_a_factory_that_makes_more_is_not_passed_over(load_text: Load) -> None:
    made = "k = make(relu, tl.constexpr(False))\nTABLE = []\nTABLE.append(make(neg, True))\n"
    result = load_text(HELPERS + MAKE + made)
    assert [k.name for k in result.kernels] == ["k"]
    assert [name for name, _ in result.failures] == ["fused"]


def test_a_name_that_is_bound_twice_is_the_last(load_text: Load) -> None:
    result = load_text(HELPERS + MAKE + "k = make(relu, tl.constexpr(False))\nk = make(neg, tl.constexpr(True))\n")
    (kernel,) = result.kernels
    assert (kernel.name, kernel.namespace["aux_on"].value, not result.failures) == ("k", True, True)


def test_tuned_products(load_text: Load) -> None:
    result = load_text("""
        def make(sizes):
            @triton.autotune([triton.Config({"B": b}) for b in sizes], key=[], restore_value=["x"])
            @triton.jit
            def scale(x, B: tl.constexpr):
                tl.store(x, tl.load(x) * B)
            return scale
        small = make([1, 2])
        large = make([64])
    """)
    tuned = {k.name: k.autotune for k in result.kernels}
    assert {n: [dict(c.kwargs) for c in t.configs] for n, t in tuned.items() if t} == {
        "small": [{"B": 1}, {"B": 2}], "large": [{"B": 64}]}
    assert {(t.line, t.restore_value) for t in tuned.values() if t} == {(5, ("x",))}


@pytest.mark.parametrize("result", ["triton.jit(plain)", "triton.jit(plain) if flag else None"])
def test_a_factory_that_jits_a_plain_function(load_text: Load, result: str) -> None:
    loaded = load_text(f"""
        def make(flag):
            def plain(x):
                tl.store(x, 1)
            return {result}
        k = make(True)
    """)
    assert [(k.name, k.location.line) for k in loaded.kernels] == [("k", 5)]


def test_a_helper_that_is_made(load_text: Load) -> None:
    result = load_text("""
        def make(by: tl.constexpr):
            @triton.jit
            def scale(v):
                return v * by
            return scale
        twice = make(tl.constexpr(2))
        @triton.jit
        def kernel(x):
            tl.store(x, twice(tl.load(x)))
    """)
    assert ([k.name for k in result.kernels], [h.name for h in result.helpers]) == (["kernel"], ["twice"])
    assert not result.failures


def test_what_another_library_compiles_is_no_kernel(load_text: Load) -> None:
    result = load_text("""
        import jax
        RAN = []
        def make(n):
            RAN.append(n)
            @jax.jit
            def step(x):
                return x
            return step
        step = make(4)
        @triton.jit
        def kernel(x):
            tl.store(x, 1)
    """)
    (kernel,) = result.kernels
    assert (kernel.name, kernel.namespace["RAN"]) == ("kernel", [4])


def test_a_kernel_in_host_code(load_text: Load) -> None:
    result = load_text("""
        RAN = []
        def run(n):
            RAN.append(n)
            @triton.jit
            def inner(x):
                tl.store(x, 1)
            inner[(n,)](RAN)
            return RAN
        out = run(4)
    """)
    (kernel,) = result.kernels
    assert kernel.name == "inner"


@pytest.mark.parametrize("given", ["{ref: relu}", "{ref: nothing}"])
def test_a_jit_function_given_by_the_spec(tmp_path: Path, given: str) -> None:
    text = HELPERS + MAKE + "TABLE = {0: make(relu, True)}\n"
    spec = f"version: 1\nglobals:\n  act: {given}\n  aux_on: true\n"
    report = lint(tmp_path, text, spec=spec)
    (kernel,) = report.kernels
    if given == "{ref: relu}":
        assert kernel.mutated == ("out", "aux")
    else:
        assert kernel.failure is not None
        assert "act" in kernel.failure.message


@pytest.mark.parametrize("helpers", ["", HELPERS])
def test_an_import_that_shows_no_product_says_what_would(tmp_path: Path, helpers: str) -> None:
    name = f"table_of_products_{len(helpers)}.py"
    (tmp_path / name).write_text(f"{HEADER}{helpers}{MAKE}TABLE = []\nTABLE.append(make(None, True))\n")
    report = lint(tmp_path, "", name, true_import=True)
    (finding,) = report.findings
    assert "`kernel = make(…)`" in finding.help


def test_a_product_that_fails_is_reported_at_its_def(tmp_path: Path) -> None:
    text = HELPERS + MAKE.replace("act(v)", "act(v) + absent") + "k = make(relu, tl.constexpr(False))\n"
    (kernel,) = lint(tmp_path, text).kernels
    assert (kernel.name, kernel.location.line) == ("k", 13)
