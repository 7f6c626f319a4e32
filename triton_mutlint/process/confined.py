"""A process that gives up what reaches beyond it: it may read and compute, and answer through what is open, no more.

Linux filters its system calls (seccomp, see syscalls.py): no file is opened for writing, made, renamed or removed, no
socket is opened, no program or process is started, nobody else is signalled. Its memory and the size of what it writes
are limited. docs/security.md says what is claimed.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple

from triton_mutlint.process import syscalls

MEMORY = 8 << 30  # bytes of data that a process may have
WRITTEN = 64 << 20  # bytes of any file that it has open for writing: what it prints
_NO_NEW_PRIVILEGES, _DIE_WITH_PARENT, _SECCOMP, _FILTER = 38, 1, 22, 2  # of prctl(2)
_KILL = 9


def confine(keep: Iterable[int], memory: int | None = MEMORY) -> None:
    """Confine this process, which is never undone; of its open files, `keep` and the standard ones stay open.

    Raises OSError if the system refuses; `unavailable` says whether it will.
    """
    limit(keep, memory)
    _filter_calls(_program(os.getpid()))


def limit(keep: Iterable[int], memory: int | None = MEMORY) -> None:
    """Limit what this process may take, for one that reads what may have no end and executes none of it.

    `memory` is in bytes; None does not limit it.
    """
    for number in {*map(int, os.listdir("/dev/fd"))} - {0, 1, 2, *keep}:  # noqa: PTH208 - half of the time
        with contextlib.suppress(OSError):  # the folder's own, closed since
            os.close(number)
    for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, WRITTEN)):
        if most is None:
            continue
        _, hard = resource.getrlimit(what)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))
    if sys.platform.startswith("linux"):
        _libc().prctl(_DIE_WITH_PARENT, _KILL, 0, 0, 0)


@functools.cache
def unavailable() -> str:
    """Why processes of this machine cannot be confined, or nothing; asked of a process made for it."""
    if not sys.platform.startswith("linux"):
        return f"{platform.system()} has no filter of system calls that an ordinary process can set"
    if platform.machine() not in syscalls.MACHINES or sys.byteorder != "little" or sys.maxsize < 1 << 32:
        return f"the system calls of {platform.machine()} are not known"
    program, _ = _program(0), _libc()  # of which the processes to come have most, as well
    pid = os.fork()
    if not pid:
        try:
            _filter_calls(program)
            os._exit(0)
        except BaseException:
            os._exit(1)
    return "" if os.waitpid(pid, 0)[1] == 0 else "the system refuses to filter system calls (seccomp)"


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _filter_calls(program: bytes) -> None:
    """Raises OSError if the system refuses."""
    libc = _libc()
    text = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(text))
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(_SECCOMP, _FILTER, filter_, 0, 0):
        raise OSError(ctypes.get_errno(), "the system refuses to filter system calls")


# ------------------------------------------------------- the program that the kernel runs for each call (seccomp(2))

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOWED, _REFUSED, _MISSING, _ENDED = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x80000000  # EPERM, ENOSYS
_NUMBER, _MACHINE = 0, 4  # where in the call's data they stand


class _Step(NamedTuple):
    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


def _program(pid: int) -> bytes:
    machine = syscalls.MACHINES.index(platform.machine())
    steps = []
    for name, others in syscalls.FOR_ITSELF:
        tests = [step for value in (pid, *others) for step in _if(_EQUAL, value, _ALLOWED)]
        steps += _when(syscalls.number(name, machine), _load(0), *tests, _Step(_RETURN, _REFUSED))
    return _for_all(machine) + _packed(*steps, _Step(_RETURN, _ALLOWED))


@functools.cache
def _for_all(machine: int) -> bytes:
    """The steps that every process shares: the first process makes them, and those forked from it have them."""
    steps = [_Step(_LOAD, _MACHINE), _Step(_EQUAL, syscalls.AUDIT[machine], 1, 0), _Step(_RETURN, _ENDED),
             _Step(_LOAD, _NUMBER), *_if(_AT_LEAST, syscalls.UNKNOWN, _MISSING)]
    for name in syscalls.REFUSED:
        steps += _when(syscalls.number(name, machine), _Step(_RETURN, _REFUSED))
    for name in syscalls.MISSING:
        steps += _when(syscalls.number(name, machine), _Step(_RETURN, _MISSING))
    for name, argument, bits in syscalls.REFUSED_WITH_BITS:
        steps += _when(syscalls.number(name, machine), _load(argument), *_if(_ANY_BIT, bits, _REFUSED))
    for name, bits in syscalls.REFUSED_WITHOUT_BITS:
        with_bits = _if(_ANY_BIT, bits, _ALLOWED)
        steps += _when(syscalls.number(name, machine), _load(0), *with_bits, _Step(_RETURN, _REFUSED))
    for name, values in syscalls.REFUSED_WITH:
        tests = [step for value in values for step in _if(_EQUAL, value, _REFUSED)]
        steps += _when(syscalls.number(name, machine), _load(1), *tests)
    return _packed(*steps)


def _packed(*steps: _Step) -> bytes:
    return b"".join(struct.pack("HBBI", step.code, step.if_true, step.if_false, step.value) for step in steps)


def _load(argument: int) -> _Step:
    """Look at the lower half of an argument."""
    return _Step(_LOAD, 16 + 8 * argument)


def _if(test: int, value: int, result: int) -> tuple[_Step, _Step]:
    """The result for the call if the test holds of what was loaded."""
    return _Step(test, value, 0, 1), _Step(_RETURN, result)


def _when(number: int | None, *then: _Step) -> list[_Step]:
    """`then` for the call of this number, and if that has no result, it is allowed."""
    if number is None:
        return []
    return [_Step(_EQUAL, number, 0, len(then) + 1), *then, _Step(_RETURN, _ALLOWED)]
