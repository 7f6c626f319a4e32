"""The process that others are forked from, so that torch and Triton are imported once; and what starts it.

It reads all jobs from standard input, and writes what each gave to standard output. It never touches a device, nor runs
a kernel itself.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from triton_mutlint.basics import UsageError
from triton_mutlint.config.request import Progress, silent
from triton_mutlint.process.confined import confine
from triton_mutlint.process.forked import Lost, Processes
from triton_mutlint.verify.wire import LEFT_OUT, Begun, Finished, RunResult, Work

_GRACE = 3.0  # seconds after the limit before a process that does not stop by itself is ended
_LOADING = 75.0  # seconds until the first run begins, and between two runs
_CHILD = "triton_mutlint.verify.running.child"
_SHARED = ("triton.runtime.interpreter", "triton.language.extra.cuda.libdevice", "triton.tools.tensor_descriptor",
           "triton.experimental.gluon",  # Triton's launcher imports it, and it minds whether kernels are interpreted
           "triton.backends.compiler", "triton.runtime.driver")

_Task = tuple[int, tuple[int, ...]]  # a job, and the runs of it that are left
_Told = Begun | RunResult | Finished  # a run that begins, what it gave, what there is to say when all have ended


def run_jobs(jobs: Sequence[Work], progress: Progress = silent) -> list[Finished]:
    """What each job gave, in their order.

    Raises UsageError where the process for them does not start, or is lost. Every process has ended on return.
    """
    found: dict[int, Finished] = {}
    if not jobs:
        return []
    progress(0, len(jobs), f"running {jobs[0].name}")
    command = [sys.executable, "-m", "triton_mutlint.verify.running.server"]
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(  # noqa: S603 - this package
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
            env=_environment(jobs[0].settings.device)) as process:
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        try:
            pickle.dump(list(jobs), process.stdin)
            process.stdin.flush()
            while len(found) < len(jobs):
                number, finished = pickle.load(process.stdout)  # noqa: S301 - this package wrote it
                found[number] = finished
                progress(len(found), len(jobs), f"ran {jobs[number].name}")
        except (EOFError, OSError) as error:
            errors.seek(0)
            lines = errors.read().strip().splitlines()
            raise UsageError(f"the process for runs was lost: {lines[-1] if lines else 'no message'}") from error
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # and what it forked
    return [found[number] for number in range(len(jobs))]


def _environment(device: str) -> Mapping[str, str]:
    """This process's, with the interpreter on or off from the start: Triton's own functions are made then."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # asking for GPUs otherwise spoils them for what is forked
    environment.pop("TRITON_INTERPRET", None)
    if device == "cpu":
        environment["TRITON_INTERPRET"] = "1"
    return environment


def main() -> None:
    """Make the runs of all jobs."""
    out = os.fdopen(os.dup(1), "wb")
    jobs: list[Work] = pickle.load(sys.stdin.buffer)  # noqa: S301 - this package wrote it
    importlib.import_module("torch").set_num_threads(1)  # a child of a process with threads must not wait for them
    for name in (*_SHARED, *dict.fromkeys(job.worker for job in jobs)):
        importlib.import_module(name)
    settings = jobs[0].settings
    if settings.device == "cpu":
        importlib.import_module("triton_mutlint.verify.running.runtime").interpret_all()
    server = _Server(jobs, out)
    tasks: list[_Task] = [(number, tuple(range(len(job.runs)))) for number, job in enumerate(jobs)]
    Processes(tasks, min(settings.jobs, len(jobs)), _Told, server.work,
              lambda told: _GRACE + (told.seconds if isinstance(told, Begun) else max(_LOADING, settings.timeout)),
              server.received, server.lost, partial(_bound, settings.confined)).run()


def _bound(is_confined: bool, keep: Iterable[int]) -> None:
    """Kernels print, and nobody asked. A process limits its memory itself: it reserves more addresses than it uses."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)
    os.close(null)
    if is_confined:
        confine(keep, memory=None)


class _Server:
    """Collects what the processes tell, and passes on what each job gave in the end."""

    def __init__(self, jobs: Sequence[Work], out: BinaryIO) -> None:
        self._jobs, self._out = jobs, out
        self._results: list[list[RunResult]] = [[] for _ in jobs]
        self._lost = Counter[int]()

    def work(self, task: _Task) -> Iterator[_Told]:
        """In a forked process."""
        told: Iterator[_Told] = importlib.import_module(_CHILD).work(self._jobs[task[0]], task[1])
        return told

    def received(self, task: _Task, told: _Told) -> None:
        if isinstance(told, RunResult):
            self._results[task[0]].append(told)
        elif isinstance(told, Finished):
            self._end(task[0], told)

    def lost(self, task: _Task, loss: Lost) -> Iterable[_Task]:
        """The runs that are left go on in another process, once."""
        (number, wanted), last = task, loss.last
        self._lost[number] += 1
        if last is None and not self._results[number]:
            self._end(number, Finished(refused=f"loading it for a run failed: {loss.reason}"))
            return ()
        if isinstance(last, Begun):
            why = ("timeout", f"still running after {last.seconds:g} s, and did not stop")
            why = why if loss.is_late else ("fault", loss.reason.partition(":")[0])
            self._results[number].append(RunResult(last.run, *why))
        left = tuple(run for run in wanted if last is None or run > last.run)
        if left and self._lost[number] < self._jobs[number].most_lost:
            return [(number, left)]
        self._results[number] += [RunResult(run, *LEFT_OUT) for run in left]
        self._end(number, Finished())
        return ()

    def _end(self, number: int, finished: Finished) -> None:
        results = sorted(self._results[number], key=lambda result: result.run)
        pickle.dump((number, replace(finished, results=tuple(results))), self._out)
        self._out.flush()


if __name__ == "__main__":
    main()
