"""The torch ops of a run: found in its files, then analysed, one step after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.op.verdict import analyze_op, unfinished
from triton_mutlint.host.registrations.functions import autograd_functions
from triton_mutlint.host.registrations.registrations import joined, registrations
from triton_mutlint.host.state.core import Kernels, World
from triton_mutlint.process.confined import limit
from triton_mutlint.process.forked import Lost, Processes
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.types import OpReport, SourceFile

OP_SECONDS = 60.0  # for one op; of 600 in published packages the longest takes 25
GRACE = 5.0  # seconds beyond the limit after which a step is ended from outside
_WORTHWHILE = 8  # ops for each process


@dataclass(frozen=True)
class OpStep:
    """What the file with this number registers is being read, or could not be (`unread`); or, with `count`, so many ops
    were found and are followed next, which takes verdicts; or the op with this number has a report."""

    number: int
    unread: str = ""
    count: int = 0
    report: OpReport | None = None


@dataclass(frozen=True)
class OpsOf:
    """The ops that `sources` register.

    `known` gives the files that were read already; `kernels` is asked for what each launched kernel
    writes; `passing` are functions that register what they are passed; `seconds` may be spent on one file's
    registrations, and on one op. Ops are followed in `jobs` processes.
    """

    sources: Sequence[SourceFile]
    cwd: Path
    known: Callable[[], Mapping[Path, SourceFile]]
    registrars: Mapping[str, Registrar]
    passing: frozenset[str]
    kernels: Kernels
    seconds: float
    jobs: int
    functions: bool = False  # autograd functions are followed as ops

    def steps(self, unread: frozenset[int]) -> Iterator[OpStep]:
        """Read all files but the `unread`, and follow what they register, telling of each step."""
        modules = HostModules(self.cwd, self.known(), self.passing)
        found: list[OpRegistration] = []
        for number, source in enumerate(self.sources):
            if number not in unread:
                yield OpStep(number)
                try:
                    found.extend(self._registered(source, modules))
                except TooLongError as error:
                    yield OpStep(number, str(error))
        ops = [*joined(found), *(self._functions(modules, unread) if self.functions else ())]
        if not ops:
            return
        by_name: dict[str, list[OpRegistration]] = {}
        for op in ops:
            by_name.setdefault(op.name, []).append(op)
        numbers = {source.path: number for number, source in enumerate(self.sources)}
        for module in dict.fromkeys(op.module for op in ops):
            yield OpStep(numbers.get(module.path, 0))
            modules.read_imports(module)
        yield OpStep(0, count=len(ops))
        self.kernels.wait()
        for number, report in sorted(self._followed(ops, World(modules, self.kernels, by_name)).items()):
            yield OpStep(number, report=report)

    def _registered(self, source: SourceFile, modules: HostModules) -> Sequence[OpRegistration]:
        module = modules.module(source.path)
        if module is None:
            return ()
        with watched(self.seconds):
            return list(registrations(module, modules, self.registrars))

    def _functions(self, modules: HostModules, unread: frozenset[int]) -> Iterator[OpRegistration]:
        world = World(modules, self.kernels, {})
        for number, source in enumerate(self.sources):
            module = modules.module(source.path) if number not in unread else None
            if module is not None:
                yield from autograd_functions(module, world)

    def _followed(self, ops: Sequence[OpRegistration], world: World) -> dict[int, OpReport]:
        """The reports on ops by number; what each process has left is given to another one where it dies."""
        found: dict[int, OpReport] = {}

        def follow(numbers: range) -> Iterator[OpStep]:
            for number in numbers:
                yield OpStep(number, report=self._report(ops[number], world))

        def lose(numbers: range, lost: Lost) -> Iterator[range]:
            left = next((i for i, number in enumerate(numbers) if number not in found), len(numbers))
            for number in numbers[left : left + 1]:
                found[number] = unfinished(ops[number], f"following its code: {lost.reason}")
                yield numbers[left + 1 :]

        def take(_: range, step: OpStep) -> None:
            found[step.number] = step.report or unfinished(ops[step.number], "following its code")

        parts = max(1, min(self.jobs, len(ops) // _WORTHWHILE))
        Processes([range(first, len(ops), parts) for first in range(parts)], parts, OpStep, follow,
                  lambda _: min(self.seconds, OP_SECONDS) + GRACE, take, lose, limit).run()
        return found

    def _report(self, op: OpRegistration, world: World) -> OpReport:
        try:
            with watched(min(self.seconds, OP_SECONDS)):
                return analyze_op(op, world)
        except TooLongError as error:
            return unfinished(op, f"following its code was {error}")
