"""Which verdict an op gets where one `def` makes several kernels."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import OpReport

FACTORY = """
import triton
import triton.language as tl

def make(aux_on: tl.constexpr):
    @triton.jit
    def fused(x, out, aux):
        tl.store(out, tl.load(x))
        if aux_on:
            tl.store(aux, 1)
    return fused

"""
TWO = "with_aux = make(tl.constexpr(True))\nwithout_aux = make(tl.constexpr(False))\n"
OP = """
import torch
import kernels

@torch.library.custom_op("a::f", mutates_args=("out",))
def f(x: torch.Tensor, out: torch.Tensor, aux: torch.Tensor, on: int) -> None:
    {body}
"""
Analyze = Callable[..., OpReport]


@pytest.fixture
def analyze(tmp_path: Path) -> Analyze:
    """The verdict on the op whose body is given; `kernels` is the text of the kernels' file."""

    def _analyze(kernels: str, body: str, *, linted: bool = True, true_import: bool = False) -> OpReport:
        name = f"kernels_{abs(hash((str(tmp_path), kernels, linted)))}"  # a module is imported once in a process
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(kernels))
        code = OP.format(body=body).replace("import kernels", f"import {name} as kernels")
        (tmp_path / "op.py").write_text(code)
        files = ("op.py", f"{name}.py") if linted else ("op.py",)
        (op,) = run(Request(files, tmp_path, use_spec=False, true_import=true_import)).ops
        return op

    return _analyze


def launch(kernel: str) -> str:
    return f"{kernel}[(1,)](x, out, aux)"


@pytest.mark.parametrize("linted", [True, False])
@pytest.mark.parametrize("true_import", [True, False])
@pytest.mark.parametrize(("name", "mutated"), [("with_aux", ("out", "aux")), ("without_aux", ("out",))])
def test_the_product_that_is_launched(
    analyze: Analyze, name: str, mutated: tuple[str, ...], true_import: bool, linted: bool
) -> None:
    op = analyze(FACTORY + TWO, launch(f"kernels.{name}"), linted=linted, true_import=true_import)
    assert (op.mutated, op.unknown, op.complete, op.kernels) == (mutated, (), True, (name,))


@pytest.mark.parametrize("linted", [True, False])
@pytest.mark.parametrize("true_import", [True, False])
@pytest.mark.parametrize(("name", "mutated"), [("forth", ("out", "aux")), ("back", ("x",)), ("again", ("x",))])
def test_one_of_several_that_a_call_gives(
    analyze: Analyze, name: str, mutated: tuple[str, ...], true_import: bool, linted: bool
) -> None:
    text = """
    import triton
    import triton.language as tl

    def make(flag):
        AUX = tl.constexpr(flag)
        @triton.jit
        def fwd(x, out, aux):
            tl.store(out, tl.load(x))
            if AUX:
                tl.store(aux, 1)
        @triton.jit
        def bwd(x, out, aux):
            tl.store(out if AUX else x, 1)
        return fwd, bwd

    forth, forth_back = make(True)
    back_forth, back = make(False)
    only, again = make(False)
    """
    op = analyze(text, launch(f"kernels.{name}"), linted=linted, true_import=true_import)
    assert (op.mutated, op.unknown, op.complete) == (mutated, (), True)


@pytest.mark.parametrize("true_import", [True, False])
def test_either_product(analyze: Analyze, true_import: bool) -> None:
    body = launch("(kernels.with_aux if on else kernels.without_aux)")
    op = analyze(FACTORY + TWO, body, true_import=true_import)
    assert op.mutated == ("out", "aux")
    assert op.kernels == ("with_aux", "without_aux")


@pytest.mark.parametrize("true_import", [True, False])
@pytest.mark.parametrize("kernel", ["kernels.make(True)", "kernels.TABLE[True]", "kernels.k", "kernels.old"])
def test_a_product_that_cannot_be_told_is_none_of_the_others(
    analyze: Analyze, kernel: str, true_import: bool
) -> None:
    text = FACTORY + (
        "without_aux = make(tl.constexpr(False))\nTABLE = {f: make(tl.constexpr(f)) for f in (True, False)}\n"
        "k = make(tl.constexpr(True))\nold = k\nk = make(tl.constexpr(False))\n"
    )
    op = analyze(text, launch(kernel), true_import=true_import)
    assert "aux" in {*op.mutated, *op.unknown}


def test_the_default_of_a_factory_is_not_what_others_get(analyze: Analyze) -> None:
    text = FACTORY.replace("aux_on: tl.constexpr", "aux_on=tl.constexpr(False)")
    op = analyze(text, launch("kernels.make(tl.constexpr(True))"))
    assert "aux" in {*op.mutated, *op.unknown}


def test_a_kernel_of_each_round_of_a_loop(analyze: Analyze) -> None:
    text = """
    import triton
    import triton.language as tl

    def run(x, out, aux):
        for flag in (True, False):
            AUX = tl.constexpr(flag)
            @triton.jit
            def fused(x, out, aux):
                tl.store(out, tl.load(x))
                if AUX:
                    tl.store(aux, 1)
            fused[(1,)](x, out, aux)
    """
    op = analyze(text, "kernels.run(x, out, aux)")
    assert "aux" in {*op.mutated, *op.unknown}


def test_one_product_bare_and_another_wrapped(analyze: Analyze) -> None:
    body = launch("(kernels.with_aux if on else torch.library.wrap_triton(kernels.without_aux))")
    assert analyze(FACTORY + TWO, body, true_import=True).mutated == ("out", "aux")


def test_products_that_are_alike_need_not_be_told_apart(analyze: Analyze) -> None:
    text = """
    import triton
    import triton.language as tl

    def make(name, warps=4):
        ROWS = tl.constexpr(4)
        @triton.jit
        def fused(x, out, aux):
            tl.store(out + ROWS, tl.load(x))
        return fused

    a = make("a")
    """
    op = analyze(text, launch("kernels.make('b', 8)"))
    assert (op.mutated, op.unknown, op.complete) == (("out",), (), True)


@pytest.mark.parametrize("linted", [True, False])
@pytest.mark.parametrize("true_import", [True, False])
@pytest.mark.parametrize("name", ["rawk", "again"])
def test_kernels_made_by_assignment(analyze: Analyze, name: str, true_import: bool, linted: bool) -> None:
    text = """
    import triton
    import triton.language as tl

    def raw(x, out, aux):
        tl.store(x, tl.load(out))

    rawk = triton.jit(raw)
    again = triton.jit(raw)
    """
    op = analyze(text, launch(f"kernels.{name}"), linted=linted, true_import=true_import)
    assert (op.mutated, op.unknown, op.complete) == (("x",), (), True)
