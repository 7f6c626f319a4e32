"""The process that others are forked from, so that torch and Triton are imported once.

Reads jobs from standard input, one line of JSON each, and writes what their runs showed to standard output.
It never touches a device, nor runs a kernel itself. Ends with its input.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import time
from typing import Any

from triton_mutlint.verify.wire import Job, RunResult, dump, job_from

GRACE = 3.0  # seconds after the limit before a process that does not stop by itself is ended
LOADING = 75.0  # seconds until the first run begins
_SHARED = ("triton.runtime.interpreter", "triton.language.extra.cuda.libdevice", "triton.tools.tensor_descriptor",
           "triton.experimental.gluon",  # Triton's launcher imports it, and it minds whether kernels are interpreted
           "triton.backends.compiler", "triton.runtime.driver", "triton_mutlint.verify.running.child",
           "triton_mutlint.verify.running.runtime")
MAX_LOST = 2  # processes that may be lost over one kernel


class InputEndedError(Exception):
    """Nobody waits for results any more."""


def main() -> None:
    """Serve jobs until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    _silence()
    _prepare()
    out.write('{"ready": true}\n')
    out.flush()
    for line in iter(_read_line, ""):
        job = job_from(json.loads(line))
        try:
            _serve(job, out)
        except InputEndedError:
            return
        out.write('{"done": true}\n')
        out.flush()


def _read_line() -> str:
    """One line of standard input, unbuffered: `select` must see what is left."""
    data = bytearray()
    while not data.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            return ""
        data += piece
    return data.decode()


def _silence() -> None:
    """Kernels print; nobody asked."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(null, number)


def _prepare() -> None:
    """Import what every child needs."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)  # a child of a process with threads must not wait for them
    for name in _SHARED:
        importlib.import_module(name)


def _serve(job: Job, out: Any) -> None:
    left = list(range(len(job.runs)))
    lost = 0
    while left:
        running, left, message = _attempt(job, left, out)
        if running is None and not left:
            return
        lost += 1
        if message[0] == "broken":
            pass
        elif running is not None:
            out.write(dump(RunResult(running, *message)) + "\n")
        elif left:
            out.write(dump({"fatal": f"loading it for a run failed: {message[1]}"}) + "\n")
            return
        if lost >= MAX_LOST:
            out.write(dump({"given_up": len(left)}) + "\n")
            return


def _attempt(job: Job, wanted: list[int], out: Any) -> tuple[int | None, list[int], tuple[str, str]]:
    """Make runs in one child: the run that ended it, those that are left, and how it ended."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(job, wanted, writer)
    os.close(writer)
    left, running = list(wanted), None
    killed = broken = ""
    try:
        for line in _lines(reader, pid, job.timeout + GRACE):
            told = json.loads(line)
            if "start" in told:
                running = told["start"]
                left = [number for number in left if number > running]  # those before it were left out
                continue
            if "run" in told:
                running = None
            elif "fatal" in told or "given_up" in told:
                left.clear()
            elif "broken" in told:
                broken = "after a fault"
                continue
            elif "late" in told:
                killed = f"still running after {job.timeout:g} s, and did not stop"
                continue
            out.write(line + "\n")
            out.flush()
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.close(reader)
    status = os.waitpid(pid, 0)[1]
    if broken:
        return running, left, ("broken", broken)
    return running, left, ("timeout", killed) if killed else _ending(job, status)


def _ending(job: Job, status: int) -> tuple[str, str]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:
            return "memory", f"ended by the system, which happens at {job.memory} MiB"
        return "fault", f"ended by {signal.Signals(number).name}: an access that is not allowed" if number in (
            signal.SIGSEGV, signal.SIGBUS) else f"ended by {signal.Signals(number).name}"
    return "fault", f"the process ended itself with exit code {os.WEXITSTATUS(status)}"


def _child(job: Job, wanted: list[int], writer: int) -> None:
    """Never returns."""
    code = 0
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from triton_mutlint.verify.running.child import work

        def tell(what: Any) -> None:
            os.write(writer, (dump(what) + "\n").encode())

        try:
            work(job, wanted, tell)
        except BaseException as error:  # told instead of lost: the process ends here in any case
            tell({"fatal": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(code)


def _lines(reader: int, pid: int, limit: float) -> Any:
    """What the child says, line by line; a child that is late is ended. Raises InputEndedError."""
    buffer = b""
    deadline = time.monotonic() + max(LOADING, limit)
    while True:
        ready, _, _ = select.select([reader, 0], [], [], max(0.0, deadline - time.monotonic()))
        if 0 in ready:
            raise InputEndedError
        if not ready:
            yield '{"late": true}'
            os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + GRACE
            continue
        data = os.read(reader, 1 << 16)
        if not data:
            return
        deadline = time.monotonic() + limit
        *lines, buffer = (buffer + data).split(b"\n")
        yield from (line.decode() for line in lines)


if __name__ == "__main__":
    main()
