"""Which files of a folder git leaves out: its own answer, so that every kind of ignore file counts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 20  # for a question that git answers in milliseconds


def ignored(root: Path, paths: Sequence[Path]) -> frozenset[Path]:
    """Those of `paths`, which lie below the folder `root`, that its git repository ignores.

    None where there is no repository or no git, and where `root` is itself ignored: it was named.
    Files that git tracks are never ignored.
    """
    if not paths or not _in_repository(root):
        return frozenset()
    asked = {os.fsencode(path): path for path in paths}
    command = ["git", "-C", str(root), "check-ignore", "--stdin", "-z"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command, input=b"\0".join([os.fsencode(root), *asked]), capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    if done.returncode != 0:
        return frozenset()
    found = set(done.stdout.split(b"\0"))
    return frozenset() if os.fsencode(root) in found else frozenset(asked[name] for name in found & asked.keys())


def _in_repository(folder: Path) -> bool:
    return any(os.path.exists(parent / ".git") for parent in (folder, *folder.parents))  # noqa: PTH110
