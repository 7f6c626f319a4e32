"""The torch ops of a run: found in its files, then analysed, one step after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.op.verdict import analyze_op, unfinished
from triton_mutlint.host.registrations.functions import autograd_functions
from triton_mutlint.host.registrations.registrations import joined, registrations
from triton_mutlint.host.state.core import Kernels, World
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.types import OpReport, SourceFile

OP_SECONDS = 60.0  # for one op; of 600 in published packages the longest takes 25


@dataclass(frozen=True)
class OpTask:
    """What is left to do: not the files numbered in `unread`, nor the ops in `done`.

    `lost` says of some ops why they cannot be followed.
    """

    unread: frozenset[int] = frozenset()
    done: frozenset[int] = frozenset()
    lost: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpStep:
    """What the file with this number registers is being read, or could not be (`unread`), or, with `of_op`, the code of
    the op with this number is being followed, or has a report."""

    number: int
    of_op: bool = False
    report: OpReport | None = None
    unread: str = ""

    @property
    def is_begun(self) -> bool:
        return self.report is None and not self.unread


@dataclass(frozen=True)
class OpsOf:
    """The ops that `sources` register.

    `known` gives the files that were read already; `kernels` is asked for what each launched kernel
    writes; `seconds` may be spent on one file's registrations, and on one op.
    """

    sources: Sequence[SourceFile]
    cwd: Path
    known: Mapping[Path, SourceFile]
    registrars: Mapping[str, Registrar]
    kernels: Kernels
    seconds: float
    functions: bool = False  # autograd functions are followed as ops

    def steps(self, task: OpTask) -> Iterator[OpStep]:
        """Do the task, telling of each step."""
        modules = HostModules(self.cwd, self.known)
        found: list[OpRegistration] = []
        for number, source in enumerate(self.sources):
            if number not in task.unread:
                yield OpStep(number)
                try:
                    found.extend(self._registered(source, modules))
                except TooLongError as error:
                    yield OpStep(number, unread=str(error))
        ops = [*joined(found), *(self._functions(modules, task) if self.functions else ())]
        by_name: dict[str, list[OpRegistration]] = {}
        for op in ops:
            by_name.setdefault(op.name, []).append(op)
        numbers = {source.path: number for number, source in enumerate(self.sources)}
        for module in dict.fromkeys(op.module for op in ops):
            yield OpStep(numbers.get(module.path, 0))
            modules.read_imports(module)
        self.kernels.wait()  # which is not the time of an op
        world = World(modules, self.kernels, by_name)
        for number, op in enumerate(ops):
            if number not in task.done:
                yield OpStep(number, of_op=True)
                yield OpStep(number, True, self._followed(op, world, task.lost.get(number)))

    def _registered(self, source: SourceFile, modules: HostModules) -> Sequence[OpRegistration]:
        module = modules.module(source.path)
        if module is None:
            return ()
        with watched(self.seconds):
            return list(registrations(module, modules, self.registrars))

    def _functions(self, modules: HostModules, task: OpTask) -> Iterator[OpRegistration]:
        world = World(modules, self.kernels, {})
        for number, source in enumerate(self.sources):
            module = modules.module(source.path) if number not in task.unread else None
            if module is not None:
                yield from autograd_functions(module, world)

    def _followed(self, op: OpRegistration, world: World, lost: str | None) -> OpReport:
        if lost is not None:
            return unfinished(op, f"following its code: {lost}")
        try:
            with watched(min(self.seconds, OP_SECONDS)):
                return analyze_op(op, world)
        except TooLongError as error:
            return unfinished(op, f"following its code was {error}")
