"""Keeps Python's cyclic garbage collector out of work that makes many objects and no garbage."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_ENOUGH = 200_000  # objects: some 30 MiB
_pauses = 0  # blocks below that switched the collector off


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic collection in this block.

    Syntax trees live as long as the run, and the collector would walk all of those read so far
    again and again: that took over half of the time of loading a library.
    """
    global _pauses
    if not gc.isenabled():
        yield
        return
    gc.disable()
    _pauses += 1
    try:
        yield
    finally:
        _pauses -= 1
        gc.enable()


def sweep() -> None:
    """Where the collector is paused: collect what has become garbage since, once there is enough of it.

    Triton leaves much in cycles, and the collector, running beside it, took a sixth of its time.
    """
    if _pauses and gc.get_count()[0] > _ENOUGH:
        gc.collect(0)


@contextlib.contextmanager
def out_of_collections() -> Iterator[None]:
    """What is there now is not walked by collections in this block.

    Does nothing in a process that keeps objects out of collections itself.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
