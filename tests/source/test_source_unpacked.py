"""Arguments of `@triton.autotune` that come from a mapping."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.source.load import load
from triton_mutlint.types import Autotune, SourceFile

FILE = """import triton
import triton.language as tl
{before}


@triton.autotune(configs=[triton.Config({{"B": 1}}), triton.Config({{"B": 2}})], key=[], {unpacked})
@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x, tl.load(x) + B)
"""


def autotune(folder: Path, before: str, unpacked: str) -> Autotune:
    path = folder / "kernels.py"
    path.write_text(FILE.format(before=before, unpacked=unpacked), encoding="utf-8")
    found = load(SourceFile(path, path.name, path.read_text(encoding="utf-8"))).kernels[0].autotune
    assert found is not None
    return found


def test_a_mapping_that_is_known_leaves_nothing_open(tmp_path: Path) -> None:
    before = "options = {'cache_results': True} if hasattr(triton, 'autotune') else {}"
    found = autotune(tmp_path, before, "**options")
    assert (found.undecided, found.restore_value, found.has_pre_hook) == (frozenset(), (), False)
    assert len(found.configs) == 2


def test_a_mapping_may_hold_the_lists_and_hooks(tmp_path: Path) -> None:
    found = autotune(tmp_path, "", "**dict(restore_value=['x'], pre_hook=print)")
    assert (found.undecided, found.restore_value, found.has_pre_hook) == (frozenset(), ("x",), True)


@pytest.mark.parametrize("unpacked", ["**absent", "**undefined", "**1"])
def test_a_mapping_that_is_not_known_may_hold_anything(unpacked: str, tmp_path: Path) -> None:
    found = autotune(tmp_path, "from not_installed_anywhere import absent", unpacked)
    assert found.undecided == {"restore_value", "reset_to_zero"}
