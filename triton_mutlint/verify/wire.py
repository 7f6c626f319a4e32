"""What the command and the processes that run kernels tell each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from triton_mutlint.types import EMPTY

STRAY = ""  # in place of a parameter: addresses that belong to none
FILLS = ("random", "ones", "zeros", "ramp", "extreme")


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
    be; `label` is how reports tell it from its siblings.
    """

    args: Mapping[str, str]
    written: tuple[str, ...]
    through: tuple[str, ...]
    options: Mapping[str, int | float | str | bool | tuple[int, ...] | None] = EMPTY
    label: str = ""
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


@dataclass(frozen=True)
class Job:
    """One kernel to run: where its source is, and every run of it; `shapes` and `values` are the spec's."""

    worker: ClassVar[str] = "triton_mutlint.verify.running.child"
    most_lost: ClassVar[int] = 2
    path: str
    display: str
    text: str
    kernel: str
    line: int
    variants: tuple[VariantCase, ...]
    runs: tuple[RunCase, ...]
    shapes: Mapping[str, tuple[int, ...]] = EMPTY
    values: Mapping[str, Any] = EMPTY
    addresses: tuple[str, ...] = ()  # integers and tables that hold addresses
    globals: Mapping[str, Any] = EMPTY
    settings: Settings = Settings()

    @property
    def name(self) -> str:
        return self.kernel

    def variant_of(self, run: int) -> VariantCase:
        """The variant of one of the runs."""
        return self.variants[self.runs[run].variant]


class Work(Protocol):
    """What a process of its own can do: `worker` names the module whose `work` makes the runs numbered."""

    worker: ClassVar[str]
    most_lost: ClassVar[int]  # processes that may be lost over it

    @property
    def name(self) -> str:
        """What it is called where progress is shown."""

    @property
    def runs(self) -> Sequence[Any]:
        """The runs."""

    @property
    def settings(self) -> Settings:
        """What the options say of them."""


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
    seconds: float = 0.0
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
    given_up: int = 0  # runs that were left out, after others like them or the kernel's process were lost
