"""Where the source of a module is, found on disk without importing anything."""

from __future__ import annotations

import os
import sys
from functools import cached_property, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from triton_mutlint.process.inputs import note_folder, note_name
from triton_mutlint.process.stamps import Look

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


def may_be_own(name: str) -> bool:
    """Whether a project may have a module of this name although it is stood in for elsewhere; torch keeps its name."""
    top = name.partition(".")[0]
    return top in HEAVY and top != "torch"


class Folder:
    """A folder that holds sources: the packages it is in, and where absolute imports from it may start."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def looked_in(self) -> set[Look]:
        """What decides the answers below."""
        return set()

    @cached_property
    def packages(self) -> list[Path]:
        """Package folders from the innermost out."""
        found, folder = [], self.path
        self._look_for(folder, "__init__")
        while os.path.isfile(folder / "__init__.py"):  # noqa: PTH113 - a hot path
            found.append(folder)
            folder = folder.parent
            self._look_for(folder, "__init__")
        return found

    def _look_for(self, folder: Path, *names: str) -> None:
        for name in names:
            if (look := note_name(folder, name)) is not None:
                self.looked_in.add(look)

    @cached_property
    def dotted(self) -> str:
        return ".".join(folder.name for folder in reversed(self.packages))

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """Folders to search, in order: above the package (beside the file, if it is in none), and up to the project.

        A folder that is a package is none of them: an absolute import in it never means its neighbour.
        """
        start = self.packages[-1].parent if self.packages else self.path
        roots = [start]
        for folder in [start, *start.parents][:_LEVELS]:
            self._look_for(folder, *_MARKERS)
            roots.extend((folder, folder / "src", folder / "python"))
            if any(os.path.exists(folder / marker) for marker in _MARKERS):  # noqa: PTH110
                break
        return tuple(dict.fromkeys(roots))


class ModulePlace:
    """A file's place: its module name, its folder, and what its imports led to.

    `folders` are those known already: a folder is looked at once for all of its files.
    """

    def __init__(self, path: Path, folders: dict[str, Folder] | None = None) -> None:
        self.path = path
        self.is_folder = os.path.isdir(path)  # noqa: PTH112 - a hot path
        self.is_package = self.is_folder or path.name == "__init__.py"
        self.asked: set[str] = set()  # files that its imports led to
        self.looked_in: set[Look] = set()  # where its imports were looked up
        self.is_traced = True  # whether what it learnt from outside is noted
        folder, known = path if self.is_folder else path.parent, {} if folders is None else folders
        self._folder = known.setdefault(str(folder), Folder(folder))
        self.folder = self._folder.path
        self._stem = "" if self.is_package else path.stem

    @property
    def dotted(self) -> str:
        """The module's name, as its packages give it."""
        return ".".join(filter(None, (self._folder.dotted, self._stem))) or self.folder.name

    @property
    def roots(self) -> tuple[Path, ...]:
        return self._folder.roots

    @property
    def packages(self) -> tuple[Path, ...]:
        return tuple(self._folder.packages)

    @property
    def looks(self) -> set[Look]:
        """Everything on disk that decides what the file's imports mean."""
        return self.looked_in | self._folder.looked_in


class Finder:
    """Finds module sources; what was looked up once is remembered."""

    def __init__(self) -> None:
        self._found: dict[tuple[Path, str], tuple[Path | None, tuple[Look, ...]]] = {}
        self.folders: dict[str, Folder] = {}
        self._installed: dict[str, tuple[Path | None, tuple[Look, ...]]] = {}

    def absolute(self, name: str, place: ModulePlace) -> Path | None:
        """The file of module `name` (a folder, for a namespace package), or None."""
        for root in place.roots:
            if (path := self.below(root, name, place)) is not None:
                return path
        top, _, rest = name.partition(".")
        if top not in self._installed:
            looks = tuple(look for entry in sys.path if (look := note_name(entry, top)) is not None)
            self._installed[top] = (_installed(top), looks)
        path, looks = self._installed[top]
        place.looked_in.update(looks)
        if path is None:
            return self._vendored(top, rest, place) if rest else None
        if not rest:
            return path
        return self.below(path.parent if path.name == "__init__.py" else path, rest, place)

    def _vendored(self, top: str, rest: str, place: ModulePlace) -> Path | None:
        """A module that a package which stands below another imports by its own name, as if it stood alone."""
        found = (self.below(package, rest, place) for package in place.packages if package.name == top)
        return next((path for path in found if path is not None), None)

    def own(self, name: str, place: ModulePlace) -> Path | None:
        """The file of module `name` in the project itself: not in a folder that packages are installed into.

        A folder without `__init__.py` gives way to what is installed, as for Python.
        """
        top = name.partition(".")[0]
        for root in place.roots:
            path = self.below(root, name, place)
            if path is not None and not _holds_distribution(root, top):
                return None if path.is_dir() and _installed(top) is not None else path
        return None

    def relative(self, name: str, level: int, place: ModulePlace) -> Path | None:
        folder = place.folder
        for _ in range(level - 1):
            folder = folder.parent
        if name:
            return self.below(folder, name, place)
        if (look := note_name(folder, "__init__")) is not None:
            place.looked_in.add(look)
        init = folder / "__init__.py"
        return init if init.is_file() else folder

    def below(self, folder: Path, name: str, place: ModulePlace | None = None) -> Path | None:
        """The file of module `name` (a folder, for a namespace package) below `folder`, asked for at `place`."""
        key = (folder, name)
        if key not in self._found:
            self._found[key] = _below(folder, name.split("."))
        path, looked_in = self._found[key]
        if place is not None:
            place.looked_in.update(looked_in)
        return path


def _below(folder: Path, parts: list[str]) -> tuple[Path | None, tuple[Look, ...]]:
    """What is found, and where it was looked for."""
    base = os.path.join(folder, *parts)  # noqa: PTH118 - a hot path
    looks = [note_name(*os.path.split(base))]
    found = None
    if os.path.isfile(base + ".py"):  # noqa: PTH113
        found = base + ".py"
    elif os.path.isfile(init := os.path.join(base, "__init__.py")):  # noqa: PTH113, PTH118
        found = init
    elif os.path.isdir(base):  # noqa: PTH112
        looks.append(note_folder(base))
        looks.extend(note_name(entry.path, "__init__") for entry in os.scandir(base) if entry.is_dir())
        found = base if _holds_python(base) else None
    return None if found is None else Path(found), tuple(look for look in looks if look is not None)


def _holds_python(folder: str) -> bool:
    """Whether a folder without `__init__.py` may be a namespace package."""
    return any(
        entry.name.endswith(".py") or (
            entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py"))  # noqa: PTH113, PTH118
        )
        for entry in os.scandir(folder))


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
