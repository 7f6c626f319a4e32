"""What every answer depends on besides files and options: this tool, Triton, Python and the machine's GPU.

None of it is imported to be told apart: the size and times of its files say which one it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from triton_mutlint.basics import DEVICE_NODES
from triton_mutlint.process.inputs import digest_of, environment
from triton_mutlint.version import __version__

# Those that decide how kernels are lowered; a few are named so that a change of them alone is seen.
_TRITON_FILES = ("__init__.py", "_C/libtriton.so", "runtime/jit.py", "compiler/compiler.py",
                 "compiler/code_generator.py", "language/core.py", "language/semantic.py")
_ABOUT_DEVICES = ("/proc/driver/nvidia/version", "/proc/driver/nvidia/gpus", "/sys/class/kfd/kfd/topology/nodes")
_PREFIXES = ("TRITON_", "MLIR_", "LLVM_", "CUDA_", "HIP_", "ROCR_", "NVIDIA_")
_IRRELEVANT = ("TRITON_CACHE_DIR", "TRITON_MUTLINT_", "TRITON_HOME")


@lru_cache(maxsize=1)
def identity() -> str:
    """A digest of the tool, Triton, Python and the GPU, as this process finds them."""
    parts = [__version__, sys.version, sys.executable, sys.platform, *sys.path, *_tool(), *_triton(), *_gpu()]
    return digest_of("\n".join(parts).encode("utf-8", "surrogateescape"))


def _tool() -> Iterator[str]:
    """This tool's files: while it is worked on, its version does not change."""
    root = Path(__file__).parent.parent
    stack = [str(root)]
    while stack:
        with os.scandir(stack.pop()) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.name == "__pycache__":
                    continue
                if entry.is_dir():
                    stack.append(entry.path)
                else:
                    yield _file(entry.path)


def _triton() -> Iterator[str]:
    spec = PathFinder.find_spec("triton")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for name in _TRITON_FILES:
            yield _file(os.path.join(root, name))  # noqa: PTH118 - a hot path


def _file(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return f"{path} -"
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def _gpu() -> Iterator[str]:
    """What the active GPU is told by, and what hides one or another."""
    yield from (name for name in DEVICE_NODES if os.path.exists(name))  # noqa: PTH110
    for name in _ABOUT_DEVICES:
        yield from _texts(Path(name))
    for variable, value in sorted(environment().items()):
        name = os.fsdecode(variable)
        if name.startswith(_PREFIXES) and not name.startswith(_IRRELEVANT):
            yield f"{name}={value!r}"


def _texts(path: Path) -> Iterator[str]:
    """The text files at or just below a path that describe devices; nothing where there is none."""
    try:
        if path.is_dir():
            for folder in sorted(path.iterdir()):
                for name in ("information", "properties"):
                    yield from _texts(folder / name)
        elif path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        yield f"{path} cannot be read"
