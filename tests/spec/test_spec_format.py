"""Reading specs: what each key becomes, and where it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_mutlint.spec.model import Spec
from triton_mutlint.spec.nodes import SpecError
from triton_mutlint.spec.read import find_spec, load_spec, parse_spec
from triton_mutlint.types import Location

FULL = """\
version: 1
defaults:
  types: {"*_ptr": "*fp16", "*": [i32, null]}
  constexpr: {BLOCK_SIZE: 128}
kernels:
  add_kernel:
    args:
      x_ptr: "*fp32:16"
      BLOCK_SIZE: [128, 1024]
      FN: {ref: act_relu}
    mutates: [output_ptr, state.x]
    allow: [TML201]
    target: cuda:90
    verify:
      shapes: {x_ptr: [128]}
  "src/*.py::mul_*":
    args: "*fp32, i32"
    mutates: []
    target: [cuda:80, hip:gfx942]
  named_only:
globals:
  vllm.envs.MAX_LANES: 32
  ROWS: [1, 2.5, x, null, true]
"""


def test_every_key_is_read_with_its_place() -> None:
    spec = parse_spec(FULL, "s.yaml")
    add, mul, named = spec.kernels
    assert [(arg.parameter, arg.location, arg.path) for arg in add.args] == [
        ("x_ptr", Location("s.yaml", 8, 7), ("kernels", "add_kernel", "args", "x_ptr")),
        ("BLOCK_SIZE", Location("s.yaml", 9, 7), ("kernels", "add_kernel", "args", "BLOCK_SIZE")),
        ("FN", Location("s.yaml", 10, 7), ("kernels", "add_kernel", "args", "FN")),
    ]
    assert add.location == Location("s.yaml", 6, 3)
    assert add.mutates is not None
    assert [(d.name, d.location) for d in add.mutates] == [
        ("output_ptr", Location("s.yaml", 11, 15)),
        ("state.x", Location("s.yaml", 11, 27)),
    ]
    assert add.mutates_location == Location("s.yaml", 11, 5)
    assert [(d.name, d.location.line) for d in add.allow] == [("TML201", 12)]
    assert [d.name for d in add.targets] == ["cuda:90"]
    assert add.verify == {"shapes": {"x_ptr": [128]}}
    assert (mul.mutates, [d.name for d in mul.targets]) == ((), ["cuda:80", "hip:gfx942"])
    assert mul.compact is not None
    assert mul.compact.scalar == "*fp32, i32"
    assert (named.args, named.compact, named.mutates, named.verify) == ((), None, None, None)
    assert [len(arg.values) for arg in (*spec.default_types, *spec.default_constexprs)] == [1, 2, 1]
    assert spec.globals == {"vllm.envs.MAX_LANES": 32, "ROWS": [1, 2.5, "x", None, True]}
    assert [item.location.line for item in spec.global_specs] == [22, 23]


def test_the_first_default_that_fits_wins() -> None:
    spec = parse_spec(FULL, "s.yaml")
    found = [spec.default_for(name, is_value=False) for name in ("x_ptr", "n")]
    assert [arg.parameter if arg else None for arg in found] == ["*_ptr", "*"]
    assert spec.default_for("n", is_value=True) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 17),  # YAML 1.2: decimal
        ("+7", 7),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2020-01-01", "2020-01-01"),
        ("~", None),
        ("", None),
        ("True", True),
        ("'true'", "true"),
        ("'off'", "off"),
        ("!!str 5", "5"),
        ("|\n    two\n    lines", "two\nlines\n"),
        ("tl.float16", "tl.float16"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = parse_spec(f"version: 1\nglobals:\n  A: {text}\n", "s.yaml").globals["A"]
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "version: 1\n", "kernels:\nglobals:\ndefaults:\n  types:\n"]
)
def test_nothing_has_to_be_said(text: str) -> None:
    assert parse_spec(text, "s.yaml") == Spec("s.yaml")


def test_an_entry_without_a_version_holds() -> None:
    (entry,) = parse_spec("kernels:\n  k:\n    args:\n    mutates: [x]\n", "s.yaml").kernels
    assert (entry.pattern, entry.args, [d.name for d in entry.mutates or ()]) == ("k", (), ["x"])


def test_a_parameter_may_be_called_on_or_null() -> None:
    spec = parse_spec("version: 1\nkernels: {k: {args: {on: i32, no: i32, null: i32, y: i32}}}", "s.yaml")
    assert [arg.parameter for arg in spec.kernels[0].args] == ["on", "no", "null", "y"]


def test_anchors_aliases_and_merges() -> None:
    spec = parse_spec(
        """\
version: 1
kernels:
  a: &a
    args: &args {x: "*fp32", n: i32}
    mutates: [x]
  b: *a
  c:
    args:
      <<: *args
      n: i64
  d:
    <<: [{mutates: []}, *a]
""",
        "s.yaml",
    )
    a, b, c, d = spec.kernels
    assert b.args[0].values[0] == b.arg("x").values[0]  # type: ignore[union-attr]
    assert a.mutates is not None
    assert [arg.parameter for arg in c.args] == ["n", "x"]
    assert c.arg("n").values[0].scalar == "i64"  # type: ignore[union-attr]
    assert d.mutates == ()
    assert [arg.parameter for arg in d.args] == ["x", "n"]


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "triton-mutlint.yaml"
    path.write_bytes(b"\xef\xbb\xbfversion: 1\r\nkernels: {k: {}}\r\n")
    assert load_spec(path).kernels[0].location == Location(str(path), 2, 11)


@pytest.mark.parametrize("text", ["&a [*a]", "{<<: *x}", "[[[", "? a", "%TAG", "\x00", "- &", "!<", '"\\x"'])
def test_broken_text_is_always_a_spec_error(text: str) -> None:
    with pytest.raises(SpecError, match=r"^s\.yaml:\d+:\d+: "):
        parse_spec(text, "s.yaml")


@given(st.integers(0, len(FULL)), st.integers(0, 12), st.text("\t\n :*&{}[]'\"#-x1.<>!%|?@~", max_size=6))
def test_a_damaged_spec_is_read_or_refused_with_a_place(start: int, cut: int, put: str) -> None:
    try:
        spec = parse_spec(FULL[:start] + put + FULL[start + cut :], "s.yaml")
    except SpecError as error:
        assert all(str(problem).startswith("s.yaml:") for problem in error.problems)  # noqa: PT017
        return
    assert all(entry.location.line <= FULL.count("\n") + 7 for entry in spec.kernels)


# --------------------------------------------------------------------------- finding it


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("version: 1\n", encoding="utf-8")
    return path


def test_the_spec_beside_the_file_comes_before_those_above(tmp_path: Path) -> None:
    above = touch(tmp_path / "triton-mutlint.yaml")
    beside = touch(tmp_path / "pkg" / "triton-mutlint.yml")
    assert find_spec(tmp_path / "pkg" / "k.py") == beside
    assert find_spec(tmp_path / "pkg") == beside  # a directory argument
    assert find_spec(tmp_path / "other" / "deep" / "k.py") == above


def test_yaml_comes_before_yml(tmp_path: Path) -> None:
    touch(tmp_path / "triton-mutlint.yml")
    yaml = touch(tmp_path / "triton-mutlint.yaml")
    assert find_spec(tmp_path / "k.py") == yaml


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
def test_the_search_ends_with_the_project_root(tmp_path: Path, mark: str) -> None:
    touch(tmp_path / "triton-mutlint.yaml")
    touch(tmp_path / "project" / mark)
    file = tmp_path / "project" / "pkg" / "k.py"
    touch(tmp_path / "project" / "pkg" / "sub" / "triton-mutlint.yaml")
    assert find_spec(file) is None
    in_root = touch(tmp_path / "project" / "triton-mutlint.yaml")
    assert find_spec(file) == in_root


def test_a_relative_path_is_searched_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = touch(tmp_path / "triton-mutlint.yaml")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert find_spec(Path("k.py")) == spec


def test_a_directory_or_a_symlink_loop_of_that_name_is_no_spec(tmp_path: Path) -> None:
    touch(tmp_path / ".git")
    (tmp_path / "triton-mutlint.yaml").mkdir()
    os.symlink(tmp_path / "triton-mutlint.yml", tmp_path / "triton-mutlint.yml")  # noqa: PTH211  # to itself
    assert find_spec(tmp_path / "k.py") is None


def test_reading_specs_and_planning_import_little() -> None:
    modules = "triton_mutlint.signature.planning, triton_mutlint.spec.read"
    code = f"import sys, {modules}; print({{'triton', 'torch', 'ruamel.yaml'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_spec_without_a_version_is_of_the_first() -> None:
    kernels = "kernels:\n  add_kernel: {mutates: [x_ptr]}\n"
    (entry,) = parse_spec(kernels, "spec.yaml").kernels
    (versioned,) = parse_spec(f"{kernels}version: 1\n", "spec.yaml").kernels
    assert entry == versioned
