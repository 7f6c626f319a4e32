"""Following the torch ops of a run in a process of its own: the kernels that they launch may have to be lowered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from triton_mutlint.host.op.run import OP_SECONDS, Followed, Following, OpStep, OpTask, Reading, Unread
from triton_mutlint.process.forked import Lost, in_processes
from triton_mutlint.types import OpReport, SourceFile, Target

_GRACE = 5.0  # seconds beyond the limit after which a step is ended from outside
_STARTING = 60.0  # seconds between two steps: what registrations import is read


@dataclass(frozen=True)
class Used:
    """Kernels were analysed for these targets."""

    targets: tuple[Target, ...]


Step = OpStep | Used


@dataclass
class FoundOps:
    """What the ops of `sources` came to so far: their reports by number, and why some files were not read."""

    sources: Sequence[SourceFile]
    reports: dict[int, OpReport] = field(default_factory=dict)
    unread: dict[int, str] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    at: Reading | Following | None = None

    def take(self, _: OpTask, step: Step) -> None:
        if isinstance(step, Used):
            self.targets = step.targets
        elif isinstance(step, Followed):
            self.reports[step.number] = step.report
        elif isinstance(step, Unread):
            self.unread[step.number] = f" was {step.reason}"
        self.at = step if isinstance(step, (Reading, Following)) else None

    def lose(self, task: OpTask, lost: Lost) -> Iterable[OpTask]:
        """Give up the file or the op that the process was at; the rest goes on."""
        at, self.at = self.at, None
        rest = replace(task, done=task.done | self.reports.keys(), unread=task.unread | self.unread.keys())
        if isinstance(at, Reading):
            self.unread[at.number] = f": {lost.reason}"
            yield replace(rest, unread=rest.unread | {at.number})
        elif isinstance(at, Following) and at.number not in task.lost:
            yield replace(rest, lost={**task.lost, at.number: lost.reason})
        else:
            self.unread.update(dict.fromkeys(range(len(self.sources)), f": {lost.reason}"))

    def ordered(self) -> tuple[OpReport, ...]:
        """The reports by place."""
        return tuple(sorted(self.reports.values(), key=lambda r: (r.location, r.name)))

    def notes(self) -> tuple[str, ...]:
        """A line per file that could not be read."""
        return tuple(f"the torch ops of {self.sources[number].display} are left out: reading what it registers{why}"
                     for number, why in sorted(self.unread.items()))


def follow(sources: Sequence[SourceFile], work: Callable[[OpTask], Iterator[Step]], seconds: float) -> FoundOps:
    """What `work` finds of the ops of `sources`; a step may take `seconds`."""
    found = FoundOps(sources)

    def allowed(step: Step | None) -> float:
        if isinstance(step, Reading):
            return seconds + _GRACE
        return min(seconds, OP_SECONDS) + _GRACE if isinstance(step, Following) else _STARTING

    in_processes([OpTask()], 1, work, allowed, found.take, found.lose)
    return found
