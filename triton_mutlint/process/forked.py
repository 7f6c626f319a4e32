"""Doing tasks in forked processes: what a process that dies was at is lost, and nothing else."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NoReturn, TypeVar

from triton_mutlint.process import capture
from triton_mutlint.process.inputs import apart, spoil, take_in

T = TypeVar("T")
Item = TypeVar("Item")

_SHOWN = 5  # lines of what a process printed before it died
_DYING = 2.0  # seconds that a process may take to end once it has closed its pipe


@dataclass(frozen=True)
class Lost:
    """A task whose process died or did not answer in time: why, and the last lines that the process printed."""

    reason: str
    printed: tuple[str, ...] = ()


class RemoteError(Exception):
    """Shows where in another process an error was raised: it stands as the error's cause."""


@dataclass(frozen=True)
class _End:
    """The last answer to a task: nothing, or what it raised, and where."""

    error: Exception | None = None
    trace: str = ""


@dataclass
class _Worker(Generic[T]):
    pid: int
    pipe: Connection
    printed: int  # the open file that it prints into
    tasks: list[T]  # the one at work, if any
    seconds: float = 0.0  # until the next answer is due
    deadline: float = 0.0

    def expect(self, seconds: float) -> None:
        self.seconds, self.deadline = seconds, time.monotonic() + seconds


class Processes(Generic[T, Item]):
    """Runs `work(task)` for each of `tasks`, in `jobs` processes forked from this one, the first ones first.

    `received` is given each item that `work` yields, which must be picklable, as it comes. After an item, `seconds` of
    it may pass until the next one, after the beginning those of None; then the process is ended. Of a task that is lost
    `lost` is told, and gives what to do in its place. Without `jobs`, and where a process cannot be forked, all work is
    done in this one, and nothing is ended.

    `run` does it all. In a `with` block, the first task is begun, and `finish` does the rest; all processes are ended
    with the block.
    """

    def __init__(self, tasks: Iterable[T], jobs: int, work: Callable[[T], Iterator[Item]],
                 seconds: Callable[[Item | None], float],
                 received: Callable[[T, Item], None], lost: Callable[[T, Lost], Iterable[T]]) -> None:
        self._pending, self._jobs, self._work = list(reversed(list(tasks))), jobs, work
        self._seconds, self._received, self._lost = seconds, received, lost
        self._workers: list[_Worker[T]] = []
        self._are_apart = jobs > 0 and hasattr(os, "fork")

    def run(self) -> None:
        """Raises what `work` raises."""
        with self:
            self.finish()

    def __enter__(self) -> Processes[T, Item]:
        if self._are_apart:
            self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _stop(worker)

    def finish(self) -> None:
        """Raises what `work` raises. The time for the first items counts from now."""
        if not self._are_apart:
            while self._pending:
                task = self._pending.pop()
                for item in self._work(task):
                    self._received(task, item)
        for worker in self._workers:
            worker.expect(worker.seconds)
        while self._pending or any(w.tasks for w in self._workers):
            self._begin()
            for worker in _ready(self._workers):
                self._take(worker)

    def _begin(self) -> None:
        workers, pending = self._workers, self._pending
        while pending and len(workers) < self._jobs and all(w.tasks for w in workers):
            workers.append(_start(self._work, workers))
            _give(workers[-1], pending.pop(), self._seconds(None))
        for worker in [w for w in workers if not w.tasks][: len(pending)]:
            _give(worker, pending.pop(), self._seconds(None))

    def _take(self, worker: _Worker[T]) -> None:
        answer = _answer(worker)
        if isinstance(answer, Lost):
            self._workers.remove(worker)
            spoil()  # the next run may have better luck
            self._pending.extend(self._lost(worker.tasks[0], answer))
        elif not isinstance(answer, _End):
            worker.expect(self._seconds(answer))
            self._received(worker.tasks[0], answer)
        elif answer.error is not None:
            raise answer.error from RemoteError(f"\n{answer.trace}")
        else:
            worker.tasks.clear()


def _give(worker: _Worker[T], task: T, seconds: float) -> None:
    worker.tasks.append(task)
    worker.expect(seconds)
    with contextlib.suppress(OSError):  # it has died: that is found when its answer is waited for
        worker.pipe.send(task)


def _ready(workers: list[_Worker[T]]) -> list[_Worker[T]]:
    """Workers that have answered, have died, or are over their time."""
    busy = [w for w in workers if w.tasks]
    left = max(0.0, min((w.deadline for w in busy), default=0.0) - time.monotonic())
    answered = wait([w.pipe for w in busy], left)
    now = time.monotonic()
    return [w for w in busy if w.pipe in answered or w.deadline <= now]


def _answer(worker: _Worker[T]) -> Any:
    """The next answer of a worker; one that is lost is ended."""
    if not worker.pipe.poll():
        _stop(worker)
        return Lost(f"still running after {worker.seconds:g} s")
    try:
        answer, inputs = worker.pipe.recv()
    except (EOFError, OSError):
        printed = _printed(worker.printed)
        return Lost(_how_it_ended(_stop(worker, _DYING)), printed)
    take_in(inputs)
    return answer


def _how_it_ended(status: int | None) -> str:
    """Why a process is no more, by what `waitpid` says of it."""
    if status is None:
        return "its process stopped answering"
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"its process was ended from within, with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    if -code in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        return f"its process was ended by {name}: native code, most likely Triton's compiler, gave up"
    return f"its process was ended by {name}{', perhaps for lack of memory' if -code == signal.SIGKILL else ''}"


def _printed(place: int) -> tuple[str, ...]:
    """The last lines that a process printed."""
    size = os.fstat(place).st_size
    start = max(0, size - capture.LIMIT)
    text = os.pread(place, size - start, start).decode("utf-8", "replace")
    return tuple(line.rstrip() for line in text.splitlines() if line.strip())[-_SHOWN:]


def _start(work: Callable[[T], Iterator[Item]], others: list[_Worker[T]]) -> _Worker[T]:
    ours, theirs = multiprocessing.Pipe()
    printed = capture.unnamed_file()
    capture.flush()  # or the child would print it again
    with warnings.catch_warnings():
        # Python 3.12 warns where another thread may hold a lock. This tool starts none in a process that forks; where
        # it is used as a library, the child takes no lock that a thread of the caller's could hold but the allocator's,
        # which is made for it.
        warnings.filterwarnings("ignore", r".*multi-threaded.*fork", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            capture.print_into(printed)
            for pipe in (ours, *(worker.pipe for worker in others)):
                pipe.close()
            _serve(work, theirs)
        finally:
            os._exit(1)
    theirs.close()
    return _Worker(pid, ours, printed, [])


def _serve(work: Callable[[T], Iterator[Item]], pipe: Connection) -> NoReturn:
    """Answer until the other end is closed; never return into the code that forked."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends with its parent, and says nothing
        faulthandler.disable()  # the parent says what happened
        while True:
            task = pipe.recv()
            end = _End()
            with apart() as inputs:
                try:
                    for item in work(task):
                        pipe.send((item, None))
                except Exception as error:  # raised again where the task was given
                    end = _End(error, traceback.format_exc())
            pipe.send((end, inputs))
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _stop(worker: _Worker[T], patience: float = 0.0) -> int | None:
    """End a process and let go of it; how it ended, if it did so by itself within `patience` seconds."""
    worker.pipe.close()
    os.close(worker.printed)
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        end = time.monotonic() + patience
        while patience:
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                return status
            if time.monotonic() > end:
                break
            time.sleep(0.005)
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
    return None
