"""Writing small packages and loading them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from triton_mutlint.source.load import load, reset
from triton_mutlint.types import FileResult, SourceFile

HEADER = "import triton\nimport triton.language as tl\n"

Load = Callable[..., FileResult]
Write = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    reset()
    yield
    reset()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write one file of a package below the temporary folder."""

    def _write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return _write


@pytest.fixture
def load_text(tmp_path: Path) -> Load:
    """Load a text as `name` (with the usual imports before it), options as for `load`."""

    def _load(text: str, name: str = "kernels.py", header: str = HEADER, **options: Any) -> FileResult:
        kernels = frozenset(options.pop("kernels", ()))
        whole = header + textwrap.dedent(text)
        return load(SourceFile(tmp_path / name, name, whole, kernels), **options)

    return _load
