"""The full JSON report of every known-answer kernel, as golden files made with the newest Triton.

`make goldens` writes them anew. On an older Triton, the kernels that it can lower must be reported alike,
but for the column of extern calls, which it locates differently.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.casebook import BOOKS, FIXTURES, report_of
from triton_mutlint.lowering import triton_api
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions

pytestmark = pytest.mark.both

NEWEST = (3, 9)


@pytest.fixture(scope="module")
def spec_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden-specs")


@pytest.mark.parametrize("book", [book for book in BOOKS if book != "old"])  # which that Triton does not lower
def test_reports_are_the_golden_ones(book: str, spec_folder: Path) -> None:
    text = render("json", report_of(book, spec_folder), RenderOptions())
    golden = FIXTURES / book / "golden.json"
    if os.environ.get("UPDATE_GOLDENS"):
        assert triton_api.version() == NEWEST, "goldens are made with the newest Triton"
        golden.write_text(text, encoding="utf-8")
    expected = json.loads(golden.read_text(encoding="utf-8"))
    if triton_api.version() == NEWEST:
        assert text == golden.read_text(encoding="utf-8")
    compared = 0
    for wanted, found in zip(expected["kernels"], json.loads(text)["kernels"], strict=True):
        if found["status"] == "analyzed" == wanted["status"]:
            assert _comparable(found) == _comparable(wanted)
            compared += 1
    assert compared >= len(expected["kernels"]) * 0.75  # the oldest Triton lacks most


def _comparable(kernel: dict[str, Any]) -> dict[str, Any]:
    """Without extern calls' columns, and without the builtins that are asm in some versions and ops in others."""
    def settle(ops: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**o, "column": 0} if o["op"] == "tt.extern_elementwise" else o for o in ops
                if not o.get("detail", "").startswith("griddepcontrol")]

    lists = ("opaque_ops", "unanalyzable_ops", "indirect_writes")
    return {**kernel, **{key: settle(kernel[key]) for key in lists}}
