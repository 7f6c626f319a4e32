"""Golden files of reports: `make goldens` writes them anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent

Golden = Callable[[str, str], None]


@pytest.fixture
def golden() -> Golden:
    """Compare a text with the golden file of that name, or write it where UPDATE_GOLDENS is set."""

    def check(name: str, text: str) -> None:
        path = HERE / "golden" / name
        if os.environ.get("UPDATE_GOLDENS"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return check
