"""Which variants need not be lowered, and that a verdict does not change with that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

from tests.helpers import random_flags
from tests.helpers.in_process import run_here
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.kernel_source.footprint import footprints
from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.run import plan as planning
from triton_mutlint.types import Footprint, Kernel, KernelReport, Mutation, Site, Status, Variant

HEAD = """import triton
import triton.language as tl


@triton.jit
def put(p, v, F: tl.constexpr):
    if F:
        tl.store(p, v)


@triton.jit
def either(p, q, F: tl.constexpr):
    return p if F else q


@triton.jit
def k(a, b, c, n, F: tl.constexpr, G: tl.constexpr, S: tl.constexpr):
"""
ARGS = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "F": True, "G": True, "S": 16}
FLAGS = [True, False]
SIZES = [16, 32, 64]


class Seen:
    """Counts the variants of the kernel `k`, and those that are lowered."""

    def __init__(self, is_used: bool) -> None:
        self._is_used, self._footprints, self._lower = is_used, planning.footprints, Lowerer.lower
        self.lowered = self.variants = 0

    def footprints(self, kernel: Kernel, program: Any, variants: tuple[Variant, ...]) -> tuple[Footprint, ...]:
        if kernel.name == "k":
            self.variants = len(variants)
        return self._footprints(kernel, program, variants) if self._is_used else ()

    def lower(self, lowerer: Lowerer, kernel: Kernel, *rest: Any) -> Any:
        self.lowered += kernel.name == "k"
        return self._lower(lowerer, kernel, *rest)


@contextmanager
def seeing(is_used: bool = True) -> Iterator[Seen]:
    seen = Seen(is_used)
    with patch.object(planning, "footprints", seen.footprints), \
            patch.object(Lowerer, "lower", lambda *given: seen.lower(*given)):
        yield seen


def lint(folder: Path, source: str, spec: str, **options: Any) -> KernelReport:
    (folder / "kernels.py").write_text(source, encoding="utf-8")
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    report = run_here(Request(("kernels.py",), folder, spec=folder / "spec.yaml", targets=("cuda:90",), **options))
    return next(k for k in report.kernels if k.name == "k")


def lowered(folder: Path, body: str, **args: Any) -> tuple[int, KernelReport]:
    """How many variants of a kernel with this body were lowered, and the report, the same without."""
    given = {**ARGS, **args}
    text = "".join(f"      {name}: {value!r}\n" for name, value in given.items())
    spec = f"version: 1\nkernels:\n  k:\n    args:\n{text}".replace("True", "true").replace("False", "false")
    source = HEAD + "".join(f"    {line}\n" for line in body.split("\n"))
    with seeing(is_used=False):
        expected = lint(folder, source, spec)
    with seeing() as seen:
        report = lint(folder, source, spec)
    assert report.status is Status.ANALYZED
    assert report == expected
    return seen.lowered, report


@pytest.mark.parametrize(("body", "args", "count"), [
    pytest.param("o = tl.program_id(0) * S + tl.arange(0, S)\ntl.store(a + o, tl.load(b + o, mask=o < n), mask=o < n)",
                 {"S": SIZES}, 1, id="a block size"),
    pytest.param("for i in range(0, n, S):\n    tl.store(a + i + tl.arange(0, S), 1.0)", {"S": SIZES}, 1, id="a step"),
    pytest.param("if tl.program_id(0) * S >= n:\n    return\ntl.store(a, 1.0)", {"S": SIZES}, 1, id="a run-time test"),
    pytest.param("x = 1.0\nif F:\n    x = 2.0\ntl.store(a, x)", {"F": FLAGS}, 1, id="a flag that decides a value"),
    pytest.param("x = 1.0\nif F:\n    x += tl.load(b)\nif G:\n    x += tl.load(c)\ntl.store(a, x)",
                 {"F": FLAGS, "G": FLAGS}, 2, id="flags that decide what is read"),
    pytest.param("if F:\n    tl.store(a, 1.0)\nif G:\n    tl.store(b, 1.0)", {"F": FLAGS, "G": FLAGS}, 2,
                 id="flags that decide what is written, each by itself"),
    pytest.param("if F:\n    if G:\n        tl.store(a, 1.0)", {"F": FLAGS, "G": FLAGS}, 2, id="one under the other"),
    pytest.param("if F:\n    return\nif G:\n    tl.store(a, 1.0)", {"F": FLAGS, "G": FLAGS}, 2,
                 id="an end, then a flag"),
    pytest.param("p = a if F else b\ntl.store(p, 1.0)", {"F": FLAGS, "S": SIZES}, 2, id="which address"),
    pytest.param("if F:\n    p = a + S\nelse:\n    p = a\ntl.store(p, 1.0)", {"F": FLAGS, "S": SIZES}, 1,
                 id="where in one parameter"),
    pytest.param("p = a\nq = b\nfor _ in tl.static_range(S // 16):\n    p, q = q, p\ntl.store(p, 1.0)",
                 {"S": [16, 32, 64]}, 2, id="how often addresses change places"),
    pytest.param("tl.store((a, b)[S // 32], 1.0)", {"S": [16, 32]}, 2, id="an index of a tuple"),
    pytest.param("put(a, 1.0, F)\nput(b, 1.0, not G)", {"F": FLAGS, "G": FLAGS}, 2, id="flags of helpers"),
    pytest.param("tl.store(either(a, b, F), 1.0)", {"F": FLAGS, "G": FLAGS}, 2, id="what a helper returns"),
    pytest.param("o = tl.arange(0, 16)\ntl.store(a + o, 1.0, mask=o < S - 16)", {"S": SIZES}, 2,
                 id="what a mask allows"),
    pytest.param("tl.store(a, 1.0)\nf: tl.constexpr = F and G\nput(b, 1.0, f)", {"F": FLAGS, "G": FLAGS, "S": SIZES}, 2,
                 id="by another name"),
])
def test_as_many_variants_are_lowered_as_differ(tmp_path: Path, body: str, args: dict[str, Any], count: int) -> None:
    assert lowered(tmp_path, body, **args)[0] == count


def test_a_constant_that_ends_a_write_is_no_word_on_others(tmp_path: Path) -> None:
    """In one variant the loop has no trips: what is lowered first must not speak for the other."""
    body = "m: tl.constexpr = n_trips(S)\nfor _ in range(m):\n    tl.store(a, 1.0)"
    source = HEAD.replace("@triton.jit\ndef k", "@triton.jit\ndef n_trips(S: tl.constexpr):\n"
                          "    m: tl.constexpr = 64 // S - 1\n    return m\n\n\n@triton.jit\ndef k")
    spec = ("version: 1\nkernels:\n  k:\n    args: {a: '*fp32', b: '*fp32', c: '*fp32', n: i32, F: true, G: true, "
            "S: [64, 16]}\n")
    with patch.object(planning, "footprints", alike):
        report = lint(tmp_path, source + "".join(f"    {line}\n" for line in body.split("\n")), spec)
    assert report.mutated == ("a",)


class Alike(Footprint):
    """Of any parameter, that of every other variant."""

    def at(self, parameter: str) -> frozenset[Site]:
        return frozenset()


def alike(kernel: Kernel, program: Any, variants: tuple[Variant, ...]) -> tuple[Footprint, ...]:
    """Takes every variant for one like the first."""
    return tuple(Alike(found.sites) for found in footprints(kernel, program, variants))


HIDDEN = FIXTURES / "siblings" / "kernels.py"
NAMES = re.findall(r"@triton.jit\ndef (\w+)\(a, b, d, n, F", HIDDEN.read_text(encoding="utf-8"))
HIDDEN_SPEC = """version: 1
kernels:
  "*": {args: {a: "*fp32", b: "*fp32", d: "*u64", n: i32, F: [false, true], T: [1, true]}}
"""


@lru_cache
def hidden(how: Any) -> dict[str, KernelReport]:
    """The reports on the fixture, by name, with `how` in the place of `planning.footprints`."""
    with TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.yaml"
        spec.write_text(HIDDEN_SPEC, encoding="utf-8")
        with patch.object(planning, "footprints", how):
            report = run_here(Request((HIDDEN.name,), HIDDEN.parent, spec=spec, targets=("cuda:90",)))
    return {k.name: k for k in report.kernels}


def _none(kernel: Kernel, program: Any, variants: tuple[Variant, ...]) -> tuple[Footprint, ...]:
    return ()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_easily_overlooked_is_found(name: str) -> None:
    expected = hidden(_none)[name]
    if expected.failure is None:  # else this Triton lacks what it uses
        assert hidden(footprints)[name] == expected


@pytest.mark.parametrize("name", NAMES)
def test_no_write_is_lost_even_where_nothing_is_thought_to_decide(name: str) -> None:
    """The walk over the source alone keeps verdicts sound."""
    found = hidden(alike)[name]
    expected = hidden(_none)[name]
    if expected.failure is None:
        assert {*expected.mutated, *expected.unknown} <= {*found.mutated, *found.unknown}


def test_a_variant_that_does_not_lower_speaks_for_none(tmp_path: Path) -> None:
    """The first size is none that Triton takes; the spec lists it, so there is no verdict, as without."""
    source = HEAD + "    tl.store(a + tl.arange(0, S), 1.0)\n"
    spec = ("version: 1\nkernels:\n  k:\n    args: {a: '*fp32', b: '*fp32', c: '*fp32', n: i32, F: true, G: true, "
            "S: [48, 64]}\n")
    report = lint(tmp_path, source, spec)
    assert report.failure is not None
    assert "power of 2" in report.failure.message


def _compare(folder: Path, seed: int) -> tuple[int, int]:
    source = random_flags.kernel(seed)
    with seeing(is_used=False):
        expected = lint(folder, source, random_flags.SPEC)
    with seeing() as seen:
        report = lint(folder, source, random_flags.SPEC)
    if expected.status is Status.ANALYZED:
        assert report == expected, f"seed {seed}"
    # Else Triton refuses a variant, which is not tried where others tell what it does: docs/analysis.md, 7.
    return seen.variants - seen.lowered, seen.variants if expected.status is Status.ANALYZED else 0


@pytest.mark.slow
def test_reports_on_random_kernels_do_not_change(tmp_path: Path) -> None:
    counts = [_compare(tmp_path, seed) for seed in (0, 15, 18, 47)]
    assert sum(left_out for left_out, _ in counts) > 5


@pytest.mark.fuzz
def test_reports_on_many_random_kernels_do_not_change(tmp_path: Path) -> None:
    counts = [_compare(tmp_path, seed) for seed in range(3, 150)]
    assert sum(left_out for left_out, _ in counts) > sum(variants for _, variants in counts) / 3
    assert sum(variants > 0 for _, variants in counts) > len(counts) / 2


def test_conditions_are_those_of_all_variants(tmp_path: Path) -> None:
    body = "if F:\n    tl.store(a, 1.0)\nif G:\n    tl.store(b, 1.0)"
    count, report = lowered(tmp_path, body, F=FLAGS, G=FLAGS, S=SIZES)
    assert count == 2
    assert [(p.name, p.mutation, p.when) for p in report.parameters[:2]] == [
        ("a", Mutation.CONDITIONAL, ("F=True",)), ("b", Mutation.CONDITIONAL, ("G=True",))]
    assert (report.analyzed_variants, report.total_variants) == (12, 12)


@pytest.mark.parametrize(("warps", "mutation"), [((4, 8), Mutation.UNKNOWN), ((4, 4), Mutation.UNWRITTEN)])
def test_configs_that_differ_in_what_a_kernel_asks_for(
        tmp_path: Path, warps: tuple[int, int], mutation: Mutation) -> None:
    configs = ", ".join(f"triton.Config({{'S': 16}}, num_warps={n})" for n in warps)
    source = f"""import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.autotune(configs=[{configs}], key=["n"])
@triton.jit
def k(a, b, n, S: tl.constexpr):
    if cuda.num_warps() == 8:
        tl.store(a, 1.0)
    tl.store(b, 1.0)
"""
    report = lint(tmp_path, source, "version: 1\nkernels:\n  k: {args: {a: '*fp32', b: '*fp32', n: i32}}\n")
    assert [p.mutation for p in report.parameters[:2]] == [mutation, Mutation.WRITTEN]
