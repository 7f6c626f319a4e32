"""Torch ops that each do one launch, all of them linted in one run: each stands in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import OpReport

_KERNEL = re.compile(r"^@triton\.jit\ndef (\w+)", re.MULTILINE)


def ops_of(folder: Path, text: str, launches: Iterable[str], others: tuple[str, ...] = (),
           **options: Any) -> dict[str, OpReport]:
    """What is said of `text` with each launch in the place of `{launch}`, without the kernels that are not needed.

    `others` are files that are linted with them.
    """
    files = {f"ops{number}.py": launch for number, launch in enumerate(launches)}
    for name, launch in files.items():
        (folder / name).write_text(_needed(text, launch).replace("{launch}", launch))
    ops = run(Request((*files, *others), folder, targets=("cuda:90",), **options)).ops
    assert [op.location.file for op in ops] == sorted(files)
    return {files[op.location.file]: op for op in ops}


def _needed(text: str, launch: str) -> str:
    """The text without kernels that the launch does not name, or that are not named together with one that it names."""
    blocks = [(block, frozenset(re.findall(r"\w+", block)), _KERNEL.search(block)) for block in text.split("\n\n\n")]
    kernels = frozenset(kernel[1] for _, _, kernel in blocks if kernel)
    named = kernels.intersection(re.findall(r"\w+", launch))
    for _, words, kernel in blocks:
        if kernel is None and words & named:
            named |= words & kernels
    return "\n\n\n".join(block for block, words, kernel in blocks
                          if (kernel[1] in named if kernel else words & kernels <= named))
