"""Runs of kernels need torch, which one of the two test environments lacks."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
HAS_TORCH = find_spec("torch") is not None


@pytest.fixture
def needs_torch() -> None:
    if not HAS_TORCH:
        pytest.skip("torch is not installed")
