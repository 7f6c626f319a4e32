"""Why a file or a kernel has no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from triton_mutlint.basics import MutlintError
from triton_mutlint.types.place import Location


class Stage(str, Enum):
    """The stage at which a kernel (or file) failed."""

    LOAD = "load"
    SIGNATURE = "signature"
    LOWER = "lower"
    ANALYZE = "analyze"


@dataclass(frozen=True)
class Failure:
    """Why one file or kernel has no verdict; a result, not an exception.

    `crashed` says that it ended the process that was at work on it; `lacks` is "arguments" or "globals" where these
    parts of a spec may help.
    """

    stage: Stage
    message: str
    location: Location | None = None
    hint: str = ""  # what the user can add or change to fix it
    crashed: bool = False
    lacks: str = ""


class StageError(MutlintError):
    """A stage could not finish for one kernel or file; carries the `Failure` to report."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure
