"""The IR of one kernel, with what the verdict on it rests on: which lines write, and from which source they came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triton_mutlint.config.request import Progress, Request, silent
from triton_mutlint.process.harmless import harmless
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.run.kernel import analyze_text
from triton_mutlint.run.lint import Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.run.workers import At, Part, Reported, Step
from triton_mutlint.ttir.ir import ParseError, walk
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import (
    AccessKind,
    Failure,
    Kernel,
    KernelReport,
    Location,
    Reads,
    SourceFile,
    Stage,
    StageError,
    Status,
    Target,
    UsageError,
    Variant,
)

_READ = ("source", "ttir", "ttgir")  # the stages whose text the parser reads
_UNPLACED = Location("<unknown>", 1, 1)


@dataclass(frozen=True)
class ShownLine:
    """One line of IR: `mark` is "w" where it writes, "?" where that cannot be told; `place` is where it came from."""

    text: str
    mark: str = ""
    place: Location | None = None


@dataclass(frozen=True)
class ShownIR:
    """The IR of a kernel, for one variant and target; `variants` are all that could have been asked for."""

    name: str
    location: Location
    target: str
    choices: tuple[tuple[str, str], ...]
    variants: tuple[tuple[tuple[str, str], ...], ...]
    lines: tuple[ShownLine, ...]


def show_ir(request: Request, stage: str, wanted: Mapping[str, str], progress: Progress = silent) -> ShownIR:
    """The IR of the one kernel that the arguments name, for the first analysed variant with the values in `wanted`.

    Raises UsageError where there is not one such kernel or variant, or Triton cannot get as far as `stage`.
    """
    with compiling():
        sources, failures = sources_of(request)
        if failures:
            raise UsageError(f"{failures[0][0]}: {failures[0][1].message}")
        shown: list[ShownIR] = []
        showing = _Showing(request, stage, wanted, progress)
        files = showing.run.files(sources, 1, showing.steps, ShownIR, lambda _, ir: shown.append(ir))
    failed = [(f"{file.source.display}{f'::{name}' if name else ''}", f) for file in files
              for name, f in (*file.failures, *([("", file.failure)] if file.failure else []))]
    reports = [report for file in files for _, report in file.reports]
    failed += [(report.name, report.failure) for report in reports if report.failure]
    if len(reports) > 1:
        names = ", ".join(f"{r.location.file}::{r.name}" for r in reports[:4])
        raise UsageError(f"name one kernel: {names}{', …' if len(reports) > 4 else ''}")
    if not shown:
        raise UsageError(": ".join((failed[0][0], failed[0][1].message)) if failed else "no kernel is there")
    return shown[0]


class _Showing:
    """What is done in the process of the kernel's file."""

    def __init__(self, request: Request, stage: str, wanted: Mapping[str, str], progress: Progress) -> None:
        self._stage, self._wanted, self._seconds = stage, wanted, request.timeout
        self._seen: list[tuple[Variant, Target]] = []
        self.run = Run(request, progress, lambda _, variant, __, target: self._seen.append((variant, target)))

    def steps(self, source: SourceFile, part: Part) -> Iterator[Step | ShownIR]:
        file = self.run.load(source)
        yield file
        for index, kernel in enumerate(file.kernels):
            yield At(index, ())
            report = KernelReport(kernel.name, kernel.location, Status.ANALYZED)
            if len(file.kernels) == 1:
                report = self.run.analyze(file, kernel, self.run.specs.entry(kernel))
                try:
                    if report.failure is None:
                        with watched(self._seconds), harmless():
                            yield self._shown(kernel)
                except (StageError, UsageError, TooLongError) as error:
                    failure = error.failure if isinstance(error, StageError) else Failure(Stage.LOWER, str(error), None)
                    report = KernelReport(kernel.name, kernel.location, Status.FAILED, failure=failure)
            yield Reported(index, report)
        yield Reads()

    def _shown(self, kernel: Kernel) -> ShownIR:
        """Raises StageError and UsageError."""
        wanted = self._wanted.items()
        fitting = [(v, t) for v, t in self._seen if wanted <= {name: str(arg) for name, arg in v.args.items()}.items()]
        all_choices = tuple(dict.fromkeys(v.choices for v, _ in self._seen))
        if not fitting:
            known = "; ".join(", ".join(f"{n}={c}" for n, c in choices) for choices in all_choices[:8]) or "only one"
            raise UsageError(f"no analysed variant has these values; there is {known}")
        variant, target = fitting[0]
        tools = self.run.tools
        lowered = tools.lowerer.lower(kernel, variant, target)
        effects = analyze_text(lowered, tools)
        marks = {(u.op, u.location): "?" for u in effects.unanalyzable_ops}
        marks |= {(w.op, w.location): "w" for w in effects.indirect_writes}
        marks |= {(a.op, a.location): "w" for accesses in effects.accesses.values() for a in accesses
                  if a.kind is not AccessKind.READ}
        # Lowered anew: what is analysed may have been simplified, in place.
        lowered = tools.lowerer.lower(kernel, variant, target)
        text = lowered.text if self._stage == "source" else tools.lowerer.compile(kernel, variant, lowered, self._stage)
        return ShownIR(kernel.qualname or kernel.name, kernel.location, str(target), variant.choices, all_choices,
                       tuple(self._lines(text, marks)))

    def _lines(self, text: str, marks: Mapping[tuple[str, Location], str]) -> Iterator[ShownLine]:
        """The lines of a text; of one that is not MLIR, nothing is known."""
        found: dict[int, tuple[str, Location | None]] = {}
        try:
            functions = parse(text).functions.values() if self._stage in _READ else ()
        except ParseError:
            functions = ()
        for op in (op for function in functions for op in walk(function.body)):
            place = self.run.tools.places.location(op.loc.chain[0] if op.loc.chain else None, op.name)
            found[op.line] = marks.get((op.name, place), ""), None if place == _UNPLACED else place
        for number, line in enumerate(text.splitlines(), 1):
            yield ShownLine(line, *found.get(number, ("", None)))
