"""`triton-mutlint ir`: what Triton makes of a kernel, with the lines marked that write."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli.shell.asked import CONTEXT, asked, files, refuse_stdin, shared
from triton_mutlint.cli.shell.output import Progress, fitted, write_stdout
from triton_mutlint.config.request import Request
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

_STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")  # the first three can be read, and have marks
_READ = _STAGES[:3]
_SHOWN = 8  # values of a parameter in a message
_UNPLACED = Location("<unknown>", 1, 1)


@click.command("ir", context_settings=CONTEXT)
@click.argument("kernel", metavar="FILE::KERNEL", shell_complete=files)
@click.option("--stage", type=click.Choice(_STAGES), default="source",
              help="How far Triton compiles it; source is what it makes of the Python, which is analysed.")
@click.option("--source", is_flag=True, help="Show the lines of Python between those that were made of them.")
@click.option("--variant", "variant", multiple=True, metavar="NAME=VALUE",
              help="The variant with this value of a parameter; repeatable.")
@shared("spec", "no_spec", "targets", "max_variants", "timeout", "confine", "true_import", "config_file", "isolated",
        "debug")
def command(kernel: str, stage: str, source: bool, variant: tuple[str, ...], **options: Any) -> int:
    """Print what Triton makes of a kernel, for the first variant that is analysed, or the one with the values given.

    In source, ttir and ttgir, `w` stands before a line that writes memory that the kernel was given, `?` before one of
    which that cannot be told. No GPU is needed. ptx is for NVIDIA's GPUs, amdgcn for AMD's (--target hip:gfx942).
    """
    refuse_stdin((kernel,), "ir")
    for value in variant:
        if "=" not in value:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param_hint="'--variant'")
    wanted = {name: value for name, _, value in (each.partition("=") for each in variant)}
    request = asked((kernel,), options)
    with Progress() as progress:
        text = show_ir(request, stage, wanted, source, progress)
    write_stdout(fitted(f"{text}\n", sys.stdout))
    return 0


def show_ir(request: Request, stage: str, wanted: Mapping[str, str], with_source: bool, progress: Progress) -> str:
    """The IR of the one kernel that the arguments name, for the first analysed variant with the values in `wanted`.

    Raises UsageError where there is not one such kernel or variant, or Triton cannot get as far as `stage`.
    """
    seen: list[tuple[Variant, Target]] = []
    run = Run(request, progress, lambda _, variant, __, target: seen.append((variant, target)))

    def ask(file: FileResult, kernel: Kernel, _: KernelReport) -> str | Failure:
        """In the process of the kernel's file."""
        if file.kernels != (kernel,):
            return Failure(Stage.LOAD, "it is not the only kernel", kernel.location)
        report = run.analyze(file, kernel, run.specs.entry(kernel))
        if report.failure is not None:
            return report.failure
        try:
            return run.attempt(kernel, lambda: _shown(run.tools, kernel, stage, seen, wanted, with_source))
        except UsageError as error:
            return Failure(Stage.LOWER, str(error), kernel.location)

    with compiling():
        sources, failures = sources_of(request)
        if failures:
            raise UsageError(f"{failures[0][0]}: {failures[0][1].message}")
        files = run.files(sources, 1, Question(ask, str | Failure, of_listed=True))
    reports = [report for file in files for _, report in file.reports]
    if len(reports) > 1:
        often = Counter(r.name for r in reports)
        names = ", ".join(f"{r.location.file}::{r.name}{f':{r.location.line}' if often[r.name] > 1 else ''}"
                          for r in reports[:4])
        raise UsageError(f"name one kernel: {names}{', …' if len(reports) > 4 else ''}")
    shown = next((answer for answer in run.answers.values() if isinstance(answer, str)), None)
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
           wanted: Mapping[str, str], with_source: bool) -> str:
    """The IR under a line that says of what it is. Raises StageError and UsageError."""
    fitting = [(v, t) for v, t in seen if wanted.items() <= {n: str(arg) for n, arg in v.args.items()}.items()]
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
    at, chosen = kernel.location, ", ".join(f"{name}={value}" for name, value in variant.choices)
    count = len({v.choices for v, _ in seen})
    others = f", one of {count} variants" if count > 1 else ""
    head = (f"# {at.file}:{at.line} {kernel.name}, {stage} for {target}"
            f"{f', {chosen}' if chosen else ''}{others}")
    return "\n".join((head, *_lines(text, marks if stage in _READ else None, tools, with_source)))


def _unfitting(variants: Sequence[Variant], wanted: Mapping[str, str]) -> str:
    """Why no variant has the values that are wanted, and which there are."""
    known = {name: list(dict.fromkeys(str(v.args[name]) for v in variants)) for name in variants[0].args}
    absent = [f"{n}={value}" for n, value in wanted.items() if value not in known.get(n, ())]
    lacking = ", ".join(absent or (f"{n}={value}" for n, value in wanted.items()))
    shown = [name for name, values in known.items() if name in wanted or len(values) > 1] or [*known]
    given = ", ".join(f"{n}={' | '.join(known[n][:_SHOWN])}{' | …' if len(known[n]) > _SHOWN else ''}" for n in shown)
    return f"no analysed variant has {lacking}{'' if absent else ' together'}; there are {given}"


def _lines(text: str, marks: Mapping[tuple[str, Location], str] | None, tools: Tools,
           with_source: bool) -> Iterator[str]:
    """The lines of a text with their margin: "w" where one writes, "?" where that cannot be told; and their source.

    Of a text that is not MLIR, which has no marks, nothing is known.
    """
    found: dict[int, tuple[str, Location | None]] = {}
    with contextlib.suppress(ParseError):
        functions = parse(text).functions.values() if marks is not None else ()
        for op in (op for function in functions for op in walk(function.body)):
            place = tools.places.location(op.loc.chain[0] if op.loc.chain else None, op.name)
            found[op.line] = (marks or {}).get((op.name, place), ""), None if place == _UNPLACED else place
    last, texts = None, dict[str, list[str]]()
    for number, line in enumerate(text.splitlines(), 1):
        mark, at = found.get(number, ("", None))
        if with_source and at is not None and (at.file, at.line) != last:
            last = at.file, at.line
            if at.file not in texts:
                path = Path(at.file)
                texts[at.file] = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
            yield f"# {at.file}:{at.line}" + "".join(f"  {one.strip()}" for one in texts[at.file][at.line - 1:at.line])
        yield f"{mark or ' '} {line}".rstrip()
