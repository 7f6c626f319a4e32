"""One kernel of the text report: a headline, the circumstances, the table, the places."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.report import order
from triton_mutlint.report.accesses import access_lines, indented, stands
from triton_mutlint.report.opaque import indirect_lines, opaque_lines, unanalyzable_lines
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.snippet import quote
from triton_mutlint.report.style import (
    DIM,
    FAILED,
    MUTATION,
    NOTE,
    PLACE,
    SEVERITY,
    STRONG,
    Lines,
    clean,
    counted,
    flow,
    titled,
    words,
)
from triton_mutlint.report.table import parameter_table
from triton_mutlint.types import Failure, Finding, KernelReport, Mutation, Origin, Stage, Status

_ORIGINS = {
    Origin.SPEC: "signature from the spec",
    Origin.INFERRED: "signature inferred",
    Origin.MIXED: "signature from the spec, the rest inferred",
}
_STAGES = {
    Stage.LOAD: "could not be loaded",
    Stage.SIGNATURE: "has no usable signature",
    Stage.LOWER: "could not be lowered",
    Stage.ANALYZE: "could not be analysed",
}


def kernel_lines(kernel: KernelReport, finding: Finding | None, options: RenderOptions,
                 like: KernelReport | None = None) -> Lines:
    """The whole block; `finding` is the one that says that this kernel failed, if there is one.

    `like` is a kernel that failed for the same reason and was told of before.
    """
    if kernel.status is Status.FAILED:
        return _failed(kernel, finding, options, like)
    lines = [*_headline(kernel, options.width), *_circumstances(kernel, options.width), Text()]
    lines += parameter_table(kernel, options) or [Text("  no parameters", DIM)]
    lines += access_lines(kernel, options)
    lines += indirect_lines(kernel, options)
    lines += unanalyzable_lines(kernel, options)
    lines += opaque_lines(kernel, options)
    if kernel.notes:
        lines.append(Text())
    return lines + [line for note in kernel.notes for line in note_lines(note, options.width, 2)]


def _title(kernel: KernelReport) -> Text:
    place = f"{clean(kernel.location.file)}:{kernel.location.line}"
    title = Text.assemble((place, PLACE))
    return title.append(" ").append(clean(kernel.name), STRONG) if kernel.name else title


def _headline(kernel: KernelReport, width: int) -> Lines:
    """What an author wants first: the parameters this kernel writes."""
    return titled(_title(kernel), written_words(kernel), width)


def written_words(kernel: KernelReport, limit: int = 0) -> list[Text]:
    """The parameters that the kernel writes; no more than `limit` of each kind by name, if that is given."""
    by = {m: [p.name for p in kernel.parameters if p.mutation is m] for m in Mutation}
    through = list(dict.fromkeys(w.through for w in order.placed(kernel.indirect_writes)))
    clauses = (
        ("writes", "writes", by[Mutation.WRITTEN], MUTATION[Mutation.WRITTEN]),
        ("sometimes writes", "and sometimes", by[Mutation.CONDITIONAL], MUTATION[Mutation.CONDITIONAL]),
        ("may write", "· may write", by[Mutation.UNKNOWN], MUTATION[Mutation.UNKNOWN]),
        ("writes through addresses from", "· through addresses from", through, MUTATION[Mutation.UNKNOWN]),
    )
    pieces: list[Text] = []
    for alone, after, names, style in clauses:
        if names:
            pieces += [*words(after if pieces else alone), *counted(names, style, limit)]
    return pieces or words("writes nothing")


def _circumstances(kernel: KernelReport, width: int) -> Lines:
    analyzed, total = kernel.analyzed_variants, kernel.total_variants
    variants = f"{'' if analyzed == total else f'{analyzed} of '}{total} variant{'' if total == 1 else 's'}"
    facts = [", ".join(map(str, kernel.targets)), variants, _ORIGINS[kernel.origin] if kernel.origin else ""]
    styles = [DIM, DIM if analyzed == total else MUTATION[Mutation.UNKNOWN], DIM]
    shown = [Text(fact, style) for fact, style in zip(facts, styles, strict=True) if fact]
    for piece in shown[:-1]:
        piece.append(" ·", DIM)
    shown = [word for piece in shown for word in (piece.split(" ") if piece.cell_len > width - 2 else [piece])]
    return flow(shown, width, Text("  "), 2)


def _failed(kernel: KernelReport, finding: Finding | None, options: RenderOptions, like: KernelReport | None) -> Lines:
    failure = kernel.failure
    assert failure is not None, "a failed kernel carries its failure"
    code = []
    if finding:
        code = [Text("·", DIM), Text(f"{finding.severity.value}[{finding.rule}]", SEVERITY[finding.severity])]
    code += [Text("(suppressed)", DIM)] if finding and finding.suppressed else []
    lines = titled(_title(kernel), [*failure_words(kernel), *code], options.width)
    if like is None:
        lines += failure_lines(failure, options)
    else:
        lines += flow(words(f"for the same reason as {clean(like.name)}"), options.width, Text("  "), 2)
    return lines + [line for note in kernel.notes for line in note_lines(note, options.width, 2)]


def failure_words(kernel: KernelReport) -> list[Text]:
    """At which stage the kernel failed."""
    return words(_STAGES[kernel.failure.stage], FAILED) if kernel.failure else []


def failure_lines(failure: Failure, options: RenderOptions) -> Lines:
    """The message as it came (Triton's has its own caret), the place, and what can be done."""
    message = failure.message.strip("\n")
    lines = indented(message, 2) if "\n" in message else flow(words(message), options.width, Text("  "), 2)
    place = failure.location
    if place is not None:
        lines.append(Text.assemble("    ", (stands(place, options), PLACE)))
        lines += [] if _has_caret(failure.message) else quote(place, options)
    if failure.hint:
        lines += flow(words(failure.hint), options.width, Text.assemble("  ", ("help: ", NOTE)), 8)
    return lines


def _has_caret(message: str) -> bool:
    return any(line.strip() == "^" for line in message.splitlines())


def note_lines(note: str, width: int, indent: int = 0) -> Lines:
    first = Text.assemble(" " * indent, ("note: ", NOTE))
    return flow(words(note), width, first, indent + 6)
