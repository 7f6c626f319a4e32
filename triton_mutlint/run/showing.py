"""The IR of one kernel, with what the verdict on it rests on: which lines write, and from which source they came."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from triton_mutlint.config.request import Progress, Request, silent
from triton_mutlint.run.kernel import Tools, analyze_text
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.ttir.ir import ParseError, walk
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import (
    AccessKind,
    Failure,
    FileResult,
    Kernel,
    KernelReport,
    Location,
    Stage,
    Target,
    UsageError,
    Variant,
)

_READ = ("source", "ttir", "ttgir")  # the stages whose text the parser reads
_SHOWN = 8  # values of a parameter in a message
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
    seen: list[tuple[Variant, Target]] = []
    run = Run(request, progress, lambda _, variant, __, target: seen.append((variant, target)))

    def ask(file: FileResult, kernel: Kernel, _: KernelReport) -> ShownIR | Failure:
        """In the process of the kernel's file."""
        if file.kernels != (kernel,):
            return Failure(Stage.LOAD, "it is not the only kernel", kernel.location)
        report = run.analyze(file, kernel, run.specs.entry(kernel))
        if report.failure is not None:
            return report.failure
        try:
            return run.attempt(kernel, lambda: _shown(run.tools, kernel, stage, seen, wanted))
        except UsageError as error:
            return Failure(Stage.LOWER, str(error), kernel.location)

    with compiling():
        sources, failures = sources_of(request)
        if failures:
            raise UsageError(f"{failures[0][0]}: {failures[0][1].message}")
        files = run.files(sources, 1, Question(ask, Union[ShownIR, Failure], of_listed=True))  # noqa: UP007 - packed
    reports = [report for file in files for _, report in file.reports]
    if len(reports) > 1:
        often = Counter(r.name for r in reports)
        names = ", ".join(f"{r.location.file}::{r.name}{f':{r.location.line}' if often[r.name] > 1 else ''}"
                          for r in reports[:4])
        raise UsageError(f"name one kernel: {names}{', …' if len(reports) > 4 else ''}")
    shown = next((answer for answer in run.answers.values() if isinstance(answer, ShownIR)), None)
    if shown is None:
        failed = [(f"{f.source.display}::{name}".removesuffix("::"), why) for f in files for name, why in f.failures]
        failed += [(name, answer) for (_, name), answer in run.answers.items()]
        failed += [(report.name, report.failure) for report in reports if report.failure]
        if not failed:
            raise UsageError("no kernel is there")
        name, why = failed[0]
        raise UsageError(f"{name}: {why.message}{f' ({why.hint})' if why.hint else ''}")
    return shown


def _shown(tools: Tools, kernel: Kernel, stage: str, seen: Sequence[tuple[Variant, Target]],
           wanted: Mapping[str, str]) -> ShownIR:
    """Raises StageError and UsageError."""
    fitting = [(v, t) for v, t in seen if wanted.items() <= {n: str(arg) for n, arg in v.args.items()}.items()]
    all_choices = tuple(dict.fromkeys(v.choices for v, _ in seen))
    if not fitting:
        raise UsageError(_unfitting([v for v, _ in seen], wanted))
    variant, target = fitting[0]
    lowered = tools.lowerer.lower(kernel, variant, target)
    effects = analyze_text(lowered, tools)
    marks = {(u.op, u.location): "?" for u in effects.unanalyzable_ops}
    marks |= {(w.op, w.location): "w" for w in effects.indirect_writes}
    marks |= {(a.op, a.location): "w" for accesses in effects.accesses.values() for a in accesses
              if a.kind is not AccessKind.READ}
    text = lowered.text
    if stage != "source":  # what is analysed may have been simplified, in place
        text = tools.lowerer.compile(kernel, variant, tools.lowerer.lower(kernel, variant, target), stage)
    return ShownIR(kernel.name, kernel.location, str(target), variant.choices, all_choices,
                   tuple(_lines(text, marks if stage in _READ else None, tools)))


def _unfitting(variants: Sequence[Variant], wanted: Mapping[str, str]) -> str:
    """Why no variant has the values that are wanted, and which there are."""
    known = {name: list(dict.fromkeys(str(v.args[name]) for v in variants)) for name in variants[0].args}
    absent = [f"{n}={value}" for n, value in wanted.items() if value not in known.get(n, ())]
    lacking = ", ".join(absent or (f"{n}={value}" for n, value in wanted.items()))
    shown = [name for name, values in known.items() if name in wanted or len(values) > 1] or [*known]
    given = ", ".join(f"{n}={' | '.join(known[n][:_SHOWN])}{' | …' if len(known[n]) > _SHOWN else ''}" for n in shown)
    return f"no analysed variant has {lacking}{'' if absent else ' together'}; there are {given}"


def _lines(text: str, marks: Mapping[tuple[str, Location], str] | None, tools: Tools) -> Iterator[ShownLine]:
    """The lines of a text; of one that is not MLIR, which has no marks, nothing is known."""
    found: dict[int, tuple[str, Location | None]] = {}
    with contextlib.suppress(ParseError):
        functions = parse(text).functions.values() if marks is not None else ()
        for op in (op for function in functions for op in walk(function.body)):
            place = tools.places.location(op.loc.chain[0] if op.loc.chain else None, op.name)
            found[op.line] = (marks or {}).get((op.name, place), ""), None if place == _UNPLACED else place
    for number, line in enumerate(text.splitlines(), 1):
        yield ShownLine(line, *found.get(number, ("", None)))
