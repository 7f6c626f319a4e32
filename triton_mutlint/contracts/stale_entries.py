"""Which entries of a spec hold for nothing, given that a run may lint only part of what the spec covers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from triton_mutlint.model import LoadedKernel, Location, SourceFile
from triton_mutlint.signature.spec import Spec, Unused, unused

MAX_FILES = 5000  # searched for a name before it is given the benefit of the doubt
_SKIPPED = {".git", "__pycache__", "node_modules", ".venv", "venv", "build", "dist"}


def stale_entries(spec: Spec, linted: Sequence[SourceFile], kernels: Sequence[LoadedKernel],
                  failed: Sequence[str], root: Path) -> Iterator[tuple[str, Location]]:
    """(message, place) of every entry and parameter of `spec` that names nothing.

    `failed` holds names of kernels that exist but did not load. An entry that only files under
    `root` which this run did not lint could match is not stale.
    """
    for item in unused(spec, kernels):
        if item.kind == "kernel":
            file_pattern, _, name = item.kernel.rpartition("::")
            if any(fnmatchcase(f, name) for f in failed) or _elsewhere(file_pattern, name, linted, root):
                continue
        yield _message(item), item.location


def _message(item: Unused) -> str:
    near = f"; did you mean `{item.nearest}`?" if item.nearest else ""
    if item.kind == "kernel":
        return f"{item.key_path}: no kernel is called `{item.name}`{near}"
    if item.kind == "shadowed":
        return f"{item.key_path}: a more specific entry holds for every kernel that this one names"
    return f"{item.key_path}: `{item.kernel}` has no parameter `{item.name}`{near}"


def _elsewhere(file_pattern: str, name: str, linted: Sequence[SourceFile], root: Path) -> bool:
    """Whether a file that was not linted may hold the kernel."""
    if file_pattern and any(PurePosixPath(f.path).match(file_pattern) for f in linted):
        return False
    done = {f.path for f in linted}
    defines = re.compile(rf"\b{re.escape(name)}\b") if not re.search(r"[*?\[]", name) else re.compile(r"@?\bjit\b")
    for count, path in enumerate(_python_files(root)):
        if count >= MAX_FILES:
            return True
        if path in done or (file_pattern and not PurePosixPath(path).match(file_pattern)):
            continue
        if defines.search(_text(path)):
            return True
    return False


def _python_files(root: Path) -> Iterator[Path]:
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            if entry.name not in _SKIPPED and not entry.name.startswith("."):
                yield from _python_files(entry)
        elif entry.suffix == ".py":
            yield entry


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
