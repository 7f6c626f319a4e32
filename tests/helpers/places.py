"""Where things are in this checkout, and how its books of known answers are read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
OPS = FIXTURES / "ops"


@lru_cache
def read_book(path: Path) -> dict[str, Any]:
    """What stands in a file of YAML; by way of libyaml, as some have ten thousand lines and each process reads them."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 - both are safe
    return found
