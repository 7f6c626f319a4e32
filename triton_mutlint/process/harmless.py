"""While linted code runs, nothing outside of this process is changed, and nobody is waited for.

Python tells audit hooks of what reaches out of the process (https://docs.python.org/3/library/audit_events.html), by
whatever name a function was called. This keeps accidents out; it is no wall against code that means harm.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from triton_mutlint.process.confined import is_confined

_LOOKING = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr",
                      "os.putenv", "os.unsetenv"})  # of the family `os`: these change this process alone
_FAMILIES = frozenset({"fcntl", "ftplib", "http", "imaplib", "os", "poplib", "pty", "shutil", "signal", "smtplib",
                       "socket", "sqlite3", "subprocess", "syslog", "tempfile", "urllib", "webbrowser"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_UNTOLD = ("_exit", "abort", "mkfifo", "mknod")  # functions of `os` that no hook is told of
_blocks = 0  # that are open


@contextlib.contextmanager
def harmless() -> Iterator[None]:
    """In this block, what would change anything outside of the process raises PermissionError, and nothing sleeps.

    A confined process needs no guards for that.
    """
    global _blocks
    of_os, sleep = vars(os), time.sleep
    saved = {}
    if not is_confined():
        saved = {name: of_os[name] for name in _UNTOLD if name in of_os}
        _listen()
    _blocks += 1
    try:
        of_os.update((name, _refused(f"os.{name}")) for name in saved)
        vars(time)["sleep"] = lambda seconds: None
        yield
    finally:
        _blocks -= 1
        of_os.update(saved)
        vars(time)["sleep"] = sleep


@functools.cache
def _listen() -> None:
    sys.addaudithook(_told)  # which cannot be taken away again


def _told(event: str, args: tuple[Any, ...]) -> None:
    if not _blocks:
        return
    if event == "open":
        if args[2] & _WRITING:
            raise PermissionError(f"{args[0]}: nothing is written while a file is loaded")
    elif event.partition(".")[0] in _FAMILIES and event not in _LOOKING and not (
            event == "os.truncate" and isinstance(args[0], int)):  # by number: what this tool does to what is printed
        raise PermissionError(f"{event} is not run while a file is loaded")


def _refused(name: str) -> Callable[..., NoReturn]:
    def refused(*args: object, **kwargs: object) -> NoReturn:
        raise PermissionError(f"{name} is not run while a file is loaded")

    return refused
