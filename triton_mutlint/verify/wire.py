"""What the command and the processes that run kernels, ops and models tell each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from triton_mutlint.types import EMPTY

LEFT_OUT = ("skipped", "left out after those")  # of a run, as others like it took too long, or processes were lost
STRAY = ""  # in place of a parameter: addresses that belong to none
FILLS = ("random", "ones", "zeros", "ramp", "extreme")
EAGER, FAKE = "eager", "fake"  # the op as it is; its fake function
EXHAUSTED = "exhausted"  # the status of a run for which there is no call left
PATHS = (FAKE, "aot_eager", "export", "export-strict", "dynamic", "inductor", "aoti")  # by which torch runs a program
ONNX = "onnx"  # besides, of a model: as it is exported, in onnxruntime
COMPILING = 60.0  # seconds that a path takes besides, as it compiles
TRIES = 3  # times the limit of a run, within which a call is to be found that an op takes
Case = Mapping[str, str]  # the text of each argument of one call: `*fp32[6, 10; 1, 6]`, `None`, `true`, `0.5`


class RefusedError(Exception):
    """What cannot be loaded, called or made for a run; the message says why."""


@dataclass(frozen=True)
class Settings:
    """What the options say of every run: `timeout` in seconds and `memory` in MiB; a kernel gets at most `runs`."""

    device: str = "cpu"
    runs: int = 24
    timeout: float = 10.0
    memory: int = 4096
    atol: float | None = None  # for kernels 1e-5, for ops by dtype
    rtol: float | None = None
    jobs: int = 1
    stubs: tuple[str, ...] = ()
    true_import: bool = False
    confined: bool = False


@dataclass(frozen=True)
class VariantCase:
    """One variant to run: every argument as a spec says it, and what is predicted of it.

    `written` are the parameters that may be written in it, `through` those through which addresses may
    be; `grids` are run by turns. `launch` is the number of a recorded launch in the spec.
    """

    args: Mapping[str, str]
    written: tuple[str, ...]
    through: tuple[str, ...]
    grids: tuple[tuple[int, ...], ...]
    options: Mapping[str, int | float | str | bool | tuple[int, ...] | None] = EMPTY
    launch: int | None = None
    shapes: Mapping[str, tuple[int, ...]] = EMPTY  # of a recorded launch: before those of the job
    values: Mapping[str, Any] = EMPTY


@dataclass(frozen=True)
class RunCase:
    """One run: the variant, the grid, and how tensors and scalars get their values.

    `fill` is one of FILLS; `size` scales the integers that look like dimensions ("small", "medium", "large").
    """

    variant: int
    grid: tuple[int, ...]
    fill: str
    seed: int = 0
    size: str = "medium"

    def __str__(self) -> str:
        return f"variant {self.variant}, grid {list(self.grid)}, {self.size} {self.fill} values, seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class Work:
    """What processes of its own can do: `loaded`, of the module `worker`, gives what makes the run of a number.

    `display` and `line` say where it stands. `values` are what the spec says that its tensors and numbers hold.
    """

    worker: ClassVar[str]
    most_lost: ClassVar[int] = 4  # processes that may be lost over it
    name: str
    display: str
    line: int
    runs: tuple[Any, ...]
    values: Mapping[str, Any] = EMPTY
    settings: Settings = Settings()

    def seconds(self, run: int) -> float:
        """That a run may take."""
        return self.settings.timeout


@dataclass(frozen=True, kw_only=True)
class Job(Work):
    """One kernel to run: where its source is, and every run of it; `shapes` are the spec's."""

    worker: ClassVar[str] = "triton_mutlint.verify.running.kernels"
    most_lost: ClassVar[int] = 2
    path: str
    text: str
    variants: tuple[VariantCase, ...]
    runs: tuple[RunCase, ...]
    shapes: Mapping[str, tuple[int, ...]] = EMPTY
    addresses: tuple[str, ...] = ()  # integers and tables that hold addresses
    globals: Mapping[str, Any] = EMPTY

    def variant_of(self, run: int) -> VariantCase:
        """The variant of one of the runs."""
        return self.variants[self.runs[run].variant]


@dataclass(frozen=True)
class Words:
    """What the op's code compares with: candidates for its arguments, so that its branches are taken."""

    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PathsWork(Work):
    """Torch code in `module`, which is found below `roots`: each run is of it as it is (EAGER), or by one of PATHS."""

    module: str
    roots: tuple[str, ...]
    runs: tuple[str, ...]

    def seconds(self, run: int) -> float:
        return self.settings.timeout * TRIES if self.runs[run] == EAGER else self.settings.timeout + COMPILING


@dataclass(frozen=True, kw_only=True)
class ModelJob(PathsWork):
    """A model, which `factory` in the module makes together with example inputs."""

    worker: ClassVar[str] = "triton_mutlint.verify.ops.models"
    factory: str


@dataclass(frozen=True, kw_only=True)
class OpJob(PathsWork):
    """One op to run.

    `pointers` are the parameters of kernels that are no numbers, as `kernel.parameter`, `written` those that the
    analysis does not call unwritten. `places` are the lines at which the analysis says that an argument is written.
    `given` are calls as the spec has them, from which others are made by varying one argument at a time. `declared` are
    the arguments that it may write, where a run is made again.
    """

    worker: ClassVar[str] = "triton_mutlint.verify.ops.child"
    places: tuple[tuple[str, int], ...] = ()
    words: Words = Words()
    pointers: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    given: tuple[Case, ...] = ()
    declared: tuple[str, ...] = ()

    @property
    def is_function(self) -> bool:
        """Whether it is an autograd function, `module:Class`."""
        return "::" not in self.name


@dataclass(frozen=True)
class Difference:
    """How far an output of the run on clones is from that of the run in place, and where that is largest."""

    parameter: str
    largest: float
    index: int  # of the element, counted flat
    count: int  # elements outside the tolerance


@dataclass(frozen=True)
class Begun:
    """A run begins, and may take so many `seconds`."""

    run: int
    seconds: float


@dataclass(frozen=True)
class RunResult:
    """What one run showed; `status` is "ok", or why there is nothing to compare.

    `changed` are the parameters whose memory differs afterwards, `through` those through whose addresses
    something was written. `outside` counts, per parameter, writes beside its memory, `read_outside` reads.
    `leaked` are originals that changed though only clones of the parameters predicted to be written were
    passed; `differences` compare those clones with the run in place.

    Of an op, `given` is the call as texts; `same` are arguments that were written with the values that they held,
    `returned` those that a result shares memory with, `reached` the numbers of the job's places that were executed,
    `later` those that an autograd function wrote in `backward` alone, `unmarked` those that `forward` wrote and did
    not mark as dirty.
    """

    run: int
    status: str = "ok"
    message: str = ""
    changed: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    outside: Mapping[str, int] = EMPTY
    read_outside: int = 0
    leaked: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    given: Mapping[str, str] = EMPTY
    same: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    reached: tuple[int, ...] = ()
    later: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finished:
    """What the runs of one job gave; `refused` is set where the kernel did not get as far as a run."""

    results: tuple[RunResult, ...] = ()
    refused: str = ""
