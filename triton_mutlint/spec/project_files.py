"""The Python files of a project, searched for names that a spec gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from triton_mutlint.inputs import note_folder, read

MAX_FILES = 5000  # searched for a name before it is given the benefit of the doubt
_SKIPPED = {".git", "__pycache__", "node_modules", ".venv", "venv", "build", "dist"}


def python_files(root: Path) -> Iterator[Path]:
    """Every `*.py` under `root`, in order; hidden folders, environments and what was built are left out."""
    note_folder(root)
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            if entry.name not in _SKIPPED and not entry.name.startswith("."):
                yield from python_files(entry)
        elif entry.suffix == ".py":
            yield entry


def text_of(path: Path) -> str:
    """The text of a file, empty where it cannot be read."""
    try:
        return read(path).decode("utf-8", "replace")
    except OSError:
        return ""
