"""Where the source of a module is, found on disk without importing anything."""

from __future__ import annotations

import os
import re
import sys
from functools import cached_property, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from triton_mutlint.process.inputs import note_name, read

# Stood in for, but where the project itself has a folder of that name: importing them is slow, touches
# devices, or needs a compiler, and nothing that a jit body uses comes from them.
HEAVY = frozenset({
    "torch", "numpy", "torchvision", "torchaudio", "torch_npu", "torch_xla", "jax", "jaxlib",
    "tensorflow", "scipy", "pandas", "sklearn", "matplotlib", "transformers", "cupy", "numba",
    "cutlass", "cuda", "pycuda", "tilelang", "tvm", "helion", "pytest", "hypothesis", "tqdm",
    "packaging", "PIL", "sympy", "networkx", "ray", "deepspeed_kernels",
    "intel_extension_for_pytorch", "mpmath",
})  # fmt: skip
# Standard modules whose use would reach out of the process, or wait for another thread.
_UNSAFE = frozenset({
    "antigravity", "asyncio", "concurrent", "ctypes", "ftplib", "http", "idlelib", "imaplib",
    "multiprocessing", "poplib", "shutil", "smtplib", "socket", "socketserver", "ssl", "subprocess",
    "telnetlib", "threading", "signal", "tempfile", "sqlite3", "sched", "curses", "readline", "pty",
    "this", "tkinter", "turtle", "turtledemo", "urllib", "webbrowser", "xmlrpc",
})  # fmt: skip
# Read in place of a module of torch's, where torch is not installed: its functions have the same memory effects.
_INSTEAD = {"torch._inductor.runtime.triton_helpers": Path(__file__).parents[1] / "standing_in" / "inductor_helpers.py"}
_JIT = re.compile(rb"^[ \t]*@(?:triton\.)?jit\b", re.M)
_ENOUGH = 1 << 20  # bytes: no file of torch's helpers is longer
_MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_LEVELS = 12


# Small libraries that register things as they are imported, so that a slice of them would lack those.
_WHOLE = frozenset({"triton", "yaml", "typing_extensions"})


def is_real(name: str) -> bool:
    """Whether the module is really imported: Triton and the harmless part of the standard library."""
    top = name.partition(".")[0]
    return top in _WHOLE or (top in sys.stdlib_module_names and top not in _UNSAFE)


def is_stood_in(name: str) -> bool:
    top = name.partition(".")[0]
    return top in HEAVY or top in _UNSAFE


class Folder:
    """A folder that holds sources: the packages it is in, and where absolute imports from it may start."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def packages(self) -> list[Path]:
        """Package folders from the innermost out."""
        found, folder = [], self.path
        note_name(folder, "__init__")
        while os.path.isfile(folder / "__init__.py"):  # noqa: PTH113 - a hot path
            found.append(folder)
            folder = folder.parent
            note_name(folder, "__init__")
        return found

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """Folders to search, in order: above the package (beside the file, if it is in none), and up to the project.

        A folder that is a package is none of them: an absolute import in it never means its neighbour.
        """
        start = self.packages[-1].parent if self.packages else self.path
        roots = [start]
        for folder in [start, *start.parents][:_LEVELS]:
            for marker in _MARKERS:
                note_name(folder, marker)
            roots.extend((folder, folder / "src", folder / "python"))
            if any(os.path.exists(folder / marker) for marker in _MARKERS):  # noqa: PTH110
                break
        return tuple(dict.fromkeys(roots))


class ModulePlace:
    """A file's place: its folder, its module name, and the files that its imports led to (`asked`).

    `folders` are those known already: a folder is looked at once for all of its files.
    """

    def __init__(self, path: Path, folders: dict[str, Folder] | None = None) -> None:
        is_folder = os.path.isdir(path)  # noqa: PTH112 - a hot path
        self.path, self.is_package = path, is_folder or path.name == "__init__.py"
        self.folder = path if is_folder else path.parent
        self.around = ({} if folders is None else folders).setdefault(str(self.folder), Folder(self.folder))
        self.asked: set[Path] = set()

    @property
    def dotted(self) -> str:
        """The module's name, as its packages give it."""
        names = [folder.name for folder in reversed(self.around.packages)]
        return ".".join(names + ([] if self.is_package else [self.path.stem])) or self.folder.name


class Finder:
    """Finds module sources; what was looked up once is remembered."""

    def __init__(self) -> None:
        self.folders: dict[str, Folder] = {}
        self._found: dict[tuple[Path, str], Path | None] = {}
        self._installed: dict[str, Path | None] = {}
        self._has_jit: dict[Path, bool] = {}

    def absolute(self, name: str, place: ModulePlace) -> Path | None:
        """The file of module `name` (a folder, for a namespace package), or None."""
        for root in place.around.roots:
            if (path := self.below(root, name)) is not None:
                return path
        top, _, rest = name.partition(".")
        if top not in self._installed:
            for entry in sys.path:
                note_name(entry, top)
            self._installed[top] = _installed(top)
        path = self._installed[top]
        if path is None:
            return self._vendored(top, rest, place) if rest else None
        if not rest:
            return path
        return self.below(path.parent if path.name == "__init__.py" else path, rest)

    def _vendored(self, top: str, rest: str, place: ModulePlace) -> Path | None:
        """A module that a package which stands below another imports by its own name, as if it stood alone."""
        found = (self.below(package, rest) for package in place.around.packages if package.name == top)
        return next((path for path in found if path is not None), None)

    def source(self, name: str, place: ModulePlace) -> Path | None:
        """The file to read for module `name`, if it is not stood in for: of what is, only a project's own module and
        those of torch that hold jit functions for the kernels of others.
        """
        top = name.partition(".")[0]
        if not is_stood_in(name):
            return self.absolute(name, place)
        if top == "torch" and name != top:
            path = self.absolute(name, place)
            return path if path is not None and not path.is_dir() and self._holds_jit(path) else _INSTEAD.get(name)
        return self._own(name, place) if top in HEAVY and top != "torch" else None

    def _own(self, name: str, place: ModulePlace) -> Path | None:
        """The file of module `name` in the project itself: not in a folder that packages are installed into.

        A folder without `__init__.py` gives way to what is installed, as for Python.
        """
        top = name.partition(".")[0]
        for root in place.around.roots:
            path = self.below(root, name)
            if path is not None and not _holds_distribution(root, top):
                return None if path.is_dir() and _installed(top) is not None else path
        return None

    def _holds_jit(self, path: Path) -> bool:
        if path not in self._has_jit:
            try:
                data = read(path)
            except OSError:
                return False
            self._has_jit[path] = len(data) < _ENOUGH and _JIT.search(data) is not None
        return self._has_jit[path]

    def relative(self, name: str, level: int, place: ModulePlace) -> Path | None:
        folder = place.folder
        for _ in range(level - 1):
            folder = folder.parent
        if name:
            return self.below(folder, name)
        note_name(folder, "__init__")
        init = folder / "__init__.py"
        return init if init.is_file() else folder

    def below(self, folder: Path, name: str) -> Path | None:
        """The file of module `name` (a folder, for a namespace package) below `folder`."""
        key = (folder, name)
        if key not in self._found:
            self._found[key] = _below(folder, name.split("."))
        return self._found[key]


def _below(folder: Path, parts: list[str]) -> Path | None:
    base = os.path.join(folder, *parts)  # noqa: PTH118 - a hot path
    note_name(*os.path.split(base))
    if os.path.isfile(base + ".py"):  # noqa: PTH113
        return Path(base + ".py")
    if os.path.isfile(init := os.path.join(base, "__init__.py")):  # noqa: PTH113, PTH118
        return Path(init)
    if not os.path.isdir(base):  # noqa: PTH112
        return None
    note_name(base)
    with os.scandir(base) as entries:
        found = [entry for entry in entries if entry.name.endswith(".py") or entry.is_dir()]
    for entry in found:
        note_name(entry.path, "__init__")
    holds = any(e.name.endswith(".py") or os.path.isfile(os.path.join(e.path, "__init__.py")) for e in found)  # noqa: PTH113, PTH118
    return Path(base) if holds else None  # a namespace package, if it has sources


@lru_cache(maxsize=256)
def _holds_distribution(folder: Path, top: str) -> bool:
    """Whether packages are installed into `folder`, the one with module `top` among them."""
    installed = folder.name in {"site-packages", "dist-packages"}
    return installed or any(True for _ in folder.glob(f"{top}-*.dist-info"))


def _installed(top: str) -> Path | None:
    if not top.isidentifier():
        return None
    spec = PathFinder.find_spec(top)
    if spec is None:
        return None
    if spec.origin and spec.origin.endswith(".py"):
        return Path(spec.origin)
    locations = list(spec.submodule_search_locations or ())
    return Path(locations[0]) if locations else None
