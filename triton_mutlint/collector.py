"""Python's cyclic garbage collector, held back during a run."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

THRESHOLDS = (50_000, 10, 10)  # of the three generations; Python has (700, 10, 10)


@contextlib.contextmanager
def collector_relaxed() -> Iterator[None]:
    """Rare collections in this block.

    Syntax trees and reports live as long as the run, and the collector would walk them again and again:
    that took an eighth of the time of linting a few hundred kernels.
    """
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
