"""Doing many tasks in forked processes: what a process that dies was at is lost, and nothing else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NoReturn, TypeVar

from triton_mutlint.inputs import apart, spoil, take_in

T = TypeVar("T")


@dataclass(frozen=True)
class Lost:
    """A task whose process died or did not answer in time."""

    reason: str

    def __post_init__(self) -> None:
        spoil()  # the next run may have better luck


@dataclass
class _Worker(Generic[T]):
    pid: int
    pipe: Connection
    task: int | None = None
    deadline: float = 0.0


def in_processes(order: Iterable[int], jobs: int, work: Callable[[int], T], seconds: float,
                 done: Callable[[int], None]) -> dict[int, T | Lost]:
    """`work(i)` for each `i` of `order`, in `jobs` processes forked from this one, the first ones first.

    A result must be picklable. A task may take `seconds`; then its process is ended. `done` is told of
    each task as it ends. Raises what `work` raises.
    """
    pending = list(reversed(list(order)))
    workers: list[_Worker[T]] = []
    results: dict[int, T | Lost] = {}
    try:
        while pending or any(w.task is not None for w in workers):
            while pending and len(workers) < jobs:
                workers.append(_start(work, [w.pipe for w in workers]))
            for worker in workers:
                if worker.task is None and pending:
                    worker.task, worker.deadline = pending.pop(), time.monotonic() + seconds
                    worker.pipe.send(worker.task)
            for worker in _ready(workers):
                task = worker.task
                assert task is not None, "only a busy worker is waited for"
                outcome = _answer(worker)
                if isinstance(outcome, Lost):
                    workers.remove(worker)
                    _stop(worker)
                if isinstance(outcome, BaseException):
                    raise outcome
                results[task], worker.task = outcome, None
                done(task)
    finally:
        for worker in workers:
            _stop(worker)
    return results


def _ready(workers: list[_Worker[T]]) -> list[_Worker[T]]:
    """Workers that have answered, have died, or are over their time."""
    busy = [w for w in workers if w.task is not None]
    left = max(0.0, min((w.deadline for w in busy), default=0.0) - time.monotonic())
    answered = wait([w.pipe for w in busy], left)
    now = time.monotonic()
    return [w for w in busy if w.pipe in answered or w.deadline <= now]


def _answer(worker: _Worker[T]) -> Any:
    if not worker.pipe.poll():
        return Lost("it did not end in time")
    try:
        answer, inputs = worker.pipe.recv()
    except (EOFError, OSError):
        return Lost("the process that analysed it died")
    take_in(inputs)
    return answer


def _start(work: Callable[[int], T], others: list[Connection]) -> _Worker[T]:
    ours, theirs = multiprocessing.Pipe()
    pid = os.fork()
    if pid == 0:
        for pipe in (ours, *others):
            pipe.close()
        _serve(work, theirs)
    theirs.close()
    return _Worker(pid, ours)


def _serve(work: Callable[[int], T], pipe: Connection) -> NoReturn:
    """Answer until the other end is closed; never return into the code that forked."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends with its parent, and says nothing
        while True:
            task = pipe.recv()
            with apart() as inputs:
                try:
                    answer: Any = work(task)
                except Exception as error:  # raised again where the task was given
                    answer = error
            pipe.send((answer, inputs))
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _stop(worker: _Worker[T]) -> None:
    worker.pipe.close()
    try:
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
