"""What the command and the processes that run ops tell each other, beside wire.py of `verify`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from triton_mutlint.types import EMPTY
from triton_mutlint.verify.wire import Settings

EAGER, FAKE = "eager", "fake"  # the op as it is; its fake function
Case = Mapping[str, str]  # the text of each argument of one call: `*fp32[6, 10; 1, 6]`, `None`, `true`, `0.5`


@dataclass(frozen=True)
class Words:
    """What the op's code compares with: candidates for its arguments, so that its branches are taken."""

    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpRun:
    """One run: of the op as it is (EAGER), or of a small program around it, on one of PATHS."""

    path: str = EAGER
    number: int = 0


@dataclass(frozen=True)
class ModelJob:
    """A model, which `factory` in `module` makes together with example inputs, and the paths to run it by."""

    worker: ClassVar[str] = "triton_mutlint.verify.ops.models"
    most_lost: ClassVar[int] = 4
    module: str
    factory: str
    roots: tuple[str, ...]
    runs: tuple[OpRun, ...]
    settings: Settings = Settings()  # noqa: RUF009 - it is frozen

    @property
    def name(self) -> str:
        return f"{self.module}:{self.factory}"


@dataclass(frozen=True)
class OpJob:
    """One op to run. `roots` are put on sys.path before `module` is imported.

    `pointers` are the parameters of kernels that are no numbers, as `kernel.parameter`, `written` those that the
    analysis does not call unwritten. `places` are the lines at
    which the analysis says that an argument is written. `given` are calls as the spec has them, from which others are
    made by varying one argument at a time; `values` are what its tensors hold.
    """

    worker: ClassVar[str] = "triton_mutlint.verify.ops.child"
    most_lost: ClassVar[int] = 4
    name: str
    module: str
    roots: tuple[str, ...]
    display: str
    line: int
    runs: tuple[OpRun, ...]
    places: tuple[tuple[str, int], ...] = ()
    words: Words = Words()
    pointers: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    given: tuple[Case, ...] = ()
    values: Mapping[str, Any] = EMPTY
    settings: Settings = Settings()  # noqa: RUF009 - it is frozen

    @property
    def is_function(self) -> bool:
        """Whether it is an autograd function, `module:Class`."""
        return "::" not in self.name
