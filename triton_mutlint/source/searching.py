"""Searching a folder for Python files, past what no one keeps sources in, and past what git leaves out."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from triton_mutlint.process.inputs import current, note_file, note_name, spoil

# A folder of such a name is left out, unless it is a package.
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "venv", "virtualenv", "env",
                     "build", "dist"})
_SECONDS = 20  # for a question that git answers in milliseconds
# What decides it besides the ignore files beside the sources, and for tracked files git's index.
_SETTINGS = ("config", "info/exclude")
_OF_USER = ("~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore", "/etc/gitconfig")


def walk(root: Path, excluded: Callable[[Path], bool], unreadable: Callable[[OSError], None]) -> Iterator[Path]:
    """`*.py` below `root` in sorted order; a folder reached twice (symlink loops) is entered once."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, onerror=unreadable, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        note_name(folder)
        here = Path(folder)
        folders[:] = sorted(name for name in folders if not _skipped(here / name) and not excluded(here / name))
        for name in sorted(files):
            path = here / name
            if not name.endswith(".py") or name.startswith(".") or excluded(path):
                continue
            try:
                is_file = stat.S_ISREG(path.stat().st_mode)  # not a pipe or device, which would be waited for
            except PermissionError as error:  # the folder can be listed, and not entered
                unreadable(PermissionError(error.errno, error.strerror, folder))
                folders.clear()
                break
            except OSError:
                is_file = False
            if is_file:
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


def ignored(root: Path, paths: Sequence[Path]) -> frozenset[Path]:
    """Those of `paths`, which lie below the folder `root`, that its git repository ignores.

    None where there is no repository or no git, and where `root` is itself ignored: it was named.
    Files that git tracks are never ignored.
    """
    tops = (f for f in (root, *root.parents) if os.path.exists(f / ".git"))  # noqa: PTH110
    top = next(tops, None) if paths else None
    if top is None:
        return frozenset()
    if current() is not None:
        _note(root, top, paths)
    asked = {os.fsencode(path): path for path in paths}
    given = b"\0".join([os.fsencode(root), *asked])
    check = ("check-ignore", "--stdin", "-z")
    found = {*_git(root, *check, "--no-index", given=given).split(b"\0")} & {os.fsencode(root), *asked}
    if found:  # some match a pattern: whether git tracks them is in its index
        for name in _paths(root, "index"):
            note_file(name)
        found = {*_git(root, *check, given=given).split(b"\0")}
    return frozenset() if os.fsencode(root) in found else frozenset(asked[name] for name in found & asked.keys())


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What git answers; nothing where it cannot tell."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - fixed commands
            command, input=given, capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""


def _paths(root: Path, *names: str) -> list[Path]:
    """Where git keeps files of its own, worktrees and submodules considered."""
    found = _git(root, "rev-parse", *(part for name in names for part in ("--git-path", name)))
    return [root / os.fsdecode(line) for line in found.splitlines()]


def _note(root: Path, top: Path, paths: Sequence[Path]) -> None:
    """Note what git reads for its answer."""
    folders = {folder for path in (root / "x", *paths) for folder in path.parents if folder.is_relative_to(top)}
    named = _git(root, "config", "--path", "core.excludesFile").splitlines()
    others = [*map(Path, map(os.fsdecode, named)), *(Path(name).expanduser() for name in _OF_USER)]
    for name in (*(folder / ".gitignore" for folder in sorted(folders)), *others, *_paths(root, *_SETTINGS)):
        note_file(name)
