"""What sliced code learns from outside by itself is noted, and what cannot be noted is told.

Constants may depend on a file that exists, on what a folder holds or on the clock. The first two are asked of
functions of `os` and `io`, which note who asks while slices run. Sizes and times of files, clocks, chance and installed
distributions cannot be noted, and nothing of such a run is kept: `time.time()` and its like tell when they are called,
the others are recognised by name in the code that is run, called or not. The number of the process is always the same.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from triton_mutlint.process.inputs import current, note_data, note_listing, note_path, spoil
from triton_mutlint.source.walking import walk

PRIVATE = "_mutlint_"  # begins the module name of every sliced function
_FRAMES = 10  # between sliced code and what `os.path`, `pathlib` and `glob` come down to
_UNTRACED_CALLS = frozenset({"time", "now", "today", "random", "randint", "randrange", "version", "distribution",
                             "uname", "node", "platform"})
# What tells when it is called, by the module that it is an attribute of.
_TELLING = {
    os: ("getlogin", "getloadavg", "cpu_count", "sched_getaffinity", "urandom", "fstat", "statvfs", "uname"),
    time: ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"),
}
_PROCESSES = ("getpid", "getppid")
_PROCESS = 1  # what they say: a verdict that depends on it would be another one in each run
_TELLS = frozenset((module.__name__, name) for module, names in _TELLING.items() for name in names) | {
    ("os", name) for name in _PROCESSES}
# What else cannot be noted, called or not; the others unless they are asked of their module (`os.fstat`).
_UNTRACED = frozenset({
    "getsize", "getmtime", "getctime", "getatime", "st_size", "st_mtime", "st_mtime_ns", "st_ctime", "st_mode",
    "find_spec", "find_loader", "find_module", "iter_modules", "walk_packages", "metadata", "entry_points",
    "utcnow", "uuid1", "uuid4", "getrandbits", "randbytes", "gethostname", "getuser", "disk_usage",
}) | ({name for _, name in _TELLS} - _UNTRACED_CALLS)


def is_traced(body: Iterable[ast.AST]) -> bool:
    """Whether everything that the code may learn from outside is noted as it runs."""
    for node in (inner for outer in body for inner in walk(outer)):
        if _name(node) in _UNTRACED and not _tells(node):
            return False
        if isinstance(node, ast.Call) and _name(node.func) in _UNTRACED_CALLS and not _tells(node.func):
            return False
    return True


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _tells(node: ast.AST) -> bool:
    """Whether calling it is noted, or says nothing of the world outside (`tl.random`)."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == "tl" or (node.value.id, node.attr) in _TELLS


@contextlib.contextmanager
def traced() -> Iterator[None]:
    """`os`, `io` and `time` that note what sliced code asks of them."""
    stand_ins: dict[ModuleType, dict[str, Any]] = _noters() if current() is not None else {os: {}}
    stand_ins[os].update((name, _fixed(vars(os)[name])) for name in _PROCESSES)
    saved = {module: {name: vars(module)[name] for name in names} for module, names in stand_ins.items()}
    try:
        for module, functions in stand_ins.items():
            vars(module).update(functions)
        yield
    finally:
        for module, functions in saved.items():
            vars(module).update(functions)


def _noters() -> dict[ModuleType, dict[str, Any]]:
    notes: dict[str, Callable[[Any], object]] = {
        "stat": note_path, "lstat": note_path, "access": note_path, "readlink": note_path, "listdir": note_listing,
        "scandir": note_listing, "open": note_data,
    }
    found: dict[ModuleType, dict[str, Any]] = {
        module: {name: _telling(vars(module)[name]) for name in names if name in vars(module)}
        for module, names in _TELLING.items()}
    found[os].update((name, _noting(vars(os)[name], note)) for name, note in notes.items())
    found[io] = {"open": _noting(vars(io)["open"], note_data)}
    return found


def _fixed(function: Callable[[], int]) -> Callable[[], int]:
    def asked() -> int:
        return _PROCESS if _is_slice(sys._getframe(1)) else function()

    return asked


def _noting(function: Callable[..., Any], note: Callable[[Any], object]) -> Callable[..., Any]:
    def asked(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        if isinstance(path, (str, bytes, os.PathLike)) and _by_slice():
            note(os.fsdecode(path))
        return function(path, *args, **kwargs)

    return asked


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        if _is_slice(frame):
            spoil()
            namespace: Any = frame.f_globals
            namespace.module.is_traced = False  # whoever uses that module later, too
        return function(*args, **kwargs)

    return asked


def _is_slice(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__") or "").startswith(PRIVATE)


def _by_slice() -> bool:
    """Whether sliced code asks, directly or by way of the standard library."""
    frame: Any = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return False
        if _is_slice(frame):
            return True
        if str(frame.f_globals.get("__name__") or "").startswith("triton_mutlint."):
            return False
        frame = frame.f_back
    return False
