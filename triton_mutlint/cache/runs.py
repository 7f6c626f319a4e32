"""The output of whole runs, kept, and what every answer depends on besides files and options.

That is this tool, Triton, Python and the machine's GPU. None of it is imported to be told apart: the size and times of
its files say which one it is.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from glob import glob
from importlib.machinery import PathFinder
from pathlib import Path

from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.cache.store import Store
from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import Inputs, Noted, environment
from triton_mutlint.process.stamps import digest_of
from triton_mutlint.version import __version__

# Those that decide how kernels are lowered; a few are named so that a change of them alone is seen.
_TRITON_FILES = ("__init__.py", "_C/libtriton.so", "runtime/jit.py", "compiler/compiler.py",
                 "compiler/code_generator.py", "language/core.py", "language/semantic.py")
_ABOUT_DEVICES = ("/proc/driver/nvidia/version", "/proc/driver/nvidia/gpus/*/information",
                  "/sys/class/kfd/kfd/topology/nodes/*/properties")
_LIMITS = ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_NOFILE")
_PREFIXES = ("TRITON_", "MLIR_", "LLVM_", "CUDA_", "HIP_", "ROCR_", "NVIDIA_")
_IRRELEVANT = ("TRITON_CACHE_DIR", "TRITON_MUTLINT_", "TRITON_HOME")


@lru_cache(maxsize=1)
def identity() -> str:
    """A digest of the tool, Triton, Python and the GPU, as this process finds them."""
    triton = PathFinder.find_spec("triton")
    places = (triton.submodule_search_locations or ()) if triton else ()
    files = [*_tool(), *(os.path.join(place, name) for place in places for name in _TRITON_FILES)]  # noqa: PTH118
    parts = [__version__, sys.version, sys.executable, sys.platform, *sys.path, *map(_state, files), *_gpu(),
             *_limits()]
    return digest_of("\n".join(parts).encode("utf-8", "surrogateescape"))


def _tool() -> Iterator[str]:
    """This tool's files: while it is worked on, its version does not change."""
    for folder, folders, names in os.walk(Path(__file__).parent.parent):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (os.path.join(folder, name) for name in sorted(names))  # noqa: PTH118 - a hot path


def _state(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116 - a hot path
    except OSError:
        return f"{path} -"
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def _limits() -> Iterator[str]:
    """What a process may take: under other limits, something else fails."""
    yield from (f"{name} {resource.getrlimit(vars(resource)[name])}" for name in _LIMITS if name in vars(resource))


def _gpu() -> Iterator[str]:
    """What the active GPU is told by, and what hides one or another."""
    yield from (name for name in DEVICE_NODES if os.path.exists(name))  # noqa: PTH110
    for path in (path for pattern in _ABOUT_DEVICES for path in sorted(glob(pattern))):  # noqa: PTH207 - a hot path
        try:
            yield Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            yield f"{path} cannot be read"
    for variable, value in sorted(environment().items()):
        name = os.fsdecode(variable)
        if name.startswith(_PREFIXES) and not name.startswith(_IRRELEVANT):
            yield f"{name}={value!r}"


_KIND = "runs"


@dataclass(frozen=True)
class KeptRun:
    """What a run wrote, one text per output, and whether its findings fail it."""

    outputs: tuple[str, ...]
    failed: bool


@dataclass(frozen=True)
class _Entry:
    run: KeptRun
    noted: Noted


class Runs:
    """Kept runs of one store: where nothing that a run read has changed, what it wrote is written again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, name: str) -> KeptRun | None:
        """The run kept under `name` if it would come out the same today."""
        entry = self._store.find(_KIND, name, _Entry)
        today = entry.noted.now() if entry is not None else None
        if entry is None or today is None:
            return None
        if today != entry.noted:  # nothing that matters has changed
            self._store.keep(_KIND, name, _Entry(entry.run, today))
        return entry.run

    def keep(self, name: str, run: KeptRun, inputs: Inputs) -> None:
        """Keep what a run gave, with what it read; not where that changed while it was read."""
        if not inputs.torn and not inputs.spoiled:
            self._store.keep(_KIND, name, _Entry(run, inputs.without()))


def name_of(request: Request, looks: Sequence[object]) -> str:
    """The name of the run that `request` asks for, written as `looks` say.

    How many processes take part and how long they may take does not matter: a run that ran out of time
    is not kept.
    """
    config = replace(request.config, jobs=1, cache_dir=None, origins={})
    asked = replace(request, jobs=1, timeout=0.0, cache_dir=None, config=config)
    return digest_of(repr((identity(), asked, tuple(looks))).encode("utf-8", "surrogateescape"))
