"""Triton's cache on disk, and single files of IR.

An entry of the cache is a folder with the stages of one kernel, `NAME.source`, `NAME.ttir`, `NAME.ttgir`, and what
Triton notes of it in `NAME.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triton_mutlint.compiled.model import STAGES, CompiledKernel, options_of, target_of
from triton_mutlint.process.stamps import content_of
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import Failure, StageError

SUFFIXES = tuple(f".{stage}" for stage in STAGES)
_SHOWN = 8  # characters of the name of an entry, which is a hash
_GROUP = "__grp__"  # how Triton begins the name of the list of an entry's files


def is_ir(path: Path) -> bool:
    """Whether a file is IR, or the metadata beside it, by its name."""
    return path.suffix in SUFFIXES or (path.suffix == ".json" and any(path.with_suffix(s).exists() for s in SUFFIXES))


def is_cache(folder: Path) -> bool:
    """Whether a folder is a cache of Triton, or an entry of one."""
    return any(name.startswith(_GROUP) for each in (folder, *_folders(folder)) for name in _names(each))


def read_files(path: Path, cwd: Path) -> Iterator[tuple[str, CompiledKernel | Failure]]:
    """The kernels of a cache, of an entry of it, or of a file of IR, each with the name of its files."""
    for stem in _stems(path) if path.is_dir() else [path.with_suffix("")]:
        only = path.suffix[1:] if path.is_file() and path.suffix != ".json" else ""
        try:
            yield stem.name, read_kernel(stem, cwd, only)
        except StageError as error:
            yield stem.name, error.failure


def _stems(path: Path) -> Iterator[Path]:
    """The kernels that a cache keeps, or one entry of it: each is the path of its files without the suffix."""
    for folder in (path, *_folders(path)):
        names = _names(folder)
        yield from (folder / name for name in sorted({Path(n).stem for n in names if n.endswith(SUFFIXES)}))


def _folders(path: Path) -> list[Path]:
    return [path / name for name in _names(path) if (path / name).is_dir()]


def _names(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - names are enough
    except OSError:
        return []


def read_kernel(stem: Path, cwd: Path, only: str = "") -> CompiledKernel:
    """The kernel whose files are called `stem`; `only` names the one stage to read.

    Raises StageError for files that cannot be read; what is wrong with the metadata costs only what they say.
    """
    texts = {}
    for stage in (only,) if only else STAGES:
        path = stem.with_name(f"{stem.name}.{stage}")
        if only or path.exists():
            texts[stage] = _text(path, display_path(path, cwd))
    metadata = _metadata(stem.with_name(f"{stem.name}.json"))
    label = display_path(stem.with_name(f"{stem.name}.{next(iter(texts), 'ttir')}"), cwd)
    return CompiledKernel(label, stem.parent.name[:_SHOWN], texts, target_of(metadata), options_of(metadata))


def _text(path: Path, display: str) -> str:
    try:
        return content_of(path).decode("utf-8")  # not noted: what is compiled is read anew in each run
    except UnicodeDecodeError as error:
        raise _unreadable(display, f"it is no text (byte {error.start})") from error
    except OSError as error:
        raise _unreadable(display, str(error.strerror or error)) from error


def _unreadable(display: str, why: str) -> StageError:
    hint = "if another process is writing it, run this again; else delete the entry: Triton compiles it anew"
    return StageError.of_file(display, f"cannot read {display}: {why}", hint)


def _metadata(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_text(path, path.name))
    except (StageError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
