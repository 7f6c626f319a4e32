"""The report for people: calm, in reading order, the same with and without colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rich.cells import cell_len as cells
from rich.color import ColorSystem
from rich.console import Console
from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.kernel_text import failure_words, kernel_lines, written_words
from triton_mutlint.report.terminal.op_text import op_lines, op_words, stopped
from triton_mutlint.report.terminal.style import (
    DIM,
    FAILED,
    MUTATION,
    NOTE,
    PLACE,
    SEVERITY,
    STRONG,
    Lines,
    clean,
    flow,
    noted,
    prose,
    quote,
    stands,
    words,
)
from triton_mutlint.report.terminal.summary import FIXABLE, advice, sentence
from triton_mutlint.types import (
    Finding,
    KernelReport,
    Location,
    Mutation,
    Related,
    Report,
    Severity,
    Stage,
    Status,
)

_LOUD = {"failed": FAILED, "error": SEVERITY[Severity.ERROR], "warning": SEVERITY[Severity.WARNING]}
_CONSOLE = Console(color_system="standard", force_terminal=True, _environ={})
_ASCII = str.maketrans({"·": "-", "…": "..."})  # characters of the report's own; text of the user's stays as it is
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
    if options.color:  # the sixteen colours of the terminal's own theme; the caller weighed what the environment asks
        shown = ("".join(style.render(text, color_system=ColorSystem.STANDARD) if style else text
                         for text, style, _ in line.render(_CONSOLE)) for line in lines)
    else:
        shown = (line.plain for line in lines)
    text = "".join(f"{line}\n" for line in shown)
    return text.translate(_ASCII) if options.ascii else text


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
    assumed = ", ".join(str(target) for target in report.environment.targets if target.origin == "default")
    told = [*report.notes, *([f"no GPU is active: {assumed} is assumed (--target names another)"] if assumed else [])]
    notes = [line for note in told for line in noted("note", note, options.width)]
    fixable = sum(finding in options.fixes for finding in report.findings)
    rest = [line for text in advice(report, fixable) for line in prose(text, options.width, "", 4)]
    reasons = stopped(report.ops, options) if options.brief else []
    return [*notes, *_summary_lines(report, options.width), *reasons, *rest]


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


_GUTTER = 6  # digits of a line number, right-aligned
_NAME_LIMIT = 32  # cells: what stands after a longer name is not aligned with the rest

_LIMITS = (4, 3, 2, 1)  # names in each list, where all of them take more lines

_Row = tuple[Location, Text, Callable[[int], list[Text]]]  # where it is, its name, and what it does


def overview(report: Report, options: RenderOptions) -> Iterator[Lines]:
    """A block for each file that holds kernels or ops."""
    rows = [_kernel(kernel) for kernel in report.kernels]
    rows += [(op.location, Text.assemble(("op ", DIM), (clean(op.name), STRONG)), partial(op_words, op))
             for op in report.ops]
    by_file: dict[str, list[_Row]] = {}
    for row in sorted(rows, key=lambda row: (row[0].file, row[0].line, row[1].plain)):
        by_file.setdefault(row[0].file, []).append(row)
    for file, found in by_file.items():
        fitting = [cells(name.plain) for _, name, _ in found if cells(name.plain) <= _NAME_LIMIT]
        width = max(fitting, default=0)
        yield [Text(clean(file), PLACE), *(line for row in found for line in _lines(row, width, options.width))]


def _lines(row: _Row, name_width: int, width: int) -> Lines:
    location, name, told = row
    padding = " " * max(name_width - cells(name.plain), 0)
    head = Text.assemble((f"{location.line:>{_GUTTER}}  ", DIM), name, f"{padding}  ")
    whole, *shorter = (flow(told(limit), width, head, _GUTTER + 4) for limit in (0, *_LIMITS))
    return whole if len(whole) == 1 else min((whole, *shorter), key=len)


def _kernel(kernel: KernelReport) -> _Row:
    def told(limit: int) -> list[Text]:
        if kernel.status is Status.FAILED:
            return failure_words(kernel)
        if kernel.analyzed_variants == kernel.total_variants:
            return written_words(kernel, limit)
        shown = f"· {kernel.analyzed_variants} of {kernel.total_variants} variants"
        return [*written_words(kernel, limit), *words(shown, MUTATION[Mutation.UNKNOWN])]

    return kernel.location, Text(clean(kernel.name), STRONG), told


_PLACE = "\0"  # stands for the parameter in what several findings say alike


@dataclass(frozen=True)
class Group:
    """Findings that have rule, severity, kernel, op and subject in common, in their order."""

    findings: tuple[Finding, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """What they say; those that differ in the parameter alone are one message that names all of them."""
        return self._told(_statement if len(self.findings) > 1 else lambda finding: finding.message)

    @property
    def helps(self) -> tuple[str, ...]:
        """What they advise, each once; advice that is the beginning of other advice is not repeated."""
        told = [text for text in self._told(lambda finding: finding.help) if text]
        return tuple(text for text in told if not any(o != text and o.startswith(text) for o in told))

    @property
    def places(self) -> tuple[Location, ...]:
        """Where they are, one place for each line."""
        return tuple({(f.location.file, f.location.line): f.location for f in reversed(self.findings)}.values())[::-1]

    @property
    def related(self) -> tuple[Related, ...]:
        """What explains them: first what all have in common, then what explains one, with its parameter's name."""
        first, *others = self.findings
        common = [r for r in dict.fromkeys(first.related) if all(r in f.related for f in others)]
        own = [Related(f"`{f.parameter}`: {r.message}" if f.parameter else r.message, r.location)
               for f in self.findings for r in f.related if r not in common]
        return tuple(dict.fromkeys((*common, *own)))

    def _told(self, text_of: Callable[[Finding], str]) -> tuple[str, ...]:
        names: dict[str, list[str]] = {}
        for finding in self.findings:
            quoted = f"`{finding.parameter}`"
            names.setdefault(text_of(finding).replace(quoted, _PLACE), []).append(quoted)
        return tuple(text.replace(_PLACE, ", ".join(dict.fromkeys(given))) for text, given in names.items())


def _statement(finding: Finding) -> str:
    """The message without the reason at its end, where a note gives that, too."""
    reasons = (f": {related.message}" for related in finding.related)
    return next((finding.message.removesuffix(r) for r in reasons if finding.message.endswith(r)), finding.message)


def grouped(findings: Iterable[Finding]) -> Sequence[Group]:
    """The findings in groups, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        alone = finding.subject is None or finding.parameter is None
        what = finding if alone else (finding.rule, finding.severity, finding.kernel, finding.op, finding.subject)
        groups.setdefault((finding.suppressed, what), []).append(finding)
    return [Group(tuple(found)) for found in groups.values()]


def group_lines(group: Group, options: RenderOptions, quoted: set[Location]) -> Lines:
    """The findings of one group; a line that is in `quoted` was shown before and is not quoted again."""
    lines = _headline(group, options)
    for message in group.messages:
        lines += [line for part in message.splitlines() for line in prose(part, options.width)]
    for place in group.places:
        lines += _place(place, options, quoted)
    for related in group.related:
        lines += noted("note", related.message, options.width, 2) + _place(related.location, options, quoted)
    return lines + [line for text in group.helps for line in noted("help", text, options.width, 2)]


def _headline(group: Group, options: RenderOptions) -> Lines:
    first, count = group.findings[0], len(group.findings)
    style = DIM if first.suppressed else SEVERITY[first.severity]
    pieces = [Text.assemble((f"{first.severity.value}[{first.rule}]", style), (f" {first.name}", DIM))]
    if any(finding in options.fixes for finding in group.findings):
        pieces.append(Text(FIXABLE, NOTE))
    if count > 1:
        pieces.append(Text(f"({plural(count, 'parameter')})", DIM))
    if first.suppressed:
        pieces.append(Text("(suppressed)", DIM))
    return flow(pieces, options.width)


def _place(location: Location, options: RenderOptions, quoted: set[Location]) -> Lines:
    line = Text.assemble("    ", (stands(location, options), PLACE))
    if location in quoted:
        return [line]
    quoted.add(location)
    return [line, *quote(location, options)]
