"""The report for people: calm, in reading order, the same with and without colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.color import ColorSystem
from rich.console import Console
from rich.text import Text

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.findings_text import group_lines, grouped
from triton_mutlint.report.terminal.kernel_text import kernel_lines
from triton_mutlint.report.terminal.op_text import op_lines, stopped
from triton_mutlint.report.terminal.overview import overview
from triton_mutlint.report.terminal.style import DIM, FAILED, SEVERITY, STRONG, Lines, flow, noted, prose, to_ascii
from triton_mutlint.report.terminal.summary import advice, sentence
from triton_mutlint.types import Finding, KernelReport, Location, Report, Severity, Stage, Status

_LOUD = {"failed": FAILED, "error": SEVERITY[Severity.ERROR], "warning": SEVERITY[Severity.WARNING]}
_CONSOLE = Console(color_system="standard", force_terminal=True, _environ={})
_FAILURE_RULES = ("TML901", "TML902")


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The report as text of `options.width` cells; ends with a newline."""
    options = options or RenderOptions()
    return paint(_blocks(report, options), options)


def paint(blocks: Iterable[Lines], options: RenderOptions) -> str:
    """Blocks with an empty line between them, with ANSI colour if asked for."""
    lines = [line for i, block in enumerate(blocks) for line in ([Text(), *block] if i else block)]
    for line in lines:
        line.rstrip()
    text = "".join(f"{_colored(line) if options.color else line.plain}\n" for line in lines)
    return to_ascii(text) if options.ascii else text


def _colored(line: Text) -> str:
    """The sixteen colours of the terminal's own theme; what the environment asks was weighed by the caller."""
    return "".join(style.render(text, color_system=ColorSystem.STANDARD) if style else text
                   for text, style, _ in line.render(_CONSOLE))


def _blocks(report: Report, options: RenderOptions) -> list[Lines]:
    full = not (options.quiet or options.brief)
    failures, findings = _split(report)
    told = [k for k in report.kernels if full or (k in failures and not failures[k].suppressed)]
    blocks = [] if options.quiet or full else list(overview(report, options))
    blocks += [kernel_lines(kernel, failures.get(kernel), options, like) for kernel, like in _alike(told)]
    blocks += [op_lines(op, options) for op in report.ops] if full else []
    quoted = {write.location for k in told for write in k.indirect_writes} if full else set()
    quoted |= {op.location for k in told for op in k.unanalyzable_ops} if full else set()
    shown = (finding for finding in findings if options.verbose or not finding.suppressed)
    blocks += [group_lines(group, options, quoted) for group in grouped(shown)]
    return blocks if options.quiet else [*blocks, _tail(report, options)]


def _tail(report: Report, options: RenderOptions) -> Lines:
    """Notes, the summary, and what can be done."""
    notes = [line for note in (*report.notes, *_assumed(report)) for line in noted("note", note, options.width)]
    fixable = sum(finding in options.fixes for finding in report.findings)
    rest = [line for text in advice(report, fixable) for line in prose(text, options.width, "", 4)]
    reasons = stopped(report.ops, options) if options.brief else []
    return [*notes, *_summary_lines(report, options.width), *reasons, *rest]


def _assumed(report: Report) -> list[str]:
    """That a verdict is about a GPU nobody named."""
    assumed = [str(target) for target in report.environment.targets if target.origin == "default"]
    names = ", ".join(assumed)
    return [f"no GPU is active: {names} is assumed (--target names another)"] if assumed else []


def _split(report: Report) -> tuple[dict[KernelReport, Finding], list[Finding]]:
    """The finding that each failed kernel's block stands for, and the findings left to show."""
    rest = list(report.findings)
    failures: dict[KernelReport, Finding] = {}
    for kernel in report.kernels:
        if kernel.status is Status.FAILED:
            match = next((f for f in rest if _tells_of(f, kernel)), None)
            if match is not None:
                failures[kernel] = match
                rest.remove(match)
    return failures, rest


def _alike(kernels: Iterable[KernelReport]) -> Iterator[tuple[KernelReport, KernelReport | None]]:
    """Each kernel with the first before it that failed at the same place for the same reason, as those of a factory do.

    What is wrong may name the kernel; the place and the advice tell it as well.
    """
    first: dict[tuple[Stage, Location, str], KernelReport] = {}
    for kernel in kernels:
        failure, like = kernel.failure, kernel
        if failure is not None and failure.location is not None:
            like = first.setdefault((failure.stage, failure.location, failure.hint), kernel)
        yield kernel, None if like is kernel else like


def _tells_of(finding: Finding, kernel: KernelReport) -> bool:
    places = (kernel.location, kernel.failure.location if kernel.failure else None)
    here = any(p and (p.file, p.line) == (finding.location.file, finding.location.line) for p in places)
    return finding.rule in _FAILURE_RULES and (finding.kernel or "") == kernel.name and here


def _summary_lines(report: Report, width: int) -> Lines:
    """The shared summary sentence, with what is wrong in colour."""
    pieces = [Text(word) for word in re.split(r"(?<![0-9]) ", sentence(report))]  # a number stays with its noun
    for piece in pieces:
        for noun, style in _LOUD.items():
            piece.highlight_regex(rf"^[1-9]\d* {noun}s?", style)
        piece.highlight_regex(r"^\d+ kernels?:|^no$", STRONG)
        piece.highlight_regex("^·$", DIM)
    return flow(pieces, width)
