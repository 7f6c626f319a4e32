"""What `verify` found: per parameter what was predicted and what was seen; returned, not printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from triton_mutlint.types import Failure, KernelReport, Location, Mutation, OpMutation
from triton_mutlint.verify.wire import Difference, Job, RunCase


class Agreement(str, Enum):
    """How a prediction fared."""

    CONFIRMED = "confirmed"  # written, and seen
    UNCONFIRMED = "unconfirmed"  # may be written, never seen
    UNTOUCHED = "untouched"  # not written, and not seen
    MISSED = "missed"  # seen outside what was predicted: a soundness failure


class Outcome(str, Enum):
    """What became of a kernel."""

    RAN = "ran"
    FAILED = "failed"  # something was seen that was not predicted
    NOT_RUN = "not run"  # no run gave anything to compare
    NO_VERDICT = "no verdict"  # it could not be analysed


@dataclass(frozen=True)
class ParameterOutcome:
    """One pointer, descriptor or address: `seen` counts the runs in which it was written.

    `through` tells of memory that its addresses lead to. `first` is the first run that showed a write.
    """

    name: str
    type: str
    predicted: Mutation
    when: tuple[str, ...]
    agreement: Agreement
    seen: int
    through: bool = False
    first: RunCase | None = None

    @property
    def title(self) -> str:
        """Its name, as `*name` where the memory is meant that addresses from it lead to."""
        return f"*{self.name}" if self.through else self.name


@dataclass(frozen=True)
class KernelOutcome:
    """One kernel: the verdict that was held against its runs, and what they showed.

    `problems` are runs that gave nothing, as (status, message, how many). `outside` counts writes beside
    each tensor. `refused` says why none was made. `reproducer` is the file that shows a failure again.
    """

    name: str
    location: Location
    outcome: Outcome
    device: str
    parameters: tuple[ParameterOutcome, ...] = ()
    runs: int = 0
    compared: int = 0
    problems: tuple[tuple[str, str, int], ...] = ()
    outside: tuple[tuple[str, int], ...] = ()
    read_outside: int = 0
    leaked: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    refused: str = ""
    failure: Failure | None = None
    reproducer: str = ""
    seconds: float = 0.0

    @property
    def missed(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters if p.agreement is Agreement.MISSED)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        return tuple(p.title for p in self.parameters if p.agreement is Agreement.UNCONFIRMED)


@dataclass(frozen=True)
class VerifySubject:
    """A kernel with a verdict, and how to run it; `refused` says why that cannot be."""

    report: KernelReport
    job: Job | None = None
    refused: str = ""


@dataclass(frozen=True)
class Disagreement:
    """What an op did that was promised or predicted otherwise, the `rule` about it, and what to do.

    `given` is the call that showed it.
    """

    rule: str
    message: str
    help: str
    given: Mapping[str, str] | None = None

    def __hash__(self) -> int:
        return hash((self.rule, self.message))


@dataclass(frozen=True)
class OpArgumentOutcome:
    """One argument of an op: `seen` counts the runs that wrote it, `first` is the call of the first of them.

    `declared` is None where that is not known. `is_same` if nothing but the values that it held was written.
    `not_reached` are the places that no run came to, though the analysis says that it is written there.
    """

    name: str
    declared: bool | None
    predicted: OpMutation
    agreement: Agreement
    seen: int
    is_same: bool = False
    first: Mapping[str, str] | None = None
    not_reached: tuple[str, ...] = ()
    in_backward: bool = False  # of an autograd function: it alone was seen to write it


@dataclass(frozen=True)
class PathOutcome:
    """A run by way of `torch.compile`, `torch.export`, ...: `status` is "ok", "differs", or why it gave nothing."""

    name: str
    status: str
    message: str
    rule: str = ""
    given: Mapping[str, str] | None = None


@dataclass(frozen=True)
class OpOutcome:
    """One op, or a model that uses some: its declaration and the verdict on it, and what runs showed."""

    name: str
    location: Location
    outcome: Outcome
    device: str
    arguments: tuple[OpArgumentOutcome, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    runs: int = 0
    compared: int = 0
    problems: tuple[tuple[str, str, int], ...] = ()
    paths: tuple[PathOutcome, ...] = ()
    outside: tuple[tuple[str, int], ...] = ()
    refused: str = ""
    reproducer: str = ""
    findings: tuple[str, ...] = ()  # of a model: on its ops
    is_model: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class VerifyReport:
    """The outcomes in order of place; equal inputs give equal reports but for times."""

    device: str
    triton: str | None
    kernels: tuple[KernelOutcome, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()  # arguments and files that could not be read
    ops: tuple[OpOutcome, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether something was written that was not predicted, or something could not be read."""
        return bool(self.failures) or any(one.outcome is Outcome.FAILED for one in self.outcomes)

    @property
    def outcomes(self) -> list[KernelOutcome | OpOutcome]:
        """All that was to be run."""
        return [*self.kernels, *self.ops]
