"""The surroundings in which sliced code runs: quiet, without a driver, a device or a network.

Everything is undone when the outermost session ends.
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from triton_mutlint.process.capture import captured
from triton_mutlint.process.harmless import harmless
from triton_mutlint.process.inputs import environment, note_data
from triton_mutlint.process.stamps import refuse_irregular
from triton_mutlint.process.watchdog import watched
from triton_mutlint.source.outline import FoundFunction
from triton_mutlint.source.slicing.surroundings import surrounded, without_registered
from triton_mutlint.source.slicing.tracing import PRIVATE, telling, traced
from triton_mutlint.types import split_lines

BYTES = 4 << 30  # the measured packages take a tenth of it, the parts of them that Triton maps included
SECONDS = 20.0  # far above what any constant of the measured corpora takes (0.4 s)
_RECURSION_LIMIT = 6000  # a chain of sliced modules nests some ten Python frames per module
_LOCK = threading.RLock()


class SourceRegistry:
    """Where Triton finds the source lines of sliced functions, whatever is on disk by then."""

    def __init__(self) -> None:
        self._modules: dict[str, tuple[list[str], dict[int, int]]] = {}

    def add(self, filename: str, text: str, functions: Iterable[FoundFunction]) -> None:
        ends: dict[int, int] = {}
        for found in functions:
            end = found.node.end_lineno or found.node.lineno
            ends[found.node.lineno] = ends[found.first_line] = end
        self._modules[filename] = (split_lines(text), ends)

    def remove(self, filename: str) -> None:
        self._modules.pop(filename, None)

    @cached_property
    def inspect(self) -> ModuleType:
        """`inspect` with the source lines from here."""
        proxy = ModuleType("inspect")
        proxy.__dict__.update(vars(inspect), getsourcelines=self.lines,
                              getsource=lambda function: "".join(self.lines(function)[0]))
        return proxy

    def lines(self, function: Any) -> tuple[list[str], int]:
        """`inspect.getsourcelines`, from the registered text where there is one."""
        code = getattr(function, "__code__", None)
        if code is not None and code.co_filename in self._modules:
            lines, ends = self._modules[code.co_filename]
            if code.co_firstlineno in ends:
                return lines[code.co_firstlineno - 1 : ends[code.co_firstlineno]], code.co_firstlineno
        return inspect.getsourcelines(function)


class StandInDriver:
    """Answers what module-level code asks the active driver: the target; never a device."""

    def __init__(self, backend: str, arch: str) -> None:
        self._backend = backend
        self._arch: int | str = int(arch) if arch.isdigit() else arch

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget(self._backend, self._arch, 32 if self._backend == "cuda" else 64)

    def get_current_device(self) -> int:
        return 0

    def get_active_torch_device(self) -> NoReturn:
        raise RuntimeError("no device is touched while a file is loaded")

    def get_benchmarker(self) -> Callable[..., NoReturn]:
        return self._refuse

    @property
    def utils(self) -> Any:
        """Device properties: none are known, so asking for one is an error that names it."""
        return SimpleNamespace(get_device_properties=self._refuse)

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError("no device is touched while a file is loaded")


class _NoTorch:
    """A finder that keeps really imported modules from pulling torch in."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in {"torch", "numpy"}:
            raise ImportError(f"{name} is not imported while a file is loaded")


class Session:
    """Re-entrant context manager around everything that runs sliced code."""

    def __init__(self, backend: str, arch: str) -> None:
        self.sources = SourceRegistry()
        self._driver = StandInDriver(backend, arch)
        self._modules: dict[str, ModuleType] = {}
        self._depth = 0
        self._stack: contextlib.ExitStack | None = None

    def register(self, name: str, module: ModuleType) -> None:
        """Let sliced code find a module of that name in `sys.modules`."""
        self._modules[name] = module
        if self._depth:
            sys.modules[name] = module

    def forget(self, path: str, name: str) -> None:
        """Let go of a module."""
        self.sources.remove(path)
        self._modules.pop(name, None)

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
                    stack.enter_context(captured())  # what bypasses Python's streams
                    stack.enter_context(_quiet())
                    stack.enter_context(harmless())
                    stack.enter_context(self._known())
                    stack.enter_context(_fast_yaml())
                    stack.enter_context(traced())
                    stack.enter_context(_triton_patches(self._driver, self.sources))
                    stack.enter_context(watched(SECONDS))
                    stack.enter_context(_bounded_memory())
                    self._stack = stack.pop_all()
            self._depth += 1
        except BaseException:
            _LOCK.release()
            raise

    def __exit__(self, *exc: object) -> None:
        self._depth -= 1
        try:
            if self._depth == 0 and self._stack is not None:
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
        if environ != environment():
            _restore(environ)


def _restore(environ: dict[Any, Any]) -> None:
    now = environment()
    for name in now.keys() - environ.keys():
        del os.environ[os.fsdecode(name)]
    for name in [name for name, value in environ.items() if now.get(name) != value]:
        os.environ[os.fsdecode(name)] = os.fsdecode(environ[name])


@contextlib.contextmanager
def _fast_yaml() -> Iterator[None]:
    """`yaml.safe_load` by way of libyaml, if it is there: libraries keep thousands of autotune configs in YAML."""
    yaml = sys.modules.get("yaml")
    fast = getattr(yaml, "CSafeLoader", None)
    if yaml is None or fast is None:
        yield
        return
    plain = yaml.safe_load

    def safe_load(stream: Any) -> Any:
        own = {"yaml_constructors", "yaml_implicit_resolvers"} & vars(yaml.SafeLoader).keys()  # which only it has
        return plain(stream) if own else yaml.load(stream, fast)

    vars(yaml)["safe_load"] = safe_load
    try:
        yield
    finally:
        vars(yaml)["safe_load"] = plain


@contextlib.contextmanager
def _triton_patches(driver: StandInDriver, sources: SourceRegistry) -> Iterator[None]:
    """Triton with the stand-in driver, reading sources from the registry, its interpreter off."""
    with surrounded(driver, sources.inspect), without_registered(PRIVATE):
        yield


@contextlib.contextmanager
def _bounded_memory() -> Iterator[None]:
    """At most `BYTES` more memory than there is now: linted code that wants more gets a `MemoryError`."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - a hot path
        limit = int(file.read().split()[0]) * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit if soft == resource.RLIM_INFINITY else min(soft, limit), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


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
