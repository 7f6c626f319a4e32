"""Every known-answer kernel: nothing missed, and nothing over but what the case calls undecidable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.casebook import BOOKS, Case, cases, needs_another_triton, report_of
from triton_mutlint.lowering import triton_api
from triton_mutlint.types import Stage, Status

pytestmark = pytest.mark.both

# Kernels of the books that these versions cannot lower for want of an API; later ones lower all that are for them.
UNABLE = {(3, 3): 49, (3, 4): 9, (3, 5): 2}
# The block shapes of their descriptors are not guessed: they need a spec.
UNGUESSED = frozenset(("tuple_of_descriptors", "host_desc_rank1_rank3", "host_desc_swapped_in_loop"))


@pytest.fixture(scope="session")
def spec_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specs")


@pytest.mark.parametrize("case", [c for book in BOOKS for c in cases(book)], ids=lambda c: f"{c.book}-{c.name}")
def test_verdict_is_the_truth(case: Case, spec_folder: Path) -> None:
    kernel = case.report(report_of(case.book, spec_folder))
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
    kernel = case.report(report_of(case.book, spec_folder, with_spec=False))
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
              if c.lowers and needs_another_triton(c.report(report_of(book, spec_folder, with_spec=with_spec)))]
    assert len(unable) <= UNABLE.get(triton_api.version(), 0), unable
