"""Jit functions that stand in one linted file and are called from another."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from triton_mutlint.cli.list_kernels import list_kernels
from triton_mutlint.config.request import Request, silent
from triton_mutlint.run.run import run
from triton_mutlint.types import Report

_HELPERS = """
    import triton
    import triton.language as tl

    @triton.jit
    def put(p, tile):
        tl.store(p + tl.arange(0, tile.shape[0]), tile)

    @triton.jit
    def alone(x):
        tl.store(x, 1)
"""
_CALLER = """
    import triton
    import triton.language as tl
    {how}

    @triton.jit
    def k(x):
        {call}(x, tl.arange(0, 16))
"""
_FORMS = {
    "by name": ("from pkg.h import put", "put"),
    "by another name": ("from .h import put as set_tile", "set_tile"),
    "by its module": ("from . import h", "h.put"),
    "by its module's other name": ("import pkg.h as tiles", "tiles.put"),
    "by a file that hands it on": ("from pkg.again import put", "put"),
    "by the package": ("from pkg import put", "put"),
    "by a star import": ("from pkg.h import *", "put"),
    "by a name of the file": ("from pkg import h\n    write = h.put", "write"),
}


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def _package(folder: Path, how: str, call: str) -> None:
    _write(folder, {
        "pkg/__init__.py": "from .h import put\n", "pkg/again.py": "from .h import put\n", "pkg/h.py": _HELPERS,
        "pkg/m.py": _CALLER.format(how=how, call=call),
    })


def _kernels(report: Report) -> list[str]:
    return [kernel.name for kernel in report.kernels]


@pytest.mark.parametrize(("how", "call"), _FORMS.values(), ids=_FORMS)
def test_what_another_linted_file_calls_is_a_helper(tmp_path: Path, how: str, call: str) -> None:
    _package(tmp_path, how, call)
    report = run(Request(("pkg",), tmp_path))
    assert _kernels(report) == ["alone", "k"]
    assert report.kernels[1].mutated == ("x",)
    assert (report.helpers, report.findings) == (1, ())


def test_by_itself_it_is_a_kernel(tmp_path: Path) -> None:
    _package(tmp_path, *_FORMS["by name"])
    assert _kernels(run(Request(("pkg/h.py",), tmp_path))) == ["put", "alone"]
    assert _kernels(run(Request(("pkg/h.py::put", "pkg/m.py"), tmp_path))) == ["put", "k"]


@pytest.mark.parametrize("launch", [
    "from pkg.h import put\ndef go(x):\n    put[(1,)](x, 2)\n",
    "from pkg.h import put as p\ndef go(x):\n    p[(1,)](x, 2)\n",
    "from pkg import h\ndef go(x):\n    h.put[(1,)](x, 2)\n",
    "from pkg.h import put\ndef go(x, start):\n    start(put, x)\n",
], ids=["by name", "by another name", "by its module", "handed to a function"])
def test_what_a_file_of_the_run_launches_is_a_kernel(tmp_path: Path, launch: str) -> None:
    _package(tmp_path, *_FORMS["by name"])
    _write(tmp_path, {"launch.py": launch})
    assert _kernels(run(Request(("launch.py", "pkg"), tmp_path))) == ["put", "alone", "k"]
    assert _kernels(run(Request((".",), tmp_path))) == ["put", "alone", "k"]
    assert _kernels(run(Request(("pkg",), tmp_path))) == ["alone", "k"]


def test_one_that_cannot_be_loaded_is_told_of_where_it_is_called(tmp_path: Path) -> None:
    _package(tmp_path, *_FORMS["by name"])
    _write(tmp_path, {"pkg/h.py": _HELPERS.replace("[0]), tile)", "[0]), tile + N)", 1)
                      .replace("import triton\n", "import triton\n    from absent import N\n", 1)})
    report = run(Request(("pkg",), tmp_path))
    assert {k.name: k.failure is not None for k in report.kernels} == {"alone": False, "k": True}


def test_a_spec_that_names_it_makes_it_a_kernel(tmp_path: Path) -> None:
    _package(tmp_path, *_FORMS["by name"])
    spec = tmp_path / "triton-mutlint.yaml"
    spec.write_text('version: 1\nkernels:\n  put: {args: {p: "*fp32", tile: fp32}}\n', encoding="utf-8")
    assert "put" in _kernels(run(Request(("pkg",), tmp_path)))
    spec.write_text('version: 1\nkernels:\n  "pu*": {args: {p: "*fp32"}}\n', encoding="utf-8")
    assert "put" not in _kernels(run(Request(("pkg",), tmp_path)))


def test_a_kept_answer_changes_with_the_files_that_are_linted_along(tmp_path: Path) -> None:
    _package(tmp_path, *_FORMS["by name"])
    cache = tmp_path / "cache"

    def names(*arguments: str) -> list[str]:
        return _kernels(run(Request(arguments, tmp_path, cache_dir=cache)))

    assert names("pkg/h.py") == ["put", "alone"]
    assert names("pkg") == ["alone", "k"]
    assert names("pkg") == ["alone", "k"]
    assert names("pkg/h.py") == ["put", "alone"]
    other = _CALLER.format(how="from .h import alone", call="alone").replace(", tl.arange(0, 16)", "")
    _write(tmp_path, {"pkg/m.py": other})
    assert names("pkg") == ["put", "k"]


def test_it_is_not_listed_as_a_kernel(tmp_path: Path) -> None:
    _package(tmp_path, *_FORMS["by name"])
    rows = list_kernels(Request(("pkg",), tmp_path, helpers=True), silent)
    assert [(row["name"], row["kind"]) for row in rows] == [("put", "helper"), ("alone", "kernel"), ("k", "kernel")]
