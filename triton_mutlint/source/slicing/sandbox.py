"""The surroundings in which sliced code runs: quiet, without a driver, a device or a network.

Everything is undone when the outermost session ends.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from triton_mutlint.process.capture import captured
from triton_mutlint.process.inputs import environment, note_data
from triton_mutlint.process.stamps import refuse_irregular
from triton_mutlint.process.watchdog import watched
from triton_mutlint.source.slicing.tracing import PRIVATE, patched, telling, traced
from triton_mutlint.types import Target, parse_target

SECONDS = 20.0  # far above what any constant of the measured corpora takes (0.4 s)
_RECURSION_LIMIT = 6000  # a chain of sliced modules nests some ten Python frames per module
_INTERPRET = "TRITON_INTERPRET"
_LOCK = threading.RLock()


def gpu_of(target: Target) -> Any:
    """Triton's own object for a target."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(target.backend, int(target.arch) if target.arch.isdigit() else target.arch, target.warp_size)


def stand_in_driver(target: Target) -> SimpleNamespace:
    """Answers what module-level code asks the active driver: the target; never a device."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError("no device is touched while a file is loaded")

    return SimpleNamespace(
        get_current_target=lambda: gpu_of(target), get_current_device=lambda: 0, get_active_torch_device=refuse,
        get_benchmarker=lambda: refuse, utils=SimpleNamespace(get_device_properties=refuse))


class _NoTorch:
    """A finder that keeps really imported modules from pulling torch in."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in {"torch", "numpy"}:
            raise ImportError(f"{name} is not imported while a file is loaded")


class Session:
    """Re-entrant context manager around everything that runs sliced code; it is open within."""

    def __init__(self, backend: str, arch: str, import_module: Callable[..., ModuleType], inspect: ModuleType) -> None:
        self._import_module, self._inspect = import_module, inspect
        self._driver = stand_in_driver(parse_target(f"{backend}:{arch}"))
        self._modules: dict[str, ModuleType] = {}
        self._depth = 0
        self._stack = contextlib.ExitStack()

    @property
    def is_open(self) -> bool:
        return self._depth > 0

    def register(self, name: str, module: ModuleType) -> None:
        """Let sliced code find a module of that name in `sys.modules`."""
        self._modules[name] = module
        if self.is_open:
            sys.modules[name] = module

    @contextlib.contextmanager
    def _known(self) -> Iterator[None]:
        sys.modules.update(self._modules)
        try:
            yield
        finally:
            for name in self._modules:
                sys.modules.pop(name, None)

    def __enter__(self) -> None:
        _LOCK.acquire()
        try:
            if self._depth == 0:
                with contextlib.ExitStack() as stack:
                    for around in (captured(),  # what bypasses Python's streams
                                   _quiet(), patched(time, sleep=_no_wait), self._known(), _fast_yaml(), traced(),
                                   patched(importlib, import_module=self._import_module),
                                   surrounded(self._driver, self._inspect), watched(SECONDS)):
                        stack.enter_context(around)
                    self._stack = stack.pop_all()
            self._depth += 1
        except BaseException:
            _LOCK.release()
            raise

    def __exit__(self, *exc: object) -> None:
        self._depth -= 1
        try:
            if self._depth == 0:
                self._stack.close()
        finally:
            _LOCK.release()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No output, no warnings, no torch, the environment as it was; a recursion limit that deep import chains fit in."""
    limit, blocker = sys.getrecursionlimit(), _NoTorch()
    environ = dict(environment())  # undecoded: decoding it all would take longest of all here
    sys.meta_path.insert(0, blocker)
    try:
        sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stderr(io.StringIO()):
                yield
    finally:
        sys.meta_path.remove(blocker)
        sys.setrecursionlimit(limit)
        now = environment()
        for name in [name for name in {**now, **environ} if now.get(name) != environ.get(name)]:
            if name in environ:
                os.environ[os.fsdecode(name)] = os.fsdecode(environ[name])
            else:
                del os.environ[os.fsdecode(name)]


def _no_wait(seconds: float) -> None:
    """Stands in for `time.sleep`."""


def _fast_yaml() -> contextlib.AbstractContextManager[None]:
    """`yaml.safe_load` by way of libyaml, if it is there: libraries keep thousands of autotune configs in YAML."""
    yaml = sys.modules.get("yaml")
    fast = getattr(yaml, "CSafeLoader", None)
    if yaml is None or fast is None:
        return contextlib.nullcontext()
    plain = yaml.safe_load

    def safe_load(stream: Any) -> Any:
        own = {"yaml_constructors", "yaml_implicit_resolvers"} & vars(yaml.SafeLoader).keys()  # which only it has
        return plain(stream) if own else yaml.load(stream, fast)

    return patched(yaml, safe_load=safe_load)


def driven_by(driver: Any) -> contextlib.AbstractContextManager[None]:
    """In this block Triton has `driver`."""
    config = importlib.import_module("triton.runtime.driver").driver
    return patched(config, **dict.fromkeys(vars(config), driver))


@contextlib.contextmanager
def surrounded(driver: Any, inspect: ModuleType) -> Iterator[None]:
    """In this block Triton has `driver`, finds source lines by `inspect`, makes functions that are compiled, also under
    TRITON_INTERPRET=1, and launches none of them. Afterwards, its registry of jit functions keeps none that was sliced.

    Up to Triton 3.3 the decorator `autotune` asks the driver for its benchmarker, so there must be one.
    """
    jit = importlib.import_module("triton.runtime.jit")  # by sys.modules: the package rebinds the name to an object
    registry = vars(jit).get("_triton_jit_function_registry", {})  # it would keep every linted file alive
    before, interpreted = len(registry), os.environ.get(_INTERPRET)
    knobs = getattr(sys.modules.get("triton"), "knobs", None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(driven_by(driver))
        stack.enter_context(patched(jit, inspect=inspect))
        stack.enter_context(patched(jit.KernelInterface, __getitem__=_launched))
        if knobs is not None and knobs.runtime.interpret:
            stack.enter_context(knobs.runtime.scope())  # restores the knob and its variable
            knobs.runtime.interpret = False
        elif knobs is None and interpreted is not None:  # before 3.4 the decorator reads the variable itself
            stack.callback(os.environ.__setitem__, _INTERPRET, interpreted)
            del os.environ[_INTERPRET]
        yield
    if len(registry) != before:
        for key in [key for key in registry if key.startswith(PRIVATE)]:
            del registry[key]


def _launched(kernel: Any, grid: object) -> Callable[..., None]:
    def launch(*args: object, **options: object) -> None:
        """A launch fills tensors, which stand-ins are here."""

    return launch


def safe_builtins(importer: Callable[..., Any]) -> dict[str, Any]:
    """Python's builtins, except that nothing is printed, asked for, ended or written."""

    def read_only(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not isinstance(file, int):
            note_data(file)
            refuse_irregular(file)  # the lint would wait for a pipe
        return open(file, mode, *args, **kwargs)  # noqa: PTH123 - the caller closes it

    def refuse_input(*args: object) -> NoReturn:
        raise EOFError("nothing is read from the terminal while a file is loaded")

    def nothing(*args: object, **kwargs: object) -> None:
        """Stands for print and breakpoint."""

    return {
        **vars(builtins), "__import__": importer, "print": nothing, "breakpoint": nothing,
        "exit": sys.exit, "quit": sys.exit, "input": refuse_input, "open": read_only,
        "id": telling(id), "hash": telling(hash),
    }  # fmt: skip
