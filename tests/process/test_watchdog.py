"""Limits are of CPU time; what hangs is ended, too, but much later."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest

from triton_mutlint.process.forked import Processes
from triton_mutlint.process.watchdog import HANGING, TooLongError, watched


def computes(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_waiting_for_others_is_no_computing() -> None:
    with watched(0.1):
        time.sleep(0.2)


@pytest.mark.parametrize(("work", "least"), [(computes, 0.05), (time.sleep, 0.05 * HANGING)])
def test_what_does_not_end_is_ended(work: Callable[[float], None], least: float) -> None:
    begun = time.monotonic()
    with pytest.raises(TooLongError, match=r"still running after 0.05 s"), watched(0.05):
        work(60)
    assert least <= time.monotonic() - begun < 30


def in_turn(*limits: float) -> None:
    for limit in limits:
        with watched(limit):
            computes(60)


@pytest.mark.parametrize(("limits", "said"), [((0.05, 30), "0.05"), ((30, 0.05), "0.2")])
def test_of_blocks_in_each_other_the_time_that_ends_first_counts(limits: tuple[float, ...], said: str) -> None:
    with pytest.raises(TooLongError, match=f"after {said} s"), watched(0.2):
        in_turn(*limits)


def test_the_block_around_it_is_watched_again() -> None:
    with pytest.raises(TooLongError, match=r"after 0.2 s"), watched(0.2):
        around()


def around() -> None:
    with contextlib.suppress(TooLongError):
        in_turn(0.05)
    computes(60)


@pytest.mark.apart
def test_a_process_that_waits_has_time() -> None:
    def work(task: int) -> Iterator[int]:
        (time.sleep if task else computes)(0.3 if task else 60)
        yield task

    found, lost = list[int](), list[str]()
    Processes([0, 1], 2, int, work, lambda _: 0.2, lambda _, item: found.append(item),
              lambda task, why: lost.append(f"{task}: {why.reason}") or ()).run()
    assert (found, lost) == ([1], ["0: still running after 0.2 s"])
