"""The modules of torch that hold jit functions for the kernels of others: read where torch is installed.

The rest of torch is stood in for. Where torch is not installed, the helpers of Inductor's kernels are read from
`inductor_helpers.py` beside this file, which has the same memory effects.
"""

from __future__ import annotations

import re
from pathlib import Path

from triton_mutlint.process.inputs import read
from triton_mutlint.source.finder import Finder, Place

_OWN = Path(__file__).parent.parent / "standing_in"
_INSTEAD = {"torch._inductor.runtime.triton_helpers": _OWN / "inductor_helpers.py"}
_HELPER = re.compile(rb"^[ \t]*@(?:triton\.)?jit\b", re.M)
_ENOUGH = 1 << 20  # bytes: no file of helpers is longer


class TorchHelpers:
    """Where torch's own files of jit functions are."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._known: dict[Path, bool] = {}

    def source(self, name: str, place: Place) -> Path | None:
        """The file to read for a module below torch; None if it holds no jit functions."""
        path = self._finder.absolute(name, place)
        if path is None or path.is_dir() or not self._has_helpers(path):
            return _INSTEAD.get(name)
        return path

    def _has_helpers(self, path: Path) -> bool:
        if path not in self._known:
            try:
                data = read(path)
            except OSError:
                return False
            self._known[path] = len(data) < _ENOUGH and _HELPER.search(data) is not None
        return self._known[path]
