"""What Triton asks of its surroundings while a file is loaded: a driver, source lines, and whether it interprets."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

_INTERPRET = "TRITON_INTERPRET"


@contextlib.contextmanager
def surrounded(driver: Any, inspect: ModuleType) -> Iterator[None]:
    """In this block Triton has `driver`, finds source lines by `inspect`, makes functions that are compiled, and
    launches none of them.

    Up to Triton 3.3 the decorator `autotune` asks the driver for its benchmarker, so there must be one.
    """
    # by sys.modules: the packages rebind both names to objects
    config = importlib.import_module("triton.runtime.driver").driver
    jit = importlib.import_module("triton.runtime.jit")
    drivers, real_inspect = dict(vars(config)), jit.inspect
    vars(config).update(dict.fromkeys(drivers, driver))
    vars(jit)["inspect"] = inspect
    launch = jit.KernelInterface.__getitem__
    jit.KernelInterface.__getitem__ = _launched
    try:
        with _compiling():
            yield
    finally:
        jit.KernelInterface.__getitem__ = launch
        vars(config).update(drivers)
        vars(jit)["inspect"] = real_inspect


def _launched(kernel: Any, grid: object) -> Callable[..., None]:
    def launch(*args: object, **options: object) -> None:
        """A launch fills tensors, which stand-ins are here."""

    return launch


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """In this block, `triton.jit` makes compiled functions, also under TRITON_INTERPRET=1."""
    knobs = getattr(sys.modules.get("triton"), "knobs", None)  # interpreted functions, too, are loaded here
    if knobs is None:  # before 3.4 the decorator reads the variable itself
        given = os.environ.pop(_INTERPRET, None)
        try:
            yield
        finally:
            if given is not None:
                os.environ[_INTERPRET] = given
    elif knobs.runtime.interpret:
        with knobs.runtime.scope():  # restores the knob and its variable
            knobs.runtime.interpret = False
            yield
    else:
        yield


@contextlib.contextmanager
def without_registered(prefix: str) -> Iterator[None]:
    """Afterwards, Triton's registry of jit functions keeps none whose key begins with `prefix`.

    It would keep every linted file alive. Not all versions of Triton have one.
    """
    registry = vars(importlib.import_module("triton.runtime.jit")).get("_triton_jit_function_registry", {})
    before = len(registry)
    try:
        yield
    finally:
        if len(registry) != before:
            for key in [key for key in registry if key.startswith(prefix)]:
                del registry[key]
