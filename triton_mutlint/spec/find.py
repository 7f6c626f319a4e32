"""Which spec holds for a file."""

from __future__ import annotations

from pathlib import Path

from triton_mutlint.process.inputs import note_name

NAMES = ("triton-mutlint.yaml", "triton-mutlint.yml")
_ROOT_MARKS = (".git", "pyproject.toml")


def find_spec(file: Path, root: Path | None = None) -> Path | None:
    """The spec that holds for `file`: beside it, or upward to the project root inclusive.

    The root is `root` if given, else the first directory with `.git` or `pyproject.toml`; without
    either the search goes to the top. Of the two names `.yaml` comes first.
    """
    start = file.absolute()
    stop = root.absolute() if root else None
    for folder in start.parents if not start.is_dir() else (start, *start.parents):
        for name in (*NAMES, *_ROOT_MARKS):
            note_name(folder, name)
        for name in NAMES:
            if _exists(folder / name, file_only=True):
                return folder / name
        if folder == stop or (stop is None and any(_exists(folder / mark) for mark in _ROOT_MARKS)):
            return None
    return None


def project_root(file: Path) -> Path | None:
    """The nearest folder above `file` with `.git` or `pyproject.toml`."""
    marked = (f for f in file.absolute().parents if any(_exists(f / mark) for mark in _ROOT_MARKS))
    return next(marked, None)


def _exists(path: Path, *, file_only: bool = False) -> bool:
    try:
        return path.is_file() if file_only else path.exists()
    except OSError:  # a directory that may not be searched
        return False
