"""Which entry holds for which kernel, and what holds for none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.kernels_by_hand import loaded
from triton_mutlint.signature.planning import build_plan
from triton_mutlint.spec.bind import entry_of_values
from triton_mutlint.spec.model import Spec
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.spec.stale import stale_entries
from triton_mutlint.types import FileResult, Kernel, SourceFile, UsageError

PATH = Path("/project/src/pkg/kernels.py")


def spec_of(*patterns: str) -> Spec:
    lines = "".join(f'  "{pattern}": {{}}\n' for pattern in patterns)
    return parse_spec(f"version: 1\nkernels:\n{lines}", "s.yaml")


@pytest.mark.parametrize(
    ("patterns", "winner"),
    [
        (["add_*", "add_kernel"], "add_kernel"),
        (["add_kernel", "kernels.py::add_*"], "kernels.py::add_*"),
        (["kernels.py::add_kernel", "pkg/kernels.py::add_kernel"], "pkg/kernels.py::add_kernel"),
        (["pkg/kernels.py::*", "kernels.py::add_kernel"], "kernels.py::add_kernel"),
        (["other/kernels.py::add_kernel", "*"], "*"),
        (["*", "a*", "add_*", "add_[jk]*"], "add_[jk]*"),
        (["p*/kernels.py::add_kernel", "add_kernel"], "p*/kernels.py::add_kernel"),
        (["add_kernel", "Outer.add_kernel"], "Outer.add_kernel"),
        (["Outer.*", "*"], "Outer.*"),
        (["add_kernel", "add_kernel:12", "add_kernel:40"], "add_kernel:12"),
        (["kernels.py::add_kernel:12", "kernels.py::add_kernel"], "kernels.py::add_kernel:12"),
        (["/project/src/pkg/kernels.py::add_kernel"], "/project/src/pkg/kernels.py::add_kernel"),
        (["ernels.py::add_kernel", "ADD_KERNEL", "add_kerne", "add_kernel:13"], None),
        (["*_kernel", "add_k*rnel", "add_ker*l"], "add_k*rnel"),  # as specific: the first
    ],
)
def test_the_most_specific_entry_wins(patterns: list[str], winner: str | None) -> None:
    for order in (patterns, patterns[::-1]) if len(patterns) < 4 and winner != "add_k*rnel" else (patterns,):
        entry = spec_of(*order).entry_for(PATH, "add_kernel", "Outer.add_kernel", 12)
        assert (entry.pattern if entry else None) == winner


@pytest.mark.parametrize(("patterns", "found"), [
    (("add_k*", "*_kern", "a*_ker"), ["add_k*"]), (("a*l", "a*el", "*el", "ad*"), ["a*el"]),
    (("*el", "ad*"), ["*el", "ad*"]),
])
def test_ties_are_told(patterns: tuple[str, ...], found: list[str]) -> None:
    assert [entry.pattern for entry in spec_of(*patterns).entries_for(PATH, "add_kernel")] == found


def kernel(text: str, **options: str) -> Kernel:
    return loaded(text, path=str(PATH), **options)  # type: ignore[arg-type]


SPEC = """\
version: 1
kernels:
  add_kernel:
    args:
      x_ptr: "*fp32"
      x_prt: "*fp32"
      zzzzz: i32
    mutates: [x_ptr, ptrs.0, outptr]
  ad_kernel: {}
  "*_kernel":
    args: {y_ptr: "*fp32", n: i32, q: i32}
  "other.py::add_kernel": {}
  "add_*": {}
"""


def stale(text: str, kernels: list[Kernel], root: Path) -> list[tuple[int, str]]:
    spec, file = parse_spec(text, "s.yaml"), FileResult(SourceFile(Path(), "", ""), tuple(kernels))
    return [(place.line, message) for message, place in stale_entries(spec, [file], root)]


def test_what_names_nothing_is_found_with_its_place_and_the_nearest_name(tmp_path: Path) -> None:
    kernels = [
        kernel("def add_kernel(x_ptr, ptrs, out_ptr): ..."),
        kernel("def mul_kernel(y_ptr): ..."),
        kernel("def div_kernel(n): ..."),
    ]
    assert stale(SPEC, kernels, tmp_path) == [
        (6, "kernels.add_kernel.args.x_prt: `add_kernel` has no parameter `x_prt`; did you mean `x_ptr`?"),
        (7, "kernels.add_kernel.args.zzzzz: `add_kernel` has no parameter `zzzzz`"),
        (8, "kernels.add_kernel.mutates[2]: `add_kernel` has no parameter `outptr`; did you mean `out_ptr`?"),
        (9, "kernels.ad_kernel: no kernel is called `ad_kernel`; did you mean `add_kernel`?"),
        (11, "kernels.*_kernel.args.q: `*_kernel` has no parameter `q`"),
        (12, 'kernels["other.py::add_kernel"]: no kernel is called `other.py::add_kernel`; did you mean `add_kernel`?'),
        (13, "kernels.add_*: a more specific entry holds for every kernel that this one names"),
    ]


def test_a_spec_that_fits_has_nothing_stale(tmp_path: Path) -> None:
    spec = 'version: 1\nkernels: {k: {args: {x: "*fp32"}, mutates: [x]}}'
    assert stale(spec, [kernel("def k(x): ...")], tmp_path) == []
    assert stale(spec, [], tmp_path) == [(2, "kernels.k: no kernel is called `k`")]
    (tmp_path / "other.py").write_text("@jit\ndef k(y): ...\n", encoding="utf-8")
    assert stale(spec, [], tmp_path) == []


# --------------------------------------------------------------------------- entries from Python values


def test_python_values_make_an_entry() -> None:
    add = loaded("def k(x, n, b, F: tl.constexpr, S: tl.constexpr): ...", namespace={"act": len})
    entry = entry_of_values(add, {"x": "*fp32", "n": 16, "b": [None, "*fp16"], "F": len, "S": "i32"})
    plan = build_plan(add, entry, None, inferred=lambda kernel, known: {})
    assert [{n: str(a) for n, a in v.args.items()} for v in plan.variants] == [
        {"x": "*fp32", "n": "i32:16", "b": "None", "F": "len", "S": "'i32'"},
        {"x": "*fp32", "n": "i32:16", "b": "*fp16", "F": "len", "S": "'i32'"},
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"x_p": "*fp32"}, "k has no parameter 'x_p'; did you mean 'x_'?"),
        ({"x_": "*fp3"}, r"k: x_: unknown type '\*fp3'; did you mean '\*fp32'?"),
        ({"x_": []}, "k: an empty list gives 'x_' no value"),
    ],
)
def test_wrong_python_values_are_usage_errors(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        entry_of_values(loaded("def k(x_): ..."), values)
