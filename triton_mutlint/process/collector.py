"""Keeps Python's cyclic garbage collector out of work that makes many objects and little garbage."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_ENOUGH = 200_000  # objects: some 30 MiB


@contextlib.contextmanager
def seldom_collected() -> Iterator[None]:
    """Cyclic collections are rare in this block, and look at young objects alone.

    Syntax trees live as long as the run, and the collector would walk all of those read so far again and again: that
    took over half of the time of loading a library. Triton leaves much in cycles, but dies young.
    """
    before = gc.get_threshold()
    gc.set_threshold(_ENOUGH, 10, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
