"""Kernels analysed in several processes: the same report, and one that dies takes one kernel with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from triton_mutlint.parallel import Lost, in_processes

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="takes fork")


def ignore(task: int) -> None:
    """Nobody wants to know."""


def test_every_task_is_done_once_and_told_of() -> None:
    told: list[int] = []
    results = in_processes(reversed(range(20)), 3, lambda i: i * i, 60, told.append)
    assert results == {i: i * i for i in range(20)}
    assert sorted(told) == list(range(20))


def test_a_process_that_dies_takes_its_task_alone() -> None:
    def work(task: int) -> int:
        if task == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    results = in_processes(range(8), 2, work, 60, ignore)
    assert results.pop(3) == Lost("the process that analysed it died")
    assert results == {i: i for i in range(8) if i != 3}


def test_a_process_that_does_not_answer_is_ended() -> None:
    started = time.monotonic()
    results = in_processes(range(4), 2, lambda i: time.sleep(600) if i == 1 else i, 1.0, ignore)
    assert results == {0: 0, 1: Lost("it did not end in time"), 2: 2, 3: 3}
    assert time.monotonic() - started < 60


def test_what_a_task_raises_is_raised() -> None:
    def work(task: int) -> int:
        raise LookupError(f"task {task}")

    with pytest.raises(LookupError, match="task 0"):
        in_processes(range(3), 1, work, 60, ignore)


def test_no_process_is_left(tmp_path: Path) -> None:
    in_processes(range(3), 3, lambda i: (tmp_path / str(os.getpid())).write_text(""), 60, ignore)
    for path in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


@pytest.mark.parametrize("jobs", [2, 5])
def test_the_report_is_the_same(jobs: int) -> None:
    pytest.importorskip("triton")
    command = [sys.executable, "-m", "triton_mutlint", "--format", "json", "--target", "cuda:90", "--exit-zero"]
    paths = ["kernels", "../bad/rejected_by_triton.py", "../bad/constant_prints.py"]
    one, several = (
        subprocess.run([*command, "--jobs", str(n), *paths], cwd=CASES, capture_output=True, text=True, check=True)
        for n in (1, jobs)
    )
    assert several.stdout == one.stdout
    assert len(json.loads(one.stdout)["kernels"]) > 70
    assert several.stderr == one.stderr == ""


def test_an_interrupt_ends_all_of_it() -> None:
    pytest.importorskip("triton")
    command = [sys.executable, "-m", "triton_mutlint", "--jobs", "2", "../bad/endless_unrolling.py"]
    process = subprocess.Popen(command, cwd=CASES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    time.sleep(4)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.strip()) == (130, "")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
