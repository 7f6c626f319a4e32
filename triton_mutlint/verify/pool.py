"""Runs jobs in processes of their own, some at a time, and collects what they showed."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from triton_mutlint.types import UsageError
from triton_mutlint.verify.model import Finished
from triton_mutlint.verify.wire import Job, RunResult, dump, result_from

Done = Callable[[int, Finished], None]  # which job, and what it gave


def run_jobs(jobs: Sequence[Job], processes: int, done: Done) -> list[Finished]:
    """What each job gave, in their order; `done` is told as they finish.

    Raises UsageError when the processes cannot start. Every process has ended on return, however that is.
    """
    work: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(jobs)):
        work.put(number)
    found: dict[int, Finished] = {}
    messages: queue.SimpleQueue[tuple[int, Finished] | Exception] = queue.SimpleQueue()
    device = jobs[0].device if jobs else "cpu"
    workers: list[_Worker] = []
    try:
        for _ in range(min(processes, len(jobs))):
            workers.append(_Worker(device))
        threads = [threading.Thread(target=_drain, args=(w, work, jobs, messages), daemon=True) for w in workers]
        for thread in threads:
            thread.start()
        while len(found) < len(jobs):
            message = _next(messages)
            if isinstance(message, Exception):
                raise message
            found[message[0]] = message[1]
            done(*message)
    finally:
        for worker in workers:
            worker.end()
    return [found[i] for i in range(len(jobs))]


def _next(messages: queue.SimpleQueue[tuple[int, Finished] | Exception]) -> tuple[int, Finished] | Exception:
    """The next message; an interrupt gets through between two looks."""
    while True:
        with contextlib.suppress(queue.Empty):
            return messages.get(timeout=0.2)


def _drain(worker: _Worker, work: queue.SimpleQueue[int], jobs: Sequence[Job],
           messages: queue.SimpleQueue[tuple[int, Finished] | Exception]) -> None:
    while True:
        try:
            number = work.get_nowait()
        except queue.Empty:
            return
        try:
            messages.put((number, worker.run(jobs[number])))
        except (UsageError, OSError, ValueError) as error:
            known = isinstance(error, UsageError)
            messages.put(error if known else UsageError(f"a process for runs was lost: {error}"))
            return


class _Worker:
    """One process to fork others from; restarted where it is lost."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._process: subprocess.Popen[str] | None = None

    def run(self, job: Job) -> Finished:
        """Raises UsageError where the process does not start."""
        process = self._ready()
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        try:
            process.stdin.write(dump(job) + "\n")
            process.stdin.flush()
        except OSError:
            self.end()
            return Finished(refused="the process for its runs ended")
        return self._collect(process.stdout)

    def _collect(self, lines: IO[str]) -> Finished:
        results: list[RunResult] = []
        refused, given_up = "", 0
        for line in lines:
            told = json.loads(line)
            if "done" in told:
                return Finished(tuple(sorted(results, key=lambda r: r.run)), refused, given_up)
            if "fatal" in told:
                refused = told["fatal"]
            elif "given_up" in told:
                given_up = told["given_up"]
            else:
                results.append(result_from(told))
        self.end()
        return Finished(tuple(results), refused or "the process for its runs ended")

    def _ready(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = self._start()
        return self._process

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "triton_mutlint.verify.zygote"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=_environment(self._device), start_new_session=True)
        self._process = process
        assert process.stdout is not None, "a pipe"
        assert process.stderr is not None, "a pipe"
        if not process.stdout.readline():
            lines = process.stderr.read().strip().splitlines()
            raise UsageError(f"the process for runs does not start: {lines[-1] if lines else 'no message'}")
        return process

    def end(self) -> None:
        """End the process and what it forked."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _environment(device: str) -> Mapping[str, str]:
    """This process's, with the interpreter on or off from the start: Triton's own functions are made then."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("TRITON_INTERPRET", None)
    if device == "cpu":
        environment["TRITON_INTERPRET"] = "1"
    return environment
