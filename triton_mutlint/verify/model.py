"""What `verify` found: per parameter what was predicted and what was seen; returned, not printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Generic, TypeVar

from triton_mutlint.types import Failure, KernelReport, Location, Mutation, OpMutation, OpReport
from triton_mutlint.verify.wire import Difference, Work

R = TypeVar("R", KernelReport, OpReport)
J = TypeVar("J", bound=Work)


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
    """One pointer, descriptor or address of a kernel, or one argument of an op: `seen` counts the runs that wrote it.

    `through` tells of memory that its addresses lead to. `first` is the first run, or call, that showed a write. Of an
    argument, `declared` is None where that is not known, `is_same` says that nothing but the values that it held was
    written, and `not_reached` are the places to which no run was seen to come, though the analysis says that it is
    written there.
    """

    name: str
    type: str
    predicted: Mutation | OpMutation
    when: tuple[str, ...]
    agreement: Agreement
    seen: int
    through: bool = False
    first: Any = None  # a RunCase, or the texts of a call
    declared: bool | None = None
    is_same: bool = False
    not_reached: tuple[str, ...] = ()
    in_backward: bool = False  # of an autograd function: it alone was seen to write it

    @property
    def title(self) -> str:
        """Its name, as `*name` where the memory is meant that addresses from it lead to."""
        return f"*{self.name}" if self.through else self.name


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
class PathOutcome:
    """A run by way of `torch.compile`, `torch.export`, ...: `status` is "ok", "differs", or why it gave nothing."""

    name: str
    status: str
    message: str
    rule: str = ""
    given: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Verified:
    """What was run: the verdict that was held against its runs, and what they showed.

    `problems` are runs that gave nothing, as (status, message, how many). `outside` counts writes beside
    each tensor. `refused` says why none was made. `reproducer` is the file that shows a failure again. Of a kernel,
    `read_outside` counts reads beside tensors, `leaked` and `differences` tell of runs on clones; of an op,
    `disagreements` and `paths` tell what it did otherwise than promised, and of a model `findings` are on its ops.
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
    refused: str = ""
    reproducer: str = ""
    kind: str = "kernel"  # "op", "model"
    read_outside: int = 0
    leaked: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    failure: Failure | None = None
    disagreements: tuple[Disagreement, ...] = ()
    paths: tuple[PathOutcome, ...] = ()
    findings: tuple[str, ...] = ()

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        return tuple(p.title for p in self.parameters if p.agreement is Agreement.UNCONFIRMED)

    @property
    def missed(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters if p.agreement is Agreement.MISSED)


def tally(listed: Iterable[Verified]) -> Counter[str]:
    """How often each outcome of kernels and ops, and each of their parameters' predictions, came about."""
    return Counter(found for one in listed for found in (one.outcome, *(p.agreement for p in one.parameters)))


@dataclass(frozen=True)
class Subject(Generic[R, J]):
    """A kernel or op with a verdict, and how to run it; `refused` says why that cannot be.

    `sources` are the files that a run of it needs.
    """

    report: R
    job: J | None = None
    refused: str = ""
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True)
class VerifyReport:
    """The outcomes in order of place; equal inputs give equal reports but for times."""

    device: str
    triton: str | None
    kernels: tuple[Verified, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()  # arguments and files that could not be read
    ops: tuple[Verified, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether something was written that was not predicted, or something could not be read."""
        return bool(self.failures) or any(one.outcome is Outcome.FAILED for one in self.outcomes)

    @property
    def outcomes(self) -> list[Verified]:
        """All that was to be run."""
        return [*self.kernels, *self.ops]
