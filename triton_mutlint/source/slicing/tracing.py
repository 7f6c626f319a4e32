"""What sliced code learns from outside by itself is noted, and what cannot be noted is told.

Constants may depend on a file, on what a folder holds or on the clock. Python tells audit hooks of every file that is
opened and every folder that is listed, whatever function does it; whether there is a file is asked of functions of
`os`. Both are noted if sliced code asks, by way of the standard library too. All else that is no function of its
arguments cannot be noted, and nothing of such a run is kept: what `os.stat` tells beyond that, other functions of `os`
and `time`, `id` and `hash`, and modules of the standard library that are not in `_TRACED`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, ModuleType
from typing import Any

from triton_mutlint.process.inputs import current, note_data, note_name, note_path, spoil
from triton_mutlint.process.stamps import LISTING

PRIVATE = "_mutlint_"  # begins the module name of every sliced function
_FRAMES = 10  # between sliced code and what opens a file for it
# What says more of a path than whether it is there, but for those of the standard library that ask no more of it.
_STATS = ("stat", "lstat")
_ASKING = frozenset({"exists", "lexists", "isfile", "isdir", "islink", "is_file", "is_dir", "is_symlink", "is_mount",
                     "ismount", "realpath", "_joinrealpath", "resolve", "is_junction", "isjunction", "updatecache"})
_ABOUT_PATHS = ("access", "readlink", *_STATS)
# Functions of `os` that say nothing of the world, or are heard of otherwise.
_PLAIN = frozenset({"fspath", "strerror", "getcwd", "getcwdb", "close", "read", "lseek", "putenv", "unsetenv", "isatty",
                    "device_encoding", "open", "listdir", "scandir", *_ABOUT_PATHS})
# Modules whose functions give what their arguments and what is noted decide.
_NAMES = """
    __future__ abc argparse array ast base64 binascii bisect bz2 cmath codecs collections colorsys configparser
    contextlib contextvars copy copyreg csv dataclasses decimal difflib dis enum errno fileinput fnmatch fractions
    functools genericpath getopt gettext glob graphlib gzip hashlib heapq hmac html importlib importlib.abc inspect io
    itertools json keyword linecache logging lzma math mimetypes ntpath numbers opcode operator optparse os pathlib
    pickle pickletools posixpath pprint quopri re reprlib shlex stat string stringprep struct symtable sys tarfile
    textwrap time token tokenize tomllib traceback types typing typing_extensions unicodedata warnings weakref yaml
    zipfile zlib zoneinfo
"""
_TRACED = frozenset(_NAMES.split())
_OUTWARD = frozenset({"ctypes", "fcntl", "ftplib", "http", "mmap", "pty", "resource", "socket", "sqlite3", "subprocess",
                      "syslog", "urllib"})  # of which audit hooks are told
_blocks = 0  # that are open


def is_traced_module(name: str) -> bool:
    """Whether what sliced code can learn from a module of the standard library or Triton is noted."""
    top, _, rest = name.partition(".")
    return top == "triton" or name in _TRACED or (top in _TRACED and bool(rest) and top != "importlib")


@contextlib.contextmanager
def traced() -> Iterator[None]:
    """In this block it is noted what sliced code asks of the world."""
    global _blocks
    with contextlib.ExitStack() as stack:
        for module, functions in (_listening() if current() is not None else {}).items():
            stack.enter_context(patched(module, **functions))
        _blocks += 1
        try:
            yield
        finally:
            _blocks -= 1


@contextlib.contextmanager
def patched(owner: Any, **values: object) -> Iterator[None]:
    """In this block, attributes that `owner` has itself have other values."""
    saved = {name: vars(owner)[name] for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in saved.items():
            setattr(owner, name, value)


@functools.cache
def _listening() -> dict[ModuleType, dict[str, Any]]:
    """What stands in for functions of modules where it is noted what is asked; sliced code is heard of from now on."""
    sys.addaudithook(_heard)  # which cannot be taken away again
    found = {module: {name: telling(function) for name, function in vars(module).items()
                      if isinstance(function, BuiltinFunctionType) and not (module is os and name in _PLAIN)}
             for module in (os, time)}
    found[os].update((name, _noting(vars(os)[name], name in _STATS)) for name in _ABOUT_PATHS if name in vars(os))
    return found


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if not _blocks:
        return
    if event in ("open", "os.listdir", "os.scandir"):
        path = "." if args[0] is None else args[0]
        if isinstance(path, (str, bytes, os.PathLike)) and _until_slice() is not None:
            note_data(os.fsdecode(path)) if event == "open" else note_name(os.fsdecode(path), LISTING)
    elif event.partition(".")[0] in _OUTWARD and _until_slice() is not None:
        spoil()


def _noting(function: Callable[..., Any], is_stat: bool) -> Callable[..., Any]:
    def asked(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        if isinstance(path, (str, bytes, os.PathLike)) and (callers := _until_slice()) is not None:
            if is_stat and _ASKING.isdisjoint(callers):
                spoil()
            note_path(os.fsdecode(path))
        return function(path, *args, **kwargs)

    return asked


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which tells when sliced code calls it that its result is not to be kept."""
    def asked(*args: Any, **kwargs: Any) -> Any:
        if _is_slice(sys._getframe(1)):
            spoil()
        return function(*args, **kwargs)

    return asked


def _is_slice(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__") or "").startswith(PRIVATE)


def _until_slice() -> list[str] | None:
    """The functions of the standard library by way of which sliced code asks; None if other code does."""
    frame: Any = sys._getframe(2)
    names: list[str] = []
    while frame is not None and len(names) < _FRAMES:
        if _is_slice(frame):
            return names
        if str(frame.f_globals.get("__name__") or "").startswith(("triton_mutlint.", "importlib._bootstrap")):
            return None
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return None
