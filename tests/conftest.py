"""What holds for all tests: where they run, in which order, and that none answers from what another one left."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from importlib.util import find_spec

import pytest

from triton_mutlint.process import forked

os.environ["TRITON_MUTLINT_NO_CACHE"] = "1"  # those of the cache turn it on themselves


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A run does its work in the process of its test, as where none can be forked: forking takes longer than most work.

    Tests that are marked `apart` have a process for each task, as users do.
    """
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("apart") is None:
            patch.setattr(forked, "CAN_FORK", False)
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs torch where there is none: one of the two environments has none, by design."""
    if find_spec("torch") is None:
        left_out = [item for item in items if item.get_closest_marker("torch")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("torch")]
    _what_takes_long_first(items)


def _what_takes_long_first(items: list[pytest.Item]) -> None:
    """Files with slow tests, then those with many: where processes share them, none is left with a long one at last."""
    count = Counter(item.path for item in items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, -count[item.path], item.path))
