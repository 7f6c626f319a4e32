"""The report for people: calm, in reading order, the same with and without colour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.color import ColorSystem
from rich.console import Console
from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.kernel_text import kernel_headline, kernel_lines
from triton_mutlint.report.terminal.op_text import op_headline, op_lines, stopped
from triton_mutlint.report.terminal.style import (
    DIM,
    FAILED,
    NOTE,
    SEVERITY,
    STRONG,
    Lines,
    flow,
    noted,
    place_lines,
    prose,
)
from triton_mutlint.report.terminal.summary import FIXABLE, advice, sentence
from triton_mutlint.types import Finding, KernelReport, Location, Report, Severity

_LOUD = {r"\d+ kernels?:|^no ": STRONG, r"[1-9]\d* failed": FAILED, r"[1-9]\d* errors?": SEVERITY[Severity.ERROR],
         r"[1-9]\d* warnings?": SEVERITY[Severity.WARNING]}
_CONSOLE = Console(color_system="standard", force_terminal=True, _environ={})
_ASCII = str.maketrans({"·": "-", "…": "..."})  # characters of the report's own; text of the user's stays as it is
_FAILURE_RULES = ("TML901", "TML902")
_PLACE = "\0"  # stands for the parameter in what several findings say alike


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The report as text of `options.width` cells; ends with a newline."""
    options = options or RenderOptions()
    return paint(_blocks(report, options), options)


def paint(blocks: Iterable[Lines], options: RenderOptions) -> str:
    """Blocks with an empty line between them, with ANSI colour if asked for."""
    lines = [line for i, block in enumerate(blocks) for line in ([Text(), *block] if i else block)]
    for line in lines:
        line.rstrip()
    if options.color:  # the sixteen colours of the terminal's own theme; the caller weighed what the environment asks
        shown = ("".join(style.render(text, color_system=ColorSystem.STANDARD) if style else text
                         for text, style, _ in line.render(_CONSOLE)) for line in lines)
    else:
        shown = (line.plain for line in lines)
    text = "".join(f"{line}\n" for line in shown)
    return text.translate(_ASCII) if options.ascii else text


def _blocks(report: Report, options: RenderOptions) -> list[Lines]:
    """Kernels and ops, each by its headline where the report is to be brief; the findings; the summary."""
    findings = [finding for finding in report.findings if options.verbose or not finding.suppressed]
    blocks: list[Lines] = []
    if options.brief and not options.quiet:
        heads = [(kernel.location, kernel_headline(kernel, options)) for kernel in report.kernels]
        heads += [(op.location, op_headline(op, options)) for op in report.ops]
        blocks += [[line for _, lines in sorted(heads, key=lambda head: head[0]) for line in lines]] if heads else []
    elif not options.quiet:
        blocks += [kernel_lines(kernel, options, _is_told(kernel, findings)) for kernel in report.kernels]
        blocks += [op_lines(op, options) for op in report.ops]
    quoted = set[Location]()
    blocks += [group_lines(group, options, quoted) for group in grouped(findings)]
    return blocks if options.quiet else [*blocks, _tail(report, options)]


def _is_told(kernel: KernelReport, findings: Iterable[Finding]) -> bool:
    """Whether a finding says why a kernel failed."""
    return any(f.rule in _FAILURE_RULES and f.kernel == kernel.name and kernel.failure is not None
               and f.location == (kernel.failure.location or kernel.location) for f in findings)


def _tail(report: Report, options: RenderOptions) -> Lines:
    """Notes, the summary, and what can be done."""
    assumed = ", ".join(str(target) for target in report.environment.targets if target.origin == "default")
    told = [*report.notes, *([f"no GPU is active: {assumed} is assumed (--target names another)"] if assumed else [])]
    notes = [line for note in told for line in noted("note", note, options.width)]
    summary = Text(sentence(report))
    for pattern, style in _LOUD.items():
        summary.highlight_regex(pattern, style)
    fixable = sum(finding in options.fixes for finding in report.findings)
    rest = [line for text in advice(report, fixable) for line in prose(text, options.width, "", 4)]
    reasons = stopped(report.ops, options) if options.brief else []
    return [*notes, *flow(summary.split(" "), options.width), *reasons, *rest]


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings that have rule, severity, kernel, op and subject in common, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        alone = finding.subject is None or finding.parameter is None
        what = finding if alone else (finding.rule, finding.severity, finding.kernel, finding.op, finding.subject)
        groups.setdefault((finding.suppressed, what), []).append(finding)
    return list(groups.values())


def group_lines(findings: Sequence[Finding], options: RenderOptions, quoted: set[Location]) -> Lines:
    """Findings that go together; a line that is in `quoted` was shown before and is not quoted again."""
    lines = _headline(findings, options)
    for message in said(findings, lambda finding: finding.message):
        lines += prose(message, options.width)
    for place in {(f.location.file, f.location.line): f.location for f in reversed(findings)}.values():
        lines += place_lines(place, options, quoted=quoted)
    for related in dict.fromkeys(related for finding in findings for related in finding.related):
        lines += noted("note", related.message, options.width, 2)
        lines += place_lines(related.location, options, quoted=quoted)
    for text in filter(None, said(findings, lambda finding: finding.help)):
        lines += noted("help", text, options.width, 2)
    return lines


def said(findings: Iterable[Finding], text_of: Callable[[Finding], str]) -> list[str]:
    """What findings say; texts that differ in the parameter alone are one that names all of them."""
    names: dict[str, list[str]] = {}
    for finding in findings:
        quoted = f"`{finding.parameter}`"
        names.setdefault(text_of(finding).replace(quoted, _PLACE), []).append(quoted)
    return [text.replace(_PLACE, ", ".join(dict.fromkeys(given))) for text, given in names.items()]


def _headline(findings: Sequence[Finding], options: RenderOptions) -> Lines:
    first, count = findings[0], len(findings)
    style = DIM if first.suppressed else SEVERITY[first.severity]
    pieces = [Text.assemble((f"{first.severity.value}[{first.rule}]", style), (f" {first.name}", DIM))]
    if any(finding in options.fixes for finding in findings):
        pieces.append(Text(FIXABLE, NOTE))
    if count > 1:
        pieces.append(Text(f"({plural(count, 'parameter')})", DIM))
    if first.suppressed:
        pieces.append(Text("(suppressed)", DIM))
    return flow(pieces, options.width)
