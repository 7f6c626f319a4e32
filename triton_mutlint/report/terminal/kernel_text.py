"""One kernel of the text report: a headline, the circumstances, the table, the places."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.accesses import access_lines
from triton_mutlint.report.terminal.opaque import opaque_lines
from triton_mutlint.report.terminal.source import indented, quote, stands
from triton_mutlint.report.terminal.style import (
    DIM,
    FAILED,
    MUTATION,
    NOTE,
    PLACE,
    SEVERITY,
    STRONG,
    Lines,
    clauses,
    clean,
    flow,
    noted,
    prose,
    titled,
    words,
)
from triton_mutlint.report.terminal.table import parameter_table
from triton_mutlint.types import Failure, Finding, KernelReport, Mutation, Origin, Stage, TorchReport

_ORIGINS = {
    Origin.SPEC: "signature from the spec",
    Origin.INFERRED: "signature inferred",
    Origin.MIXED: "signature from the spec, the rest inferred",
    Origin.COMPILED: "as compiled",
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
    title = Text.assemble((f"{clean(kernel.location.file)}:{kernel.location.line}", PLACE),
                          f"{' ' if kernel.name else ''}", (clean(kernel.name), STRONG))
    if kernel.failure is not None:
        lines = titled(title, [*failure_words(kernel), *_code(finding)], options.width)
        same = f"for the same reason as {like.name}" if like else ""
        lines += prose(same, options.width) if like else failure_lines(kernel.failure, options)
    else:
        lines = titled(title, written_words(kernel), options.width)  # what an author wants first
        lines += [*_circumstances(kernel, options.width), Text()]
        lines += parameter_table(kernel, options) or [Text("  no parameters", DIM)]
        lines += access_lines(kernel, options) + opaque_lines(kernel, options)
        lines += torch_lines(kernel.torch, options.width) if kernel.torch else []
        lines += [Text()] if kernel.notes else []
    return lines + [line for note in kernel.notes for line in noted("note", note, options.width, 2)]


def torch_lines(torch: TorchReport, width: int) -> Lines:
    """What torch.compile would do with the kernel."""
    if not torch.variants:
        told = ["its pass takes no such arguments: nothing was compared"]
    else:
        told = [f"takes all for written, as its pass gave up: {torch.gave_up}" if torch.gave_up else "",
                f"takes {', '.join(torch.missed)} for untouched, though written" if torch.missed else "",
                f"may copy {', '.join(torch.pessimistic)} for nothing" if torch.pessimistic else ""]
        told = [text for text in told if text] or ["sees what is written"]
        told += ["may fuse what follows into the kernel"] if torch.fuses_epilogue else []
    return [Text(), *prose("; ".join(told), width, Text.assemble("  ", ("torch.compile: ", NOTE)), 4)]


def written_words(kernel: KernelReport, limit: int = 0) -> list[Text]:
    """The parameters that the kernel writes; no more than `limit` of each kind by name, if that is given."""
    by = {m: [p.name for p in kernel.parameters if p.mutation is m] for m in Mutation}
    through = list(dict.fromkeys(w.through for w in order.placed(kernel.indirect_writes)))
    return clauses((
        ("writes", "writes", by[Mutation.WRITTEN], MUTATION[Mutation.WRITTEN]),
        ("sometimes writes", "and sometimes", by[Mutation.CONDITIONAL], MUTATION[Mutation.CONDITIONAL]),
        ("may write", "· may write", by[Mutation.UNKNOWN], MUTATION[Mutation.UNKNOWN]),
        ("writes through addresses from", "· through addresses from", through, MUTATION[Mutation.UNKNOWN]),
    ), limit) or words("writes nothing")


def _circumstances(kernel: KernelReport, width: int) -> Lines:
    analyzed, total = kernel.analyzed_variants, kernel.total_variants
    variants = f"{'' if analyzed == total else f'{analyzed} of '}{plural(total, 'variant')}"
    facts = [", ".join(map(str, kernel.targets)), variants, _ORIGINS[kernel.origin] if kernel.origin else ""]
    styles = [DIM, DIM if analyzed == total else MUTATION[Mutation.UNKNOWN], DIM]
    shown = [Text(fact, style) for fact, style in zip(facts, styles, strict=True) if fact]
    for piece in shown[:-1]:
        piece.append(" ·", DIM)
    shown = [word for piece in shown for word in (piece.split(" ") if piece.cell_len > width - 2 else [piece])]
    return flow(shown, width, Text("  "), 2)


def _code(finding: Finding | None) -> list[Text]:
    if finding is None:
        return []
    code = [Text("·", DIM), Text(f"{finding.severity.value}[{finding.rule}]", SEVERITY[finding.severity])]
    return [*code, Text("(suppressed)", DIM)] if finding.suppressed else code


def failure_words(kernel: KernelReport) -> list[Text]:
    """At which stage the kernel failed."""
    return words(_STAGES[kernel.failure.stage], FAILED) if kernel.failure else []


def failure_lines(failure: Failure, options: RenderOptions) -> Lines:
    """The message as it came (Triton's has its own caret), the place, and what can be done."""
    message = failure.message.strip("\n")
    lines = indented(message, 2) if "\n" in message else prose(message, options.width)
    if failure.location is not None:
        lines.append(Text.assemble("    ", (stands(failure.location, options), PLACE)))
        has_caret = any(line.strip() == "^" for line in message.splitlines())
        lines += [] if has_caret else quote(failure.location, options)
    return lines + (noted("help", failure.hint, options.width, 2) if failure.hint else [])
