"""The torch ops of a run, each followed to the kernels that it launches, in a process of its own.

The verdicts on those kernels are the run's; others are analysed when they are first met.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from triton_mutlint.config.request import silent
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.modules.modules import may_set
from triton_mutlint.host.op.run import GRACE, OP_SECONDS, OpsOf, OpStep
from triton_mutlint.host.state.core import Kernels
from triton_mutlint.packing import pack, unpack
from triton_mutlint.process.confined import limit
from triton_mutlint.process.forked import Lost, Processes
from triton_mutlint.run.lint import Run
from triton_mutlint.run.plan import given_files
from triton_mutlint.run.workers import bounds, lint_files
from triton_mutlint.signature.other_launch import other_launch
from triton_mutlint.source.discover import display_path
from triton_mutlint.source.function_text import differ
from triton_mutlint.source.python_text import read_source
from triton_mutlint.types import (
    FileResult,
    KernelReport,
    LaunchArgument,
    OpReport,
    Origin,
    OtherLaunch,
    SourceFile,
    StageError,
)

_STARTING = 60.0  # seconds between two steps: what registrations import is read


@dataclass
class FoundOps:
    """What the ops of `sources` came to so far: their reports, and why some files were not read."""

    sources: Sequence[SourceFile]
    tell: Callable[[], None]
    reports: list[OpReport] = field(default_factory=list)
    unread: dict[int, str] = field(default_factory=dict)

    def take(self, _: frozenset[int], step: OpStep) -> None:
        if step.count:
            self.tell()
        elif step.report is not None:
            self.reports.append(step.report)
        elif step.unread:
            self.unread[step.number] = f" was {step.unread}"

    def lose(self, _: frozenset[int], lost: Lost) -> Iterable[frozenset[int]]:
        """Give up the file that the process was at, and read the others again; or all, where it was at none."""
        at: OpStep | None = lost.last
        if at is None or at.count or at.report is not None:
            self.unread.update(dict.fromkeys(range(len(self.sources)), f": {lost.reason}"))
            return
        self.unread.setdefault(at.number, f": {lost.reason}")
        yield frozenset(self.unread)

    def ordered(self) -> tuple[OpReport, ...]:
        """The reports by place."""
        return tuple(sorted(self.reports, key=lambda r: (r.location, r.name)))

    def notes(self) -> tuple[str, ...]:
        """A line per file that could not be read."""
        return tuple(f"the torch ops of {self.sources[number].display} are left out: reading what it registers{why}"
                     for number, why in sorted(self.unread.items()))


@contextmanager
def follow(run: Run, sources: Sequence[SourceFile], holding: Sequence[SourceFile],
           passing: frozenset[str]) -> Iterator[Callable[[Sequence[FileResult]], FoundOps]]:
    """What the ops that the files in `holding` register come to, given the results of all `sources`.

    What they register is read in the meantime: that needs no verdicts.
    """
    request, verdicts = run.request, _Verdicts()
    found = FoundOps(holding, verdicts.tell)

    def known() -> Mapping[Path, SourceFile]:
        return {source.path: source for source in (*_setting(run, sources), *sources)}

    ops = OpsOf(holding, request.cwd, known, request.config.registrars, passing, OpKernels(run, verdicts),
                request.timeout, request.jobs, request.functions)

    def seconds(step: OpStep | None) -> float:
        if step is None or step.report is not None:
            return _STARTING
        return step.count * (min(request.timeout, OP_SECONDS) + GRACE) or request.timeout + GRACE

    with Processes([frozenset[int]()], 1, OpStep, ops.steps, seconds, found.take, found.lose, limit,
                   [verdicts.ready.fileno()]) as process, closing(verdicts):
        def finished(files: Sequence[FileResult]) -> FoundOps:
            run.progress(0, 0, "following torch ops")
            verdicts.reports = [report for f in files for _, report in f.reports]
            process.finish()
            return found

        yield finished


def _setting(run: Run, sources: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """The other files of the run that may give names of modules new values: what ops call may be one of these."""
    have = {source.path for source in sources}
    for path in given_files(run.request):
        with suppress(StageError):
            display = display_path(path, run.request.cwd)
            if path not in have and may_set(text := read_source(path, display)):
                yield SourceFile(path, display, text)


class _Verdicts:
    """The verdicts of a run, for a process that was started before there were any, which waits for them."""

    def __init__(self) -> None:
        self.reports: list[KernelReport] | None = None
        ready, told = os.pipe()
        self.ready, self._told = os.fdopen(ready, "rb"), os.fdopen(told, "wb")

    def tell(self) -> None:
        """To the process that waits; one that is started later has them."""
        with suppress(OSError, ValueError), self._told as out:
            out.write(pack(tuple(self.reports or ())).encode())

    def close(self) -> None:
        with suppress(OSError):  # nobody read what it holds
            self._told.close()
        self.ready.close()

    @cached_property
    def by_place(self) -> Mapping[tuple[str, int], list[KernelReport]]:
        """The verdicts by file and line of the `def`."""
        found: dict[tuple[str, int], list[KernelReport]] = {}
        told = unpack(self.ready.read(), tuple[KernelReport, ...]) if self.reports is None else self.reports
        for report in told:
            found.setdefault((report.location.file, report.location.line), []).append(report)
        return found


@dataclass
class OpKernels(Kernels):
    """The kernels that host code launches, by where they stand."""

    run: Run
    verdicts_of_run: _Verdicts
    _met: dict[tuple[str, int, frozenset[str]], tuple[KernelReport, ...] | str] = field(default_factory=dict)
    _other_launches: dict[tuple[object, ...], OtherLaunch | None] = field(default_factory=dict)

    def wait(self) -> None:
        """Return when the run has its verdicts."""
        self.verdicts_of_run.by_place  # noqa: B018 - it is kept

    def verdicts(self, module: HostModule, node: ast.FunctionDef,
                 names: frozenset[str]) -> tuple[KernelReport, ...] | str:
        key = (module.display, node.lineno, names)
        if key not in self._met:
            known = self.verdicts_of_run.by_place.get((module.display, node.lineno), [])
            found = _launched(known, module, node, names)
            self._met[key] = found or self._analyzed(module, node, names) or _untold(known)
        return self._met[key]

    def _analyzed(self, module: HostModule, node: ast.FunctionDef,
                  names: frozenset[str]) -> tuple[KernelReport, ...] | str:
        """The verdicts on a kernel that the run has none on, because it was not asked for: it is analysed here."""
        source = SourceFile(module.path, module.display, module.text, names or frozenset([node.name]))
        (file,) = lint_files([source], self.run.steps, self.run.request, silent, 1, warm_up=self.run.warm_up)
        found = [report for _, report in file.reports]
        here = [r for r in found if r.location.line == node.lineno]
        if launched := _launched(here, module, node, names):
            return launched
        if len(found) == 1 and found[0].failure is not None:
            return found[0].failure.message.splitlines()[0]
        return _untold(here)

    def other_launch(self, module: HostModule, verdict: KernelReport, given: Mapping[str, LaunchArgument],
                     ruled_out: Set[str], unsettled: Set[str] = frozenset()) -> OtherLaunch | None:
        """What a spec does not give values for; verdicts hold whatever was guessed, but for the length of a tuple."""
        asked = {*ruled_out, *_of_other_lengths(verdict, given)}
        if verdict.origin is Origin.INFERRED and not asked:
            return OtherLaunch()
        key = (verdict.location, verdict.name, frozenset(ruled_out), frozenset(unsettled), *given.items())
        if key not in self._other_launches:
            source = SourceFile(module.path, module.display, module.text)
            self._other_launches[key] = self._reached(source, verdict, given, ruled_out, unsettled)
        found = self._other_launches[key]
        if found is None or verdict.origin is not Origin.INFERRED:
            return found
        return replace(found, stores=found.of(asked), behind=False)

    def _reached(self, source: SourceFile, verdict: KernelReport, given: Mapping[str, LaunchArgument],
                 asked: Set[str], unsettled: Set[str]) -> OtherLaunch | None:
        """What a launch may do that no variant in the kernel's plan does, and to the parameters that are asked for.

        The kernel is loaded for it, in a process of its own.
        """
        def ask(source: SourceFile) -> Iterator[OtherLaunch]:
            file = self.run.load(source)
            kernel = next(k for k in file.kernels if (k.location.line, k.name) == (verdict.location.line, verdict.name))
            plan = self.run.plan(file, kernel, self.run.specs.entry(kernel))
            yield other_launch(kernel, plan, {k.name: k for k in file.functions}, given, unsettled)

        answers: list[OtherLaunch] = []
        request = self.run.request
        try:
            Processes([source], 1, OtherLaunch, ask, lambda _: request.timeout + GRACE,
                      lambda _, answer: answers.append(answer), lambda *_: (),
                      bounds(request)).run()
        except Exception:  # the kernel's own heuristics and globals run in there
            return None
        found = answers[0] if answers else None
        if found is not None and found.like_variant and verdict.analyzed_variants == verdict.total_variants:
            return OtherLaunch(found.of(asked))
        return found


def _of_other_lengths(verdict: KernelReport, given: Mapping[str, LaunchArgument]) -> set[str]:
    """The parameters for which a launch passes tuples that may have other elements than the analysed ones."""
    analysed: dict[str, set[str]] = {}
    for parameter in verdict.parameters:
        name, *fields = parameter.name.split(".")
        if fields and fields[0].isdigit():
            analysed.setdefault(name, set()).add(fields[0])
    lengths = {name: len(given[name].items or ()) for name in analysed if name in given}
    return {name for name, length in lengths.items() if length != len(analysed[name])}


def _launched(reports: Iterable[KernelReport], module: HostModule, node: ast.FunctionDef,
              names: frozenset[str]) -> tuple[KernelReport, ...]:
    """Those of the reports on what `node` makes that one of them must hold for the launched one; () if that is open."""
    reports = tuple(reports)
    if own := tuple(r for r in reports if r.name in names):
        return own
    return () if differ(module.tree, node) else reports


def _untold(reports: Iterable[KernelReport]) -> str:
    """Why it is not known what is launched."""
    if known := ", ".join(f"`{r.name}`" for r in reports):
        return f"its `def` makes kernels that differ ({known}), and which one is launched is not known"
    return "it could not be loaded"
