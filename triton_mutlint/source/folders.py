"""Searching a folder for Python files, past what no one keeps sources in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from triton_mutlint.process.inputs import note_folder, note_name, spoil

# A folder of such a name is left out, unless it is a package.
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "venv", "virtualenv", "env",
                     "build", "dist"})


def walk(root: Path, excluded: Callable[[Path], bool], unreadable: Callable[[OSError], None]) -> Iterator[Path]:
    """`*.py` below `root` in sorted order; a folder reached twice (symlink loops) is entered once."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, onerror=unreadable, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        note_folder(folder)
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not _skipped(here / name) and not excluded(here / name))
        for name in sorted(files):
            path = here / name
            wanted = name.endswith(".py") and not name.startswith(".") and not excluded(path)
            if not wanted:
                continue
            if os.path.isfile(path):  # noqa: PTH113 - not a pipe or device, which would be waited for
                yield path
            else:
                spoil()


def _skipped(folder: Path) -> bool:
    name = folder.name
    if name.startswith(".") or name.endswith((".egg-info", ".dist-info")):
        return True
    if name in SKIPPED:
        note_name(folder, "__init__")
        return not os.path.exists(folder / "__init__.py")  # noqa: PTH110 - also of a folder that may not be read
    if os.path.exists(folder / "pyvenv.cfg"):  # noqa: PTH110
        note_name(folder, "pyvenv.cfg")
        return True
    return False
