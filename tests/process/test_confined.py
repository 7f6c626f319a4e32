"""A confined process can read and compute, and nothing else."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_mutlint.process.confined import MEMORY, confine, unavailable

pytestmark = pytest.mark.skipif(bool(unavailable()), reason=unavailable())
_PARENT = os.getpid()


def _confined(attempt: Callable[[], object]) -> str:
    """What comes of `attempt` in a confined process: its value, or the name of what it raised."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGABRT, signal.SIG_DFL)  # not pytest's handler, as in all processes that are confined
        try:
            confine([theirs])
            said = str(attempt())
        except BaseException as error:
            said = type(error).__name__
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        said = answer.read()
    status = os.waitpid(pid, 0)[1]
    return said if status == 0 else f"ended by {os.waitstatus_to_exitcode(status)}"


def _in_thread() -> int:
    found: list[int] = []
    thread = threading.Thread(target=found.append, args=(1,))
    thread.start()
    thread.join()
    return len(found)


@pytest.mark.parametrize(("attempt", "said"), [
    (lambda: Path(__file__).read_text() != "", "True"),
    (lambda: __file__ in map(str, Path(__file__).parent.iterdir()), "True"),
    (_in_thread, "1"),
    (lambda: os.kill(os.getpid(), 0), "None"),
    (lambda: os.write(os.memfd_create("x"), b"x"), "1"),
    (os.abort, f"ended by {-signal.SIGABRT}"),
])
def test_what_stays_possible(attempt: Callable[[], object], said: str) -> None:
    assert _confined(attempt) == said


@pytest.mark.parametrize("attempt", [
    lambda: os.open(__file__, os.O_WRONLY),
    lambda: os.open(__file__, os.O_RDWR),
    lambda: os.open(Path(__file__).parent, os.O_TMPFILE | os.O_RDWR),
    lambda: os.utime(__file__),
    lambda: Path(__file__).chmod(0o700),
    lambda: Path(__file__).rename(f"{__file__}.moved"),
    lambda: Path(f"{__file__}.folder").mkdir(),
    lambda: Path(f"{__file__}.link").symlink_to(__file__),
    os.fork,
    lambda: subprocess.run(["true"], check=False),
    lambda: os.execv("/bin/true", ["true"]),  # noqa: S606 - it is refused
    socket.socket,
    lambda: os.kill(_PARENT, 0),
    lambda: os.kill(0, 0),
    lambda: os.killpg(os.getpgid(_PARENT), 0),
    lambda: resource.prlimit(_PARENT, resource.RLIMIT_NOFILE, (64, 64)),
    lambda: os.sched_setaffinity(_PARENT, {0}),
    lambda: os.setpriority(os.PRIO_PROCESS, _PARENT, 19),
    os.setsid,
])
def test_what_is_refused(attempt: Callable[[], object]) -> None:
    assert _confined(attempt) == "PermissionError"


def test_calls_by_number_are_refused_too() -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def answer(number: int, *arguments: object) -> object:
        return libc.syscall(number, *arguments), ctypes.get_errno()

    assert _confined(lambda: answer(425, 1, 0)) == "(-1, 1)"  # io_uring_setup: its work would pass no filter
    assert _confined(lambda: answer(437, -100, b"/tmp", 0, 0)) == "(-1, 38)"  # openat2
    assert _confined(lambda: answer(10_000)) == "(-1, 38)"  # nobody knows it


def test_memory_has_a_limit() -> None:
    assert _confined(lambda: len(bytearray(MEMORY + 1))) == "MemoryError"


def test_files_of_the_parent_are_closed(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        number = file.fileno()
        assert _confined(lambda: os.write(number, b"x")) == "OSError"
    assert (tmp_path / "open").read_text() == ""
