"""What is committed (snapshots, baselines): reading it, and the names of files in it, relative to its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from triton_mutlint.basics import escaped
from triton_mutlint.process.inputs import read
from triton_mutlint.types import SourceFile, UsageError


def portable(file: str, cwd: Path, folder: Path) -> str:
    """`file`, as displayed in a run in `cwd`, relative to `folder`, with forward slashes.

    Characters that would break a line, and bytes that are no text, are written as escapes.
    """
    path = os.path.relpath(os.path.realpath(cwd / file), os.path.realpath(folder))
    return "".join(char if char.isprintable() and char != "\\" else escaped(char) for char in Path(path).as_posix())


def read_committed(path: Path, kind: str, shown: str, command: str) -> str:
    """The text of such a file, which `command` writes. Raises UsageError."""
    try:
        return read(path, named=True).decode("utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no {kind} {shown}; {command} writes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the {kind} {shown}: {error}") from error


def covered(files: Collection[str], folder: Path, sources: Sequence[SourceFile], arguments: Sequence[str], cwd: Path,
            is_complete: Callable[[SourceFile], bool]) -> frozenset[str]:
    """Which of `files` (relative to `folder`) a run over `arguments` looked at as a whole.

    Among them are files that are gone, or hold no kernel any more, where an argument names them
    or a folder above them.
    """
    linted = {portable(s.display, cwd, folder): s for s in sources}
    named = {Path(os.path.realpath(cwd / argument)) for argument in arguments}
    return frozenset(
        file for file in files
        if (is_complete(linted[file]) if file in linted else _is_emptied(folder / file, named))
    )


def _is_emptied(file: Path, named: AbstractSet[Path]) -> bool:
    """Whether a file that has no kernels to lint was asked for, by itself or with a folder."""
    from triton_mutlint.source.python_text import has_kernels  # here: a run without such files needs none of it

    path = Path(os.path.realpath(file))
    if named.isdisjoint((path, *path.parents)):
        return False
    try:
        return not has_kernels(read(path).decode("latin-1"))
    except FileNotFoundError:
        return True
    except OSError:
        return False
