"""Each task in a process of its own, which can answer and do nothing else: what becomes of it concerns no other task.

A process answers in lines of JSON (packing.py), which cannot run code where they are read.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

from triton_mutlint.packing import pack, unpack
from triton_mutlint.process import capture
from triton_mutlint.process.inputs import Inputs, apart, spoil, take_in
from triton_mutlint.process.watchdog import Limit, clock_of

T = TypeVar("T")
Item = TypeVar("Item")

CAN_FORK = hasattr(os, "fork")
_SHOWN = 5  # lines of what a process printed before it died
_DYING = 2.0  # seconds that a process may take to end once it has closed its pipe
_ANSWER = 256 << 20  # bytes of one answer
_CHUNK = 1 << 20
_NATIVE = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)  # by which native code ends it


@dataclass(frozen=True)
class Lost:
    """A task whose process died or did not answer in time: why, and the last lines that the process printed.

    `last` is the last item that it gave.
    """

    reason: str
    printed: tuple[str, ...] = ()
    is_late: bool = False
    last: Any = None


class _LostError(Exception):
    """Nothing more is expected of a process; it holds what is `Lost`."""


@dataclass
class _Worker(Generic[T]):
    task: T
    pid: int
    pipe: int  # where its answers are read
    printed: int  # the open file that it prints into
    limit: Limit  # for the next answer
    begun: bytes = b""  # of an answer
    last: Any = None  # item that it gave

    def expect(self, seconds: float) -> None:
        self.limit = Limit.of(seconds, self.limit.clock)

    def answers(self) -> Iterator[list[Any]]:
        """What has arrived. Raises _LostError once nothing more will, or too much has."""
        data = os.read(self.pipe, _CHUNK)
        if not data:
            raise _LostError(Lost(_how_it_ended(self.end(_DYING)), _printed(self.printed)))
        *lines, self.begun = (self.begun + data).split(b"\n")
        for line in lines:
            yield json.loads(line)
        if len(self.begun) > _ANSWER:
            raise _LostError(Lost("its answer has no end"))

    def end(self, patience: float = 0.0) -> int | None:
        """End the process; how it ended, if it does so by itself within `patience` seconds."""
        end = time.monotonic() + patience
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            while patience:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    return status
                if time.monotonic() > end:
                    break
                time.sleep(0.005)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        return None

    def close(self) -> None:
        self.end()
        os.close(self.pipe)
        os.close(self.printed)


@dataclass(eq=False)
class Processes(Generic[T, Item]):
    """Runs `work(task)` for each of `tasks`, each in a process forked from this one, `jobs` of them at a time.

    `received` is given each item that `work` yields, which must be of the type `kind`, as it comes. After an item,
    a process may compute for `seconds` of it until the next one, after the beginning those of None; then it is ended,
    and so it is when it hangs (watchdog.py). A task whose process dies, hangs or raises is lost: `lost` is told, and
    gives what to do in its place. Without `jobs`, and where a process cannot be forked, all work is done in this one,
    and nothing is ended. A process first puts itself into the bounds that `bound` sets (confined.py), which is told
    which open files it needs; `keep` are more of them. `done` is told when all of a task has been done, and what was
    read for it.

    `run` does it all. In a `with` block, the first task is begun, and `finish` does the rest; all processes are ended
    with the block.
    """

    tasks: Iterable[T]
    jobs: int
    kind: Any
    work: Callable[[T], Iterator[Item]]
    seconds: Callable[[Item | None], float]
    received: Callable[[T, Item], None]
    lost: Callable[[T, Lost], Iterable[T]]
    bound: Callable[[Iterable[int]], None] | None = None
    keep: Iterable[int] = ()
    done: Callable[[T, Inputs | None], None] = lambda task, noted: None

    def __post_init__(self) -> None:
        self._pending = [*self.tasks][::-1]
        self._workers: list[_Worker[T]] = []
        self._are_apart = self.jobs > 0 and CAN_FORK

    def run(self) -> None:
        with self:
            self.finish()

    def __enter__(self) -> Processes[T, Item]:
        if self._are_apart:
            gc.freeze()  # what is there now is no garbage, and a child need not copy it to look
            self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        if self._are_apart:
            gc.unfreeze()
        for worker in self._workers:
            worker.close()

    def finish(self) -> None:
        """The time for the first items counts from now."""
        while self._pending and not self._are_apart:
            task = self._pending.pop()
            with apart() as noted:
                for item in self.work(task):
                    self.received(task, item)
            self._end(task, noted)
        for worker in self._workers:
            worker.expect(worker.limit.seconds)
        while self._pending or self._workers:
            self._begin()
            for worker in _ready(self._workers):
                if self._take(worker):
                    self._workers.remove(worker)
                    worker.close()

    def _begin(self) -> None:
        while self._pending and len(self._workers) < self.jobs:
            self._workers.append(self._started(self._pending.pop()))

    def _end(self, task: T, noted: Inputs | None) -> None:
        take_in(noted)
        self.done(task, noted)

    def _take(self, worker: _Worker[T]) -> bool:
        """Take what a process has answered; whether nothing more will come."""
        try:
            return self._has_ended(worker)
        except _LostError as error:
            spoil()  # the next run may have better luck
            self._pending.extend(self.lost(worker.task, replace(error.args[0], last=worker.last)))
            return True

    def _has_ended(self, worker: _Worker[T]) -> bool:
        """Raises _LostError where the process is lost."""
        if worker.limit.left <= 0:
            raise _LostError(Lost(f"still running after {worker.limit.seconds:g} s", is_late=True))
        try:
            for word, answer in worker.answers():
                if word == "done":
                    self._end(worker.task, unpack(answer, Inputs) if answer else None)
                    return True
                if word == "error":
                    lines = str(answer).strip().splitlines()
                    shown = lines if os.environ.get("TRITON_MUTLINT_DEBUG") else lines[-_SHOWN:-1]
                    raise _LostError(Lost(f"its process raised {lines[-1] if lines else 'an exception'}", tuple(shown)))
                item = unpack(answer, self.kind)
                worker.expect(self.seconds(item))
                self.received(worker.task, item)
                worker.last = item
        except (ValueError, TypeError, RecursionError) as error:
            raise _LostError(Lost(f"its process answered what cannot be read ({error})")) from error
        return False

    def _started(self, task: T) -> _Worker[T]:
        ours, theirs = os.pipe()
        printed = capture.unnamed_file()
        capture.flush()  # or the child would print it again
        with warnings.catch_warnings():
            # Python 3.12 warns where another thread may hold a lock. This tool starts none in a process that forks;
            # where it is used as a library, the child takes no lock that a thread of the caller's could hold but the
            # allocator's, which is made for it.
            warnings.filterwarnings("ignore", r".*multi-threaded.*fork", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            try:
                capture.print_into(printed)
                os.close(ours)
                if self.bound is not None:
                    self.bound({theirs, printed, *self.keep})
                _answer(task, self.work, theirs)
            finally:
                os._exit(1)
        os.close(theirs)
        return _Worker(task, pid, ours, printed, Limit.of(self.seconds(None), partial(clock_of, pid)))


def _ready(workers: list[_Worker[T]]) -> list[_Worker[T]]:
    """Workers that have answered, have died, or are over their time."""
    left = max(0.0, min(w.limit.left for w in workers))
    poll = select.poll()
    for worker in workers:
        poll.register(worker.pipe, select.POLLIN)
    answered = {pipe for pipe, _ in poll.poll(left * 1000)}
    return [w for w in workers if w.pipe in answered or w.limit.left <= 0]


def _how_it_ended(status: int | None) -> str:
    """Why a process is no more, by what `waitpid` says of it."""
    if status is None:
        return "its process stopped answering"
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"its process was ended from within, with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    if -code in _NATIVE:
        return f"its process was ended by {name}: native code, most likely Triton's compiler, gave up"
    return f"its process was ended by {name}{', perhaps for lack of memory' if -code == signal.SIGKILL else ''}"


def _printed(place: int) -> tuple[str, ...]:
    """The last lines that a process printed."""
    size = os.fstat(place).st_size
    start = max(0, size - capture.LIMIT)
    text = os.pread(place, size - start, start).decode("utf-8", "replace")
    return tuple(line.rstrip() for line in text.splitlines() if line.strip())[-_SHOWN:]


def _answer(task: T, work: Callable[[T], Iterator[Item]], pipe: int) -> NoReturn:
    """Do the task; never return into the code that forked."""
    leave = os._exit
    try:
        # It ends with its parent, and the parent says what happened: faulthandler would, and may hand a signal of
        # native code to LLVM's handler, and that one back, without end.
        for one in (signal.SIGINT, *_NATIVE):
            signal.signal(one, signal.SIG_DFL)
        with apart() as inputs:
            try:
                for item in work(task):
                    _send(pipe, "item", pack(item))
                # Not with the values of the environment: they are secrets for all that is known.
                _send(pipe, "done", "" if inputs is None else pack(replace(inputs, environment={})))
            except Exception:  # told where the task was given
                _send(pipe, "error", traceback.format_exc())
    finally:
        leave(0)


def _send(pipe: int, word: str, answer: str) -> None:
    with open(pipe, "wb", closefd=False) as out:
        out.write(json.dumps([word, answer]).encode() + b"\n")
