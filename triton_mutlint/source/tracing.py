"""What sliced code learns from the disk by itself is noted, and what cannot be noted is told.

Constants may depend on a file that exists, on what a folder holds or on the clock. The first two are asked of
functions of `os` and `io`, which note who asks while slices run; sizes and times of files, clocks, chance and installed
distributions are recognised by name in the code that is run, and nothing of such a run is kept.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from triton_mutlint.inputs import current, note_data, note_listing, note_path
from triton_mutlint.source.walking import walk

PRIVATE = "_mutlint_"  # begins the module name of every sliced function
_FRAMES = 10  # between sliced code and what `os.path`, `pathlib` and `glob` come down to
_UNTRACED = frozenset({
    "getsize", "getmtime", "getctime", "getatime", "st_size", "st_mtime", "st_mtime_ns", "st_ctime", "st_mode", "fstat",
    "find_spec", "find_loader", "find_module", "iter_modules", "walk_packages", "metadata", "entry_points",
    "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time_ns", "utcnow", "urandom", "uuid1", "uuid4",
    "getrandbits", "randbytes", "gethostname", "getpid", "getppid", "getlogin", "getuser", "getloadavg", "cpu_count",
    "sched_getaffinity", "disk_usage", "statvfs",
})
_UNTRACED_CALLS = frozenset({"time", "now", "today", "random", "randint", "randrange", "version", "distribution",
                             "uname", "node", "platform"})


def is_traced(body: Iterable[ast.AST]) -> bool:
    """Whether everything that the code may learn from outside is noted as it runs."""
    for node in (inner for outer in body for inner in walk(outer)):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _UNTRACED:
            return False
        if isinstance(node, ast.Call):
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if called in _UNTRACED_CALLS and not _is_language(function):
                return False
    return True


def _is_language(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "tl"


@contextlib.contextmanager
def traced() -> Iterator[None]:
    """`os` and `io` that note what sliced code asks them of the disk."""
    if current() is None:
        yield
        return
    of_os, of_io = vars(os), vars(io)
    notes: dict[str, Callable[[Any], object]] = {
        "stat": note_path, "lstat": note_path, "access": note_path, "readlink": note_path, "listdir": note_listing,
        "scandir": note_listing, "open": note_data,
    }
    saved, opening = {name: of_os[name] for name in notes}, of_io["open"]
    try:
        of_os.update({name: _noting(saved[name], note) for name, note in notes.items()})
        of_io["open"] = _noting(opening, note_data)
        yield
    finally:
        of_os.update(saved)
        of_io["open"] = opening


def _noting(function: Callable[..., Any], note: Callable[[Any], object]) -> Callable[..., Any]:
    def asked(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        if isinstance(path, (str, bytes, os.PathLike)) and _by_slice():
            note(os.fsdecode(path))
        return function(path, *args, **kwargs)

    return asked


def _by_slice() -> bool:
    """Whether sliced code asks, directly or by way of the standard library."""
    frame: Any = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return False
        name = frame.f_globals.get("__name__") or ""
        if name.startswith(PRIVATE):
            return True
        if name.startswith("triton_mutlint."):
            return False
        frame = frame.f_back
    return False
