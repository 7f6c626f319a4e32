"""The globals of sliced code, as far as they are told from any others."""

from __future__ import annotations

from typing import Any


class Space(dict[str, Any]):
    """The globals of sliced code: a `Namespace`, which knows how to find and evaluate its names."""
