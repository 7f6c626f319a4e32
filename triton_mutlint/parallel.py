"""Doing tasks in forked processes: what a process that dies was at is lost, and nothing else."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NoReturn, TypeVar

from triton_mutlint.inputs import apart, spoil, take_in

T = TypeVar("T")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Lost:
    """A task whose process died or did not answer in time."""

    reason: str


@dataclass(frozen=True)
class _End:
    """The last answer to a task: nothing, or what it raised."""

    error: Exception | None = None


@dataclass
class _Worker(Generic[T]):
    pid: int
    pipe: Connection
    tasks: list[T]  # the one at work, if any
    deadline: float = 0.0


def in_processes(tasks: Iterable[T], jobs: int, work: Callable[[T], Iterator[Item]], seconds: float,
                 received: Callable[[T, Item], None], lost: Callable[[T, Lost], Iterable[T]]) -> None:
    """Run `work(task)` for each of `tasks`, in `jobs` processes forked from this one, the first ones first.

    `received` is given each item that `work` yields, which must be picklable, as it comes. `seconds` may pass
    between two items; then the process is ended. Of a task that is lost `lost` is told, and gives what to do
    in its place. Raises what `work` raises.
    """
    pending = list(reversed(list(tasks)))
    workers: list[_Worker[T]] = []
    try:
        while pending or any(w.tasks for w in workers):
            while pending and len(workers) < jobs:
                workers.append(_start(work, [w.pipe for w in workers]))
            for worker in workers:
                if not worker.tasks and pending:
                    worker.tasks.append(pending.pop())
                    worker.deadline = time.monotonic() + seconds
                    worker.pipe.send(worker.tasks[0])
            for worker in _ready(workers):
                answer = _answer(worker)
                if isinstance(answer, Lost):
                    workers.remove(worker)
                    _stop(worker)
                    spoil()  # the next run may have better luck
                    pending.extend(lost(worker.tasks[0], answer))
                elif not isinstance(answer, _End):
                    worker.deadline = time.monotonic() + seconds
                    received(worker.tasks[0], answer)
                elif answer.error is not None:
                    raise answer.error
                else:
                    worker.tasks.clear()
    finally:
        for worker in workers:
            _stop(worker)


def _ready(workers: list[_Worker[T]]) -> list[_Worker[T]]:
    """Workers that have answered, have died, or are over their time."""
    busy = [w for w in workers if w.tasks]
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


def _start(work: Callable[[T], Iterator[Item]], others: list[Connection]) -> _Worker[T]:
    ours, theirs = multiprocessing.Pipe()
    pid = os.fork()
    if pid == 0:
        for pipe in (ours, *others):
            pipe.close()
        _serve(work, theirs)
    theirs.close()
    return _Worker(pid, ours, [])


def _serve(work: Callable[[T], Iterator[Item]], pipe: Connection) -> NoReturn:
    """Answer until the other end is closed; never return into the code that forked."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends with its parent, and says nothing
        faulthandler.disable()  # likewise
        with apart() as inputs:
            while True:
                task = pipe.recv()
                end = _End()
                try:
                    for item in work(task):
                        pipe.send((item, None))
                except Exception as error:  # raised again where the task was given
                    end = _End(error)
                pipe.send((end, None if inputs is None else inputs.news()))
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
