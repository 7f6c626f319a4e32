"""What can be wrong with a spec, told with file, line, key path and the nearest valid name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from triton_mutlint.types import Location, UsageError

Key = str | int  # a mapping's key or a list's index
KeyPath = tuple[Key, ...]

_PLAIN_KEY = re.compile(r"[\w*?-]+")
_SHOWN = 20  # problems listed before the rest is only counted


def show_path(path: KeyPath) -> str:
    """A key path as people write it: `kernels.add_kernel.args.x_ptr`, `kernels["a.py::k"].mutates[0]`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif _PLAIN_KEY.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f'["{key}"]'
    return text


@dataclass(frozen=True)
class SpecProblem:
    """One thing wrong in a spec file; `path` is the key path, empty for the file as a whole."""

    location: Location
    path: KeyPath
    message: str

    def __str__(self) -> str:
        where = f"{self.location.file}:{self.location.line}:{self.location.column}"
        keys = show_path(self.path)
        return f"{where}: {keys}: {self.message}" if keys else f"{where}: {self.message}"


class SpecError(UsageError):
    """A spec that cannot be used; `problems` in file order, at least one."""

    def __init__(self, problems: Iterable[SpecProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.location))
        shown = [str(problem) for problem in self.problems[:_SHOWN]]
        rest = len(self.problems) - len(shown)
        super().__init__("\n".join(shown + ([f"... and {rest} more problems"] if rest else [])))
