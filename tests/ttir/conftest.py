"""Shared fixtures of the TTIR tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.helpers.ttir_lowering import CASES


@pytest.fixture
def kernels_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets the case files be imported by name, and forgets them afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(CASES / "kernels"))
    yield
    for name in set(sys.modules) - before:
        if (CASES / "kernels" / f"{name}.py").exists():
            del sys.modules[name]
