"""`list`: every kernel on a line, with what its signature is made of, and nothing lowered."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.helpers.cli_shell import Shell
from tests.helpers.places import ROOT
from triton_mutlint.cli.list_kernels import origin_of

KERNELS = """\
import triton
import triton.language as tl
import not_installed


@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.jit
def parts(x, table, by: tl.int64, n, loose, BLOCK: tl.constexpr, EVEN: tl.constexpr, FLAG: tl.constexpr,
          POWER: tl.constexpr = 2):
    i = load_index(table)
    if FLAG:
        tl.store(x + i * by, POWER)


@triton.jit
def load_index(table):
    return tl.load(table)


@triton.jit
def unloaded(x):
    tl.store(x, not_installed.CONSTANT)


@triton.jit
def impossible(x):
    tl.static_assert(False)
    tl.store(x, 1)


def launch(x, table):
    parts[(1,)](x, table, 3, x.numel(), 1.5, FLAG=True)
"""

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "file", "line", "kind", "signature_origin", "variants", "parameters", "error"],
        "properties": {
            "name": {"type": ["string", "null"]},
            "file": {"type": "string"},
            "line": {"type": "integer", "minimum": 1},
            "kind": {"enum": ["kernel", "helper", "file"]},
            "signature_origin": {"enum": ["spec", "inferred", "mixed", None]},
            "variants": {
                "type": "object",
                "additionalProperties": False,
                "required": ["planned", "total"],
                "properties": {"planned": {"type": "integer"}, "total": {"type": "integer"}},
            },
            "parameters": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["name", "index", "types", "from", "reason"],
                    "properties": {
                        "name": {"type": "string"},
                        "index": {"type": "integer"},
                        "types": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                        "from": {
                            "enum": ["spec", "annotation", "default", "autotune", "heuristics", "launch site",
                                     "usage", "name"]
                        },
                        "reason": {"type": "string"},
                    },
                },
            },
            "error": {
                "type": ["object", "null"],
                "additionalProperties": False,
                "required": ["stage", "message", "hint"],
                "properties": {name: {"type": "string"} for name in ("stage", "message", "hint")},
            },
        },
    },
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "k.py").write_text(KERNELS, encoding="utf-8")
    return tmp_path


def listed(shell: Shell, *arguments: str) -> list[dict[str, object]]:
    assert shell("list", "--format", "json", *arguments) == 0
    rows: list[dict[str, object]] = json.loads(shell.out)
    jsonschema.validate(rows, SCHEMA)
    return rows


def origins(row: dict[str, object]) -> dict[str, str]:
    parameters = row["parameters"]
    assert isinstance(parameters, list)
    return {p["name"]: p["from"] for p in parameters}


def test_each_part_says_where_it_came_from(shell: Shell, here: Path) -> None:
    rows = listed(shell, "k.py")
    assert [row["name"] for row in rows] == ["parts", "unloaded", "impossible"]
    assert origins(rows[0]) == {
        "x": "usage", "table": "usage", "by": "annotation", "n": "name", "loose": "launch site",
        "BLOCK": "autotune", "EVEN": "heuristics", "FLAG": "launch site", "POWER": "default",
    }  # fmt: skip
    types = {p["name"]: p["types"] for p in rows[0]["parameters"]}  # type: ignore[attr-defined]
    assert types["table"] == ["*i32"]
    assert types["by"] == ["i64"]
    assert types["BLOCK"] == ["32", "64"]
    assert rows[0]["line"] == 9
    variants = rows[0]["variants"]
    assert isinstance(variants, dict)
    assert variants["planned"] == variants["total"] > 2


def test_what_a_spec_gives_says_so(shell: Shell, here: Path) -> None:
    spec = 'version: 1\ndefaults: {types: {n: i64}}\nkernels:\n  parts: {args: {x: "*fp16", EVEN: true}}\n'
    (here / "triton-mutlint.yaml").write_text(spec, encoding="utf-8")
    row = listed(shell, "k.py")[0]
    assert {n for n, origin in origins(row).items() if origin == "spec"} == {"x", "n", "EVEN"}
    assert row["signature_origin"] == "mixed"
    row = listed(shell, "k.py", "--no-spec")[0]
    assert "spec" not in origins(row).values()
    assert row["signature_origin"] == "inferred"


def test_text_has_a_line_per_kernel(shell: Shell, here: Path) -> None:
    assert shell("list", "k.py") == 0
    lines = shell.out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("k.py:9 parts(x: *fp32 [usage], table: *i32 [usage], by: i64 [annotation], ")
    assert re.search(r"BLOCK: 32 \| 64 \[autotune\].*\)  kernel, \d+ variants$", lines[0])
    assert re.match(r"k.py:\d+ unloaded  load failed: .*not_installed", lines[1])
    assert lines[2].startswith("k.py:27 impossible(x: *")  # Triton would refuse it; nothing is lowered


def test_helpers_are_listed_when_asked_for(shell: Shell, here: Path) -> None:
    rows = listed(shell, "k.py", "--helpers")
    assert {row["name"] for row in rows if row["kind"] == "helper"} == {"load_index"}
    assert shell("list", "k.py", "--helpers") == 0
    assert re.search(r"^k.py:17 load_index\(table: .*\)  helper, ", shell.out, re.MULTILINE)


def test_one_kernel_can_be_named_and_the_cap_is_told(shell: Shell, here: Path) -> None:
    assert shell("list", "k.py::parts", "--max-variants", "2") == 0
    assert len(shell.out.splitlines()) == 1
    assert re.search(r"kernel, 2 of \d+ variants$", shell.out.rstrip())


def test_a_file_that_does_not_load_is_a_row(shell: Shell, here: Path) -> None:
    (here / "bad.py").write_text("import triton\n@triton.jit\ndef k(:\n", encoding="utf-8")
    assert shell("list", "bad.py", "k.py::parts") == 1
    lines = shell.out.splitlines()
    assert re.match(r"bad.py:3  load failed: syntax error", lines[0])
    assert lines[1].startswith("k.py:9 parts(")
    assert shell("list", "bad.py", "--format", "json") == 1
    rows = json.loads(shell.out)
    jsonschema.validate(rows, SCHEMA)
    assert [(row["kind"], row["name"]) for row in rows] == [("file", None)]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-"], "standard input"),
        (["k.py", "--no-spec", "--spec", "k.py"], "contradict"),
        (["k.py", "--spec", "none.yaml"], "does not exist"),
        (["k.py", "--format", "xml"], "xml"),
    ],
)
def test_what_cannot_be_done_is_refused(shell: Shell, here: Path, arguments: list[str], why: str) -> None:
    assert shell("list", *arguments) == 2
    assert why in shell.err
    assert shell.out == ""


def test_nothing_is_lowered(here: Path) -> None:
    """What Triton would refuse is listed all the same."""
    (here / "k.py").write_text("import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x_ptr, n):\n"
                               "    tl.store(x_ptr, tl.no_such_function(n))\n")
    done = subprocess.run([sys.executable, "-m", "triton_mutlint", "list", "k.py"], cwd=here, capture_output=True,
                          text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert "x_ptr" in done.stdout
    assert "no_such_function" not in done.stdout


@pytest.mark.parametrize(
    ("reason", "origin"),
    [
        ("annotated tl.const", "annotation"),
        ("launch site line 3 passes a tensor", "launch site"),
        ("its default is 3", "default"),
        ("by its name", "name"),
        ("nothing tells: a size", "name"),
        ("stored to at line 4; may be None (tested at line 2)", "usage"),
    ],
)
def test_reasons_have_an_origin(reason: str, origin: str) -> None:
    assert origin_of(reason) == origin
