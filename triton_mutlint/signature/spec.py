"""Finding and loading the YAML spec, `triton-mutlint.yaml`."""

from __future__ import annotations

from pathlib import Path

from triton_mutlint.process.inputs import note_name, read
from triton_mutlint.signature.spec_errors import SpecError, SpecProblem
from triton_mutlint.signature.spec_model import ArgSpec, Declared, GlobalSpec, KernelSpec, Match, Spec
from triton_mutlint.signature.spec_reader import read_spec
from triton_mutlint.signature.spec_unused import Unused, unused
from triton_mutlint.signature.yaml_source import parse_yaml
from triton_mutlint.types import Location

__all__ = [
    "ArgSpec",
    "Declared",
    "GlobalSpec",
    "KernelSpec",
    "Match",
    "Spec",
    "SpecError",
    "SpecProblem",
    "Unused",
    "find_spec",
    "load_spec",
    "parse_spec",
    "project_root",
    "unused",
]

NAMES = ("triton-mutlint.yaml", "triton-mutlint.yml")
_ROOT_MARKS = (".git", "pyproject.toml")


def load_spec(path: Path, display: str | None = None) -> Spec:
    """The spec in the file `path`, called `display` in messages.

    Raises `SpecError`, which lists every problem with its line and key path.
    """
    file = display or str(path)
    try:
        data = read(path, named=True)
    except OSError as error:
        raise SpecError([SpecProblem(Location(file, 1), (), f"cannot read: {error.strerror}")]) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {data[error.start]:#04x})"
        raise SpecError([SpecProblem(Location(file, line), (), message)]) from None
    return parse_spec(text, file)


def parse_spec(text: str, file: str) -> Spec:
    """The spec written as `text`; raises `SpecError`."""
    return read_spec(parse_yaml(text, file), file)


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
