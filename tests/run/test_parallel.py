"""Kernels analysed in several processes: the same report, and one that dies takes one kernel with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.helpers.interrupts import children, hears_interrupts, lives
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.process.forked import Lost, Processes
from triton_mutlint.run import run as engine

CASES = FIXTURES / "cases"
KERNELS = sorted((CASES / "kernels").glob("[a-d]*.py"))
pytestmark = [pytest.mark.apart, pytest.mark.skipif(not hasattr(os, "fork"), reason="takes fork")]


class Told:
    """What came of each task: its items, and what was lost, with what to do then."""

    def __init__(self, instead: dict[int, list[int]] | None = None) -> None:
        self.items: dict[int, list[int]] = {}
        self.lost: dict[int, str] = {}
        self._instead = instead or {}

    def received(self, task: int, item: int) -> None:
        self.items.setdefault(task, []).append(item)

    def lose(self, task: int, lost: Lost) -> list[int]:
        self.lost[task] = lost.reason
        return self._instead.get(task, [])


def run(tasks: Iterable[int], jobs: int, work: Callable[[int], Iterator[int]], seconds: float = 60,
        instead: dict[int, list[int]] | None = None) -> Told:
    told = Told(instead)
    Processes(tasks, jobs, int, work, lambda item: seconds, told.received, told.lose).run()
    return told


def test_every_task_is_done_once_and_its_items_come_in_order() -> None:
    told = run(reversed(range(20)), 3, lambda i: iter(range(i)))
    assert told.items == {i: list(range(i)) for i in range(1, 20)}
    assert not told.lost


def test_a_process_that_dies_takes_its_task_alone_and_leaves_what_it_had_given() -> None:
    def work(task: int) -> Iterator[int]:
        yield task
        if task == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        yield -task

    told = run(range(8), 2, work, instead={3: [9]})
    assert told.lost == {3: "its process was ended by SIGKILL, perhaps for lack of memory"}
    assert told.items == {**{i: [i, -i] for i in range(8)}, 3: [3], 9: [9, -9]}


def test_a_process_that_does_not_answer_is_ended() -> None:
    def work(task: int) -> Iterator[int]:
        yield 0
        time.sleep(600 if task == 1 else 0)
        yield task

    started = time.monotonic()
    told = run(range(4), 2, work, seconds=1.0)
    assert told.lost == {1: "still running after 1 s"}
    assert told.items == {0: [0, 0], 1: [0], 2: [0, 2], 3: [0, 3]}
    assert time.monotonic() - started < 60


def test_what_a_task_raises_costs_itself() -> None:
    def work(task: int) -> Iterator[int]:
        yield task
        raise LookupError(f"task {task}")

    told = run(range(3), 1, work)
    assert told.lost == {i: f"its process raised LookupError: task {i}" for i in range(3)}
    assert told.items == {i: [i] for i in range(3)}


def test_no_process_is_left() -> None:
    told = run(range(3), 3, lambda i: iter([os.getpid()]))
    for (pid,) in told.items.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_report_is_the_same() -> None:
    command = [sys.executable, "-m", "triton_mutlint", "--format", "json", "--target", "cuda:90", "--exit-zero"]
    paths = [*map(str, KERNELS), "../bad/rejected_by_triton.py", "../bad/constant_prints.py"]
    one, several = (
        subprocess.run([*command, "--jobs", str(n), *paths], cwd=CASES, capture_output=True, text=True, check=True)
        for n in (1, 3)
    )
    assert several.stdout == one.stdout
    assert len(json.loads(one.stdout)["kernels"]) > 20
    assert several.stderr == one.stderr == ""


@pytest.mark.slow
def test_an_interrupt_ends_all_of_it() -> None:
    command = [sys.executable, "-m", "triton_mutlint", "--jobs", "2", "../bad/endless_unrolling.py"]
    process = subprocess.Popen(command, cwd=CASES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, preexec_fn=hears_interrupts)
    started = children(process.pid, at_least=1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.strip()) == (130, "")
    assert not any(lives(pid) for pid in started)


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_the_files_that_are_done(jobs: int, tmp_path: Path) -> None:
    kernel = "@triton.jit\ndef {name}(x):\n    tl.store(x, 1)\n\n\n"
    for i in range(4):
        body = "".join(kernel.format(name=f"k{i}_{j}") for j in range(3))
        (tmp_path / f"f{i}.py").write_text(f"import triton\nimport triton.language as tl\n\n\n{body}")
    told: list[tuple[int, int]] = []
    request = Request((".",), tmp_path, jobs=jobs)
    engine.run(request, lambda done, total, label: told.append((done, total)) if total else None)
    assert [total for _, total in told] == [4] * 12
    counts = [done for done, _ in told]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] >= 2  # two processes may each be at their last file


_WARM = """
import sys
from pathlib import Path
from triton_mutlint.config.request import Request
from triton_mutlint.run.lint import Run
from triton_mutlint.run.run import sources_of
from triton_mutlint.run.workers import KernelStep, Part
request = Request(("kernels/alias_params.py",), Path(sys.argv[1]), use_spec=False, targets=("cuda:90",))
(source,), _ = sources_of(request)
run = Run(request, lambda *_: None)
run.check([source])
run.warm_up()
before = set(sys.modules)
steps = list(run.steps(source, Part(0)))
assert [step.report.mutated for step in steps if isinstance(step, KernelStep) and step.report], steps
print(*sorted(name for name in set(sys.modules) - before if name.startswith("triton")))
"""


def test_what_lowering_imports_is_there_before_a_process_is_forked() -> None:
    """Triton's code generator imports Gluon: in each file's process that takes longer than a small kernel."""
    done = subprocess.run([sys.executable, "-c", _WARM, str(CASES)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
