"""Keeps Python's cyclic garbage collector out of work that makes many objects and no garbage."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic collection in this block.

    Syntax trees live as long as the run, and the collector would walk all of those read so far
    again and again: that took over half of the time of loading a library.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
