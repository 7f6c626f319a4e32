"""Every known-answer kernel: nothing missed, and nothing over but what the case calls undecidable.

The full JSON reports are golden files made with the newest Triton; `make goldens` writes them anew. On an older
Triton, the kernels that it can lower must be reported alike, but for the column of extern calls, which it locates
differently.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.casebook import BOOKS, FIXTURES, Case, cases, needs_another_triton, report_of
from triton_mutlint.lowering import triton_api
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.types import Stage, Status

NEWEST = (3, 9)
pytestmark = pytest.mark.apart  # as users run it, and no Triton that gives up over a kernel ends the tests
# Kernels of the books that these versions cannot lower for want of an API; later ones lower all that are for them.
UNABLE = {(3, 3): 49, (3, 4): 9, (3, 5): 2}
# The block shapes of their descriptors are not guessed: they need a spec.
UNGUESSED = frozenset(("tuple_of_descriptors", "host_desc_rank1_rank3", "host_desc_swapped_in_loop"))


@pytest.fixture(scope="session")
def spec_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specs")


@pytest.mark.both
@pytest.mark.parametrize("case", [c for book in BOOKS for c in cases(book)], ids=lambda c: f"{c.book}-{c.name}")
def test_verdict_is_the_truth(case: Case, spec_folder: Path) -> None:
    kernel = case.report(report_of(case.book, spec_folder, True))
    if not case.lowers:
        assert kernel.failure is not None
        assert kernel.failure.stage in (Stage.LOAD, Stage.LOWER)
        return
    if needs_another_triton(kernel):
        return
    assert kernel.status is Status.ANALYZED, kernel.failure
    found, unknown = set(kernel.mutated), set(kernel.unknown)
    assert case.truth <= found | unknown, "missed a write"
    assert case.indirect <= {w.through for w in kernel.indirect_writes} | found | unknown, "missed an indirect write"
    assert (found | unknown) - case.truth <= case.unknown
    if case.undecidable:
        assert case.unknown <= found | unknown, "called something decided that nobody can decide"


@pytest.mark.parametrize("case", [c for book in BOOKS for c in cases(book)], ids=lambda c: f"{c.book}-{c.name}")
def test_guessed_arguments_hide_no_write(case: Case, spec_folder: Path) -> None:
    """On the newest Triton, and by `make matrix` on all; guesses on the one that torch requires: test_guesses.py."""
    kernel = case.report(report_of(case.book, spec_folder, False))
    if kernel.status is Status.ANALYZED:
        told = set(kernel.mutated) | set(kernel.unknown)
        assert case.truth <= told
        assert case.indirect <= told | {w.through for w in kernel.indirect_writes}
        assert case.unknown <= told or not case.undecidable
    else:
        assert not case.lowers or case.name in UNGUESSED or needs_another_triton(kernel), kernel.failure


@pytest.mark.parametrize("with_spec", [True, False])
def test_no_more_kernels_need_another_triton_than_are_known_to(spec_folder: Path, with_spec: bool) -> None:
    unable = [c.name for book in BOOKS for c in cases(book)
              if c.lowers and needs_another_triton(c.report(report_of(book, spec_folder, with_spec)))]
    assert len(unable) <= UNABLE.get(triton_api.version(), 0), unable


@pytest.mark.both
@pytest.mark.parametrize("book", [book for book in BOOKS if book != "old"])  # which that Triton does not lower
def test_reports_are_the_golden_ones(book: str, spec_folder: Path) -> None:
    text = render("json", report_of(book, spec_folder, True), RenderOptions())
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
